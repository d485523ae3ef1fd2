"""Who checks the checkers: references against each other, mutants, the coverage of cases. A run imports none of it.

Front files: `selfcheck.py`; `mutation/trials.py` and `mutation/report.py`.
"""
