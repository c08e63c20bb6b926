"""Comparing two tokenizers.

One pairing of their tokens answers three questions: whether they give the same ids (``verifying``), what differs
(``comparing``, and ``corpus`` for texts), and whether the second extends the first (``extension``).
"""
