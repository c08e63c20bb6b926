"""The site: pages that are generated, links that lead on from one host to another, and their check."""
