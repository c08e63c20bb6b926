"""Training: what users call, and what serves it."""
