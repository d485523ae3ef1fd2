"""The inputs that a check tries: sizes, fills, layouts, options, rare values."""
