"""Words that a shell completes after an option: backends, operators, dtypes. All imports are late."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def backends(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Backends by name, and files."""
    from opproof.backends.load import built_in

    del ctx, param
    if incomplete.startswith((".", "/", "~")):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(name) for name in built_in() if name.startswith(incomplete)]


def operators(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Operators, the last of a list."""
    from opproof.reference_ops._op import names

    del ctx, param
    return _last(names(), incomplete)


def dtypes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Dtypes, the last of a list."""
    del ctx, param
    from opproof.core.dtypes import DTYPES

    return _last(tuple(DTYPES), incomplete)


def _last(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The words that the part behind the last comma begins."""
    head, comma, part = incomplete.rpartition(",")
    return [CompletionItem(f"{head}{comma}{word}") for word in words if word.startswith(part)]
