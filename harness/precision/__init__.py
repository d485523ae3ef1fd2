"""Which lower precision a backend has to declare: measured record by record, with the declaration and without.

Front files: `measure.py` measures a backend and merges that into precision.toml; `tolerance.py`.
"""
