"""What reproduces a failure: a smaller case, a script, the evidence in a report.

Front files: `evidence.py`, `shrink.py`, `script.py`.
"""
