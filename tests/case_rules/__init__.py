"""Which rules of cases every operator must have rows for."""
