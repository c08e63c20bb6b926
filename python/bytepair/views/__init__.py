"""Views of the results of ``bytepair.analyze``: for a terminal, for a notebook, and as SVG.

Only layout is computed here.
"""
