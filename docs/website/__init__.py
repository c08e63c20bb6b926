"""The site: pages that are generated, how Markdown and docstrings are read, and the check of the links."""
