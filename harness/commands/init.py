"""opproof init: a working backend of one operator, with its test, to go on from."""

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


@click.command("init")
@click.argument("kind", type=Choice(list(_NEXT)))
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def command(*, kind: str, folder: Path) -> None:
    """Write a backend with relu, its gradient and a test into DIR, which holds nothing of these names yet."""
    from shlex import quote

    from opproof.harness import skeletons
    from opproof.vocabulary.errors import UsageError

    source = Path(next(iter(skeletons.__path__))) / kind
    texts = {f.name.removesuffix(_SUFFIX): f.read_text(encoding="utf-8") for f in sorted(source.glob(f"*{_SUFFIX}"))}
    taken = [name for name in texts if (folder / name).exists()]
    if taken:
        raise UsageError(f"{folder} has {', '.join(taken)} already: give another folder; nothing was written.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}; give another folder.") from None
    click.echo(f"{'  '.join(str(folder / name) for name in texts)}\n\ncd {quote(str(folder))} && {_NEXT[kind]}")
