"""The colours of help and messages; none in a pipe, none where ``NO_COLOR`` is set."""

from bytepair._terminal import has_colours, paint

__all__ = ["HEADING", "LITERAL", "PROBLEM", "VALUE", "has_colours", "paint"]

HEADING = "1;32"
LITERAL = "1;36"
VALUE = "36"
PROBLEM = "1;31"
"""What a terminal takes for bold green, bold cyan, cyan and bold red."""
