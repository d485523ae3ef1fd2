"""opproof cache: what is known of cases from earlier runs, kept on disk."""

from __future__ import annotations

import click

from opproof.core.errors import UsageError
from opproof.harness.run.cache.location import locate_folder, place
from opproof.harness.run.cache.store import CacheStore


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


def _store() -> CacheStore:
    here = place()
    if here is None:
        raise UsageError(f"there is no cache: {locate_folder()}, or the key beside it, can be neither read nor made.")
    return CacheStore(here)
