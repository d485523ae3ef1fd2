"""Shared libraries that speak opproof.h."""
