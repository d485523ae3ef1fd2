"""A case in numbers: shown, as a script, made small; what a failure looked like."""
