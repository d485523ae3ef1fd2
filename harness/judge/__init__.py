"""How an answer is judged: the bound, gradients, ties, vacuity, the verdict."""
