"""opproof report: render the results of a run again, on this machine or another."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--html", "html_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the HTML report.")
@click.option(
    "--markdown", "markdown_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the Markdown report."
)
def command(*, folder: Path, html_file: Path | None, markdown_file: Path | None) -> int:
    """Print the summary of the results in DIR, and write the reports asked for.

    Exit status as of `opproof run`: 0 nothing unexpected failed, 1 something did, 3 no case ran.
    """
    from opproof.harness.docs import docs_of
    from opproof.harness.runner import status
    from opproof.reports import html, markdown, read_results, terminal

    header, results = read_results(folder)
    if html_file is not None:
        _write(html_file, html.render(header, results, docs=docs_of(results)))
    if markdown_file is not None:
        _write(markdown_file, markdown.render(header, results))
    click.echo(terminal.summary(header, results, folder=folder))
    return status(results)


def _write(file: Path, text: str) -> None:
    from opproof.harness.usage import UsageError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}; give another file.") from None
