"""The space of an operator's cases: factors, constraints, covering arrays, draws."""
