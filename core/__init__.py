"""The words that all packages share: dtypes, arrays, modes, verdicts, errors."""
