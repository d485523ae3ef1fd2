"""How reference and candidate are called, here or in a process of its own, and what a call leaves behind."""
