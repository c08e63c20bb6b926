"""Files: reading and writing tokenizers, whole files, temporary folders, locks, published models."""
