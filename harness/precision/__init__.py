"""Which lower precision a backend has to declare: measured record by record, with the declaration and without.

Front files: `survey.py` measures a backend and merges it into precision.toml, `measure.py` a record; `tolerance.py`.
"""
