"""How the answer to a large case is judged, a slice at a time."""
