"""Report: tokenizers and a corpus as one HTML file."""
