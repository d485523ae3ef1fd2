"""What is asked: the inputs as they are given, and what is tried beside them: other layouts, values and sizes."""
