"""Trace: how a text becomes tokens, why, and how training made each merge."""
