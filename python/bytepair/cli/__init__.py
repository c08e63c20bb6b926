"""The command line ``bytepair``: one module for each command, each a thin call of the API.

Needs click and rich, the extra ``[cli]``; ``import bytepair`` does not import this package.
Exit codes: 0 done; 1 refused, with one line that begins with ``bytepair:``, or a finding of
``doctor`` or a difference that ``compare`` checks for; 2 wrong usage; 3 more tokens than
``compare`` allows; 130 after Ctrl-C; 141 if the reader of the output closed it.
"""
