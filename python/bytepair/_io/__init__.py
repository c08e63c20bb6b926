"""Files: their formats, writing them whole, temporary folders, locks, published models."""
