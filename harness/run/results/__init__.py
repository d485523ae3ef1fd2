"""The folder of a run: who may write to it, its results file, and what of an earlier run counts."""
