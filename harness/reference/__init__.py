"""What is expected: data of a case, reference values, noise, kinks."""
