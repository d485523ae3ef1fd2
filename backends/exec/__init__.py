"""exec:COMMAND: programs in any language."""
