"""opproof init: a working backend of one operator, with its test, or the files of an operator, to go on from."""

from __future__ import annotations

from pathlib import Path

import click

from opproof.harness.commands._values import Choice

#: What to type in the folder, by the kind of backend.
_NEXT = {
    "c": "make check",
    "python": "opproof run -b ./backend.py -o relu",
    "exec": "opproof run -b 'exec:python3 backend.py' -o relu",
    "triton": "opproof run -b ./backend.py -o relu",
}
_SUFFIX = ".in"
#: Where the files of an operator lie in a clone, by their skeleton.
_OF_OPERATOR = {"reference.py": "reference_ops", "cases.py": "cases"}
#: What to type once an operator has its formula and its rows.
_CHECKS = """\
opproof selfcheck -o {name}      # NumPy = PyTorch, vjp = autograd = differences = complex step
opproof run -b numpy -o {name}   # no case may be MISTRUSTED
opproof run -b torch -o {name}
opproof mutate -o {name}         # no mutant survives
pytest tests/harness -k coverage"""


@click.command("init")
@click.argument("kind", type=Choice([*_NEXT, "op"]))
@click.argument("target", metavar="DIR|NAME")
def command(*, kind: str, target: str) -> None:
    """Write a backend with relu, its gradient and a test into DIR, which holds nothing of these names yet.

    `opproof init op NAME`, in a clone of opproof, writes reference_ops/NAME.py and cases/NAME.py.
    """
    from shlex import quote

    if kind == "op":
        files = _operator(target)
        then = _CHECKS.format(name=target)
    else:
        folder = Path(target)
        files = {folder / name: text for name, text in _skeleton(kind).items()}
        then = f"cd {quote(target)} && {_NEXT[kind]}"
    _write(files, "name" if kind == "op" else "folder")
    click.echo(f"{'  '.join(map(str, files))}\n\n{then}")


def _skeleton(kind: str) -> dict[str, str]:
    """The files of a skeleton, by name."""
    from opproof.harness import skeletons

    source = Path(next(iter(skeletons.__path__))) / kind
    return {f.name.removesuffix(_SUFFIX): f.read_text(encoding="utf-8") for f in sorted(source.glob(f"*{_SUFFIX}"))}


def _operator(name: str) -> dict[Path, str]:
    """The files of an operator in this clone. Raises UsageError where it is none, or the name cannot be one."""
    from opproof.core.errors import UsageError

    if not name.isidentifier() or name != name.lower() or name.startswith("_"):
        raise UsageError(f"{name!r} is no name of an operator: use small letters, digits and underscores.")
    for folder in _OF_OPERATOR.values():
        if not Path(folder).is_dir():
            raise UsageError(f"no {folder} here: go to a clone of opproof. Elsewhere use `opproof run --ops DIR`.")
    return {Path(_OF_OPERATOR[f]) / f"{name}.py": text.replace("NAME", name) for f, text in _skeleton("op").items()}


def _write(files: dict[Path, str], other: str) -> None:
    """Write all files, or none where one is there already. Raises UsageError, which asks for another of `other`."""
    from opproof.core.errors import UsageError

    taken = [path for path in files if path.exists()]
    folder = (taken or list(files))[0].parent
    if taken:
        names = ", ".join(path.name for path in taken if path.parent == folder)
        raise UsageError(f"{folder} has {names} already: give another {other}; nothing was written.")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}; give another folder.") from None
