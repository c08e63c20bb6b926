"""Whether two tokenizers give the same, and conversion with a proof."""
