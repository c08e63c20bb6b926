"""What is looked at before a release: wheels, the source distribution, and how they install.

``python -m tools.release contents DIST`` opens the files, ``python -m tools.release try DIST`` installs them in
clean environments, and ``python -m tools.release sums DIST`` writes checksums and the bill of materials.
It publishes nothing.
"""
