"""`operator_test` under its first name, for tests that import it from here; it lies in check/by_operator.py."""

from opproof.harness.check.by_operator import operator_test

__all__ = ["operator_test"]
