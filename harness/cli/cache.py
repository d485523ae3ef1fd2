"""opproof cache: what is known of cases from earlier runs, kept on disk."""

from __future__ import annotations

from pathlib import Path

import click

from opproof.core.errors import UsageError
from opproof.harness.cli.options import MEBIBYTES
from opproof.harness.run.cache import store as archive
from opproof.harness.run.cache.location import SIZE, locate_folder, place
from opproof.harness.run.cache.store import CacheStore

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("cache")
def cache_command() -> None:
    """What is known of cases from earlier runs: data, expected values, bounds.

    It lies in OPPROOF_CACHE, or in the folder of the user's caches. What an operator or opproof itself made before a
    change of it is not used any more.
    """


@cache_command.command("info")
def show_info() -> int:
    """Say where it is and how much it holds."""
    store = _store()
    held = store.info()
    store.close()
    click.echo(f"{held.path}\n{held.entries:,} entries, {held.bytes / 2**20:,.1f} MiB")
    if held.foreign:
        click.echo(f"{held.foreign:,} entries were not believed: this user's opproof had not written them, or not so")
    return 0


@cache_command.command("clear")
def clear() -> int:
    """Remove all of it."""
    _store().clear()
    return 0


@cache_command.command("export")
@click.argument("file", type=_FILE)
def export(file: Path) -> int:
    """Write all of it to FILE, for another machine."""
    store = _store()
    try:
        count = archive.write(store, file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None
    finally:
        store.close()
    click.echo(f"{count:,} entries in {file}")
    return 0


@cache_command.command("import")
@click.argument("file", type=_FILE)
@click.option("--cache-size", type=MEBIBYTES, default=SIZE // 2**20, show_default=True, help="MiB that it may take.")
def import_(file: Path, *, cache_size: int) -> int:
    """Add what `opproof cache export` wrote to FILE. It is believed from then on: import only what you trust."""
    store = _store(cache_size * 2**20)
    try:
        count = archive.read(store, file)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    finally:
        store.close()
    click.echo(f"{count:,} entries from {file}")
    return 0


def _store(size: int = SIZE) -> CacheStore:
    here = place(size)
    if here is None:
        raise UsageError(f"there is no cache: {locate_folder()}, or the key beside it, can be neither read nor made.")
    return CacheStore(here)
