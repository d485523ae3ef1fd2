"""One candidate against one reference: any PyTorch function or module, and whatever is to take its place."""
