"""Fills the generated parts of README.md: a real session, the verdicts, the commands.

    python docs/readme.py            runs the example backend and writes README.md
    python docs/readme.py --check    exit status 1 when verdicts, commands, the first example or the session are out of
                                     date; their decimals differ in last bits from machine to machine

Each part stands between `<!-- name -->` and `<!-- end name -->`; the second is added where missing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from opproof.core.verdicts import MEANING
from opproof.harness.__main__ import COMMANDS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SESSION = "session: my_backend"
#: The backend of the session, and its options.
RUN = ("my_backend", "-o", "sigmoid", "--dtype", "f32", "--level", "smoke")
EXAMPLE = ROOT / "examples" / "first.py"
EXAMPLE_OUTPUT = "first example: output"


def verdicts() -> str:
    rows = [f"| {name} | {text} |" for name, text in MEANING.items()]
    return "\n".join(["| verdict | what it says |", "| --- | --- |", *rows])


def commands() -> str:
    rows = [f"| `opproof {name}` | {text} |" for name, text in COMMANDS.items()]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def example() -> str:
    """The program that comes first."""
    return f"```python\n{EXAMPLE.read_text(encoding='utf-8').strip()}\n```"


def printed() -> str:
    """What it prints."""
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    return f"```console\n$ python {EXAMPLE.relative_to(ROOT)}\n{done.stdout.strip()}\n```"


def without_machine(text: str) -> str:
    """What a run prints, its slowest case and its host left out: they are others on the next machine."""
    text = re.sub(r"^(slowest:) .*$", r"\1 …", text, flags=re.MULTILINE)
    return re.sub(r"^(opproof [^;\n]+;) .*$", r"\1 …", text, flags=re.MULTILINE)


def session(backend: str, *options: str) -> str:
    """What a run of an example backend prints, its folder shortened, without what is the machine's."""
    with tempfile.TemporaryDirectory() as out:
        call = [sys.executable, "-m", "opproof.harness", "run", "-b", f"./{backend}.py", *options]
        folder = ROOT / "examples" / "python_backend"
        done = subprocess.run([*call, "--out", out], cwd=folder, capture_output=True, text=True, check=False)
        text = without_machine(done.stdout.strip().replace(out, "opproof-report"))
    shown = " ".join(["opproof run -b", f"./{backend}.py", *options])
    return f"```console\n$ {shown}\n{text}\n```"


def without_figures(text: str) -> str:
    """A session without its decimals, and without the widths of columns, which follow them."""
    return re.sub(r" +|-{2,}", " ", re.sub(r"-?\b\d+\.\d+(e-?\d+)?|-?\b\d+e-?\d+", "#", text))


def shown(text: str, name: str) -> str:
    """The part `name` of the README as it is."""
    return text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end {name} -->")[0].strip()


def filled(text: str, name: str, part: str) -> str:
    """`text` with the part `name` replaced."""
    end = f"<!-- end {name} -->"
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?({re.escape(end)})", re.DOTALL)
    if end not in text:
        text = text.replace(f"<!-- {name} -->", f"<!-- {name} -->\n{end}")
    return pattern.sub(lambda m: f"{m[1]}\n{part}\n\n{m[2]}", text)


def is_output_current(text: str, output: str) -> bool:
    """Tell whether a README shows what the first example prints: all but decimals and which element is worst."""
    now, then = (re.sub(r"\[[\d, ]+\]", "[…]", without_figures(some)) for some in (output, shown(text, EXAMPLE_OUTPUT)))
    return now == then


def is_current(text: str, part: str) -> bool:
    """Tell whether a README has the verdicts, commands and code that there are, and the session `part`."""
    parts_now = {"verdicts": verdicts(), "commands": commands(), "first example": example()}
    same = all(shown(text, name) == now for name, now in parts_now.items())
    return same and without_figures(shown(text, SESSION)) == without_figures(part)


def main(check: bool) -> int:
    """Return the exit status."""
    text = README.read_text(encoding="utf-8")
    part = session(*RUN)
    if check:
        if not is_current(text, part) or not is_output_current(text, printed()):
            print("README.md is out of date: run `python docs/readme.py`.")
            return 1
        return 0
    text = filled(filled(text, "verdicts", verdicts()), "commands", commands())
    text = filled(filled(text, "first example", example()), SESSION, part)
    README.write_text(filled(text, EXAMPLE_OUTPUT, printed()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
