"""Stats: metrics of tokenizers on a corpus, side by side."""
