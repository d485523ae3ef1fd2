"""The judge's side of hosts: a process that may do anything, and what is asked of it."""
