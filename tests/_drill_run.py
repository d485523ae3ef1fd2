"""The drill's run, a process of its own: python _drill_run.py JOBS TIMEOUT MEMORY CASES VERDICTS."""

import json
import sys
from pathlib import Path

from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task


def main(jobs, timeout, memory, cases, verdicts):
    """The last record of each case counts, as in a run."""
    backend = str(Path(__file__).with_name("_drill_backend.py"))
    tasks = [Task(backend, case, "forward") for case in json.loads(Path(cases).read_text())]
    with Pool(HostLimits(int(jobs), float(timeout), int(memory))) as pool:
        records = {r.case: (r.verdict, r.message) for r in pool.run(tasks)}
    Path(verdicts).write_text(json.dumps(records))


if __name__ == "__main__":
    main(*sys.argv[1:])
