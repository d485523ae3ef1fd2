"""Mutants of the reference backend, and which case kills each."""
