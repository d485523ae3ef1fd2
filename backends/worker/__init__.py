"""The process that has the backend: load, call, answer; nothing else."""
