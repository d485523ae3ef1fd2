"""pytest: the registry as tests, and one function as an operator."""
