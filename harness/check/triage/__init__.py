"""Failures, and what passed, looked at again before they are told: whether anything can be told at all."""
