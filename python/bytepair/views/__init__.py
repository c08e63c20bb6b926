"""How results look: visible characters, lines of styled text, and tables.

Lines are drawn as text, in the colours of a terminal, as HTML and as SVG. Only layout is computed here.
"""
