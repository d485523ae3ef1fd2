"""The two sides of a check: the reference, and the candidate as it is called, here or in a process of its own."""
