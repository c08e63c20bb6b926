"""The command line ``bytepair``: one module for each command, each a thin call of the API.

Needs click and rich, the extra ``[cli]``; ``import bytepair`` imports nothing of this.
Exit codes: 0 done; 1 refused, with one line that begins with ``bytepair:``; 2 wrong
usage; 3 where ``compare`` was given a limit that is exceeded; 130 after Ctrl-C; 141 where
the reader of the output went away.
"""
