"""Drawings of what ``bytepair.analyze`` gives: for a terminal, a notebook, as SVG.

Nothing is computed here but where things stand.
"""
