"""opproof verify: check a certificate, and run a drawn part of its records again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from opproof.core.errors import UsageError
from opproof.harness.cli.options import PATH, draw_seed, seed
from opproof.reports import certificate as certificates


@click.command("verify")
@click.argument("file", type=PATH)
@click.option("-b", "--backend", help="As of run: the backend that the certificate is of, to run records again.")
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), default=certificates.DRAWN_SHARE, show_default=True,
    help=f"The part of the records that is run again, {certificates.MIN_DRAWN} at least.",
)  # fmt: skip
@click.option("--seed", callback=seed, default="random", show_default=True, metavar="N", help="Which ones.")
@click.option("--key", "fingerprint", default="", metavar="FINGERPRINT", help="The key that must have signed it.")
@click.option("--badge", type=PATH, metavar="FILE", help="Write a badge (SVG) of what it certifies.")
def verify_command(
    *, file: Path, backend: str | None, share: float, seed: int | str, fingerprint: str, badge: Path | None
) -> int:
    """Check the signature of the certificate in FILE, say what it certifies, and run a part of it again.

    Exit status: 2 FILE is no certificate, was changed, or is signed by another key; 1 a record comes out otherwise; 0.
    """
    certificate, signer = certificates.read_certificate(file)
    if fingerprint and fingerprint != signer:
        raise UsageError(f"{file} is signed by {signer}, expected {fingerprint}: ask who published it.")
    click.echo(f"signed by {signer}; compare that with what its author publishes")
    click.echo("\n".join(f"  {line}" for line in certificates.describe_certificate(certificate)))
    if badge is not None:
        certificates.write_badge(badge, certificate)
    return _run_again(certificate, backend, share, draw_seed(seed), file) if backend else 0


def _run_again(certificate: certificates.Certificate, backend: str, share: float, number: int, file: Path) -> int:
    """Run drawn records again, and say which come out otherwise; whether any does."""
    from tempfile import TemporaryDirectory

    from opproof.backends.load import hash_files
    from opproof.harness.run import runner
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.results.resume import read_options
    from opproof.reports import read_results

    drawn = certificates.draw_records(certificate, share, number)
    asked = read_options(certificate.options, file)
    cases = tuple(dict.fromkeys(case for _, case in drawn))
    selection = Selection(cases=cases, folders=asked.selection.folders)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        runner.run(replace(asked, backends=(backend,), selection=selection, out=out, quiet=True, seconds=0.0))
        differences = certificates.find_differences(drawn, read_results(out)[1])
    if sorted(hash_files(backend).values()) != sorted(certificate.files.values()):
        click.echo(f"{backend} is made of other files than what was certified.")
    same = len(drawn) - len(differences)
    click.echo("\n".join([*differences, f"{same:,} of {len(drawn):,} drawn records came out as certified."]))
    return int(bool(differences))
