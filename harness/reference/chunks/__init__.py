"""Large cases a slice at a time: which slices are independent, how they are taken, how many fit into memory."""
