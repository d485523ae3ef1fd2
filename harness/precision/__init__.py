"""Which lower precision a backend has to declare: measured record by record, with the declaration and without."""
