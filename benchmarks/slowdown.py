"""How often a kernel made 1.3 times slower is found, and an equal one is not, on this machine: 20 of 20 is the bar.

python benchmarks/slowdown.py [TIMES]

Needs a machine that does nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from opproof.reports.bench import compare, record

CASE = "tanh[x=512x512;f32]"
SOURCE = """
import numpy as np
def forward(op, inputs, params):
    x = inputs[0]
    y = np.tanh(x)
    {more}
    return y
"""


def measured(folder: Path, specs: list[Path], out: str) -> record.Bench:
    """One bench of all of them."""
    call = [sys.executable, "-m", "opproof.harness", "bench", "--case", CASE, "--mode", "forward", "--caches", "warm"]
    call += [word for spec in specs for word in ("-b", str(spec))]
    subprocess.run([*call, "--out", str(folder / out)], check=True, stdout=subprocess.DEVNULL)
    return record.read(folder / out)


def main(times: int) -> int:
    """Print how often each was found; status 1 where the bar is missed."""
    found = {"same": 0, "slow": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        same, slow = folder / "same.py", folder / "slow.py"
        for attempt in range(times):
            for path, more in ((same, ""), (slow, "")):
                path.write_text(SOURCE.format(more=more), encoding="utf-8")
            before = measured(folder, [same, slow], "before")
            slow.write_text(SOURCE.format(more="np.tanh(x[: 3 * len(x) // 10])"), encoding="utf-8")
            after = measured(folder, [same, slow], "after")
            for change in compare.compare_benches(before, after).slower:
                found[Path(change.after.backend).stem] += 1
            print(f"{attempt + 1}: 1.3 x slower found {found['slow']} times, an equal one {found['same']} times")
    return int(found != {"same": 0, "slow": times})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
