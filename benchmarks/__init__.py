"""Benchmarks: ``python -m benchmarks [names]``.

What is measured stands in ``definitions/*.toml``. ``cases`` turns it into jobs;
``runner`` runs each job in a fresh process, those of different libraries in turn, and
keeps a time only where the result is right; ``report`` prints tables and ``record``
keeps them. A job is one of the ``tasks``, done by one of the ``engines`` on ``texts``.

Measured are the CPU time of the whole process, all its threads, and the wall time,
both around the work alone, and the most memory that the process has held.
"""
