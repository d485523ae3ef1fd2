"""What a PyTorch program runs, as cases."""
