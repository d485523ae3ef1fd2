"""Which lower precision a backend has to declare: measured record by record, with the declaration and without.

Front files: `survey.py` measures a backend, `measure.py` a record, `file.py` reads and writes precision.toml.
"""
