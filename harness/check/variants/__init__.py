"""What the values of an input are in every draw, and keep in all that is tried."""
