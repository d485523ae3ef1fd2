"""Backends to begin with: one operator, values and gradient, and a test. `opproof init` writes them."""
