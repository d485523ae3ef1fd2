"""Somebody's own tests, run with planted defects in the function that they test: which defects survive.

Front file: `run.py`. `plugin.py` is in the process of the tests; `defects.py` says what is planted.
"""
