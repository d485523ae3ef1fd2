"""What is in the tensors of a case: fills by their names, raw bits from ids, matrices, data that a file holds."""
