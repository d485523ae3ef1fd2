"""From a plan to records: tasks, session workers, their backends, the results file.

Front files, in the order of a run: `runner.py` runs, `plan.py` selects cases and makes tasks (`task.py`),
`scheduler.py` hands them to session workers, `attempt.py` asks and judges one, `record.py` makes its record,
`finish.py` says the end.
"""
