"""Runs over time: each kept as a small file, and a page, a badge and an index made of them, for a static web server."""
