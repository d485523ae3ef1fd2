"""Certificates: what a run found, in one signed file that somebody else can check against the same backend.

The file is JSON: what was certified, the signature (Ed25519, RFC 8032) of its canonical text, and the public key. Each
record is a line `VERDICT mode case`, packed, so that a drawn part of them can be run again and compared.
"""

from __future__ import annotations

import base64
import hashlib
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from opproof.core.errors import ResultsError, UsageError
from opproof.reports._kinds import ResultKind, name_verdict, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports.files import write
from opproof.reports.history.badge import render_badge
from opproof.reports.history.kept import HistoryRun, make_history_run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    SigningKey: TypeAlias = Ed25519PrivateKey

SCHEMA = 1
#: The share of a certificate's records that is run again.
DRAWN_SHARE = 0.01
#: The fewest records that are run again, where there are so many.
MIN_DRAWN = 20
#: Stands in every certificate.
LIMITS = (
    "It says what these cases showed on one machine, not that the backend is right for others.",
    "Known failures are counted apart, and what was declined was not asked.",
    "Whoever has the key may sign what no run found: records that are drawn and run again tell.",
    "A backend that tells a judge from a user can behave for both of them.",
)


class Certificate(msgspec.Struct, frozen=True):
    """What is signed."""

    run: HistoryRun  # operators and backends with their counts
    host: dict[str, str]
    options: dict[str, Any]
    files: dict[str, str]  # SHA-256 of what the backends are made of, by name
    declared: tuple[str, ...]  # lower precisions and roundings that backends asked to be judged by
    declined: dict[str, int]  # records that a backend declined, by operator
    records: str  # base64 of an LZMA stream of sorted lines
    limits: tuple[str, ...] = LIMITS
    schema: int = SCHEMA


class Signed(msgspec.Struct, frozen=True):
    """A certificate with its signature."""

    certificate: Certificate
    signature: str  # base64, as the key
    public_key: str


def make_certificate(header: Header, results: Sequence[Result], files: Mapping[str, str]) -> Certificate:
    """What a run of one backend found. Raises UsageError where it was not finished, says nothing, or has several."""
    if not results or len(results) < header.cases:
        raise UsageError(f"a run of {len(results):,} of {header.cases:,} records is not certified; finish it first.")
    if len(header.backends) != 1:
        raise UsageError(f"a certificate is of one backend, and this run has {len(header.backends)}; give one -b.")
    declined: dict[str, int] = {}
    for result in results:
        if result_kind_of(result) is ResultKind.UNSUPPORTED:
            declined[result.op] = declined.get(result.op, 0) + 1
    lines = sorted(f"{name_verdict(r)} {r.mode} {r.case}" for r in results)
    packed = lzma.compress("\n".join(lines).encode())
    return Certificate(
        run=make_history_run(header, results, ""),
        host=header.host,
        options=header.options,
        files=dict(files),
        declared=tuple(sorted({f"{r.backend}: {r.declared}" for r in results if r.declared})),
        declined=declined,
        records=base64.b64encode(packed).decode(),
    )


def read_key(path: Path) -> SigningKey:
    """Read the private key of a PEM file. Raises UsageError, which says how to make one."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise UsageError("a certificate needs the package cryptography; pip install cryptography.") from None
    advice = f"`openssl genpkey -algorithm ed25519 -out {path}` makes one."
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no private key in PEM without a password"
        raise UsageError(f"cannot read the key {path}: {reason}; {advice}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} holds a key of another kind, expected Ed25519; {advice}")
    return key


def write_certificate(path: Path, certificate: Certificate, key: SigningKey) -> None:
    """Sign and write. Raises UsageError where it cannot be written."""
    signature = key.sign(_encode(certificate))
    public = key.public_key().public_bytes_raw()
    signed = Signed(certificate, *(base64.b64encode(part).decode() for part in (signature, public)))
    write(path, msgspec.json.format(msgspec.json.encode(signed), indent=1).decode() + "\n")


def read_certificate(path: Path) -> tuple[Certificate, str]:
    """Read a certificate, and the fingerprint of the key that signed it.

    Raises ResultsError where it is none, or its signature does not fit.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signed = msgspec.json.decode(path.read_bytes(), type=Signed)
        public = base64.b64decode(signed.public_key, validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(
            base64.b64decode(signed.signature, validate=True), _encode(signed.certificate)
        )
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror or error}; give a certificate's file.") from None
    except InvalidSignature:
        raise ResultsError(f"the signature of {path} does not fit: it was changed after it was signed.") from None
    except (ValueError, msgspec.DecodeError) as error:
        raise ResultsError(f"{path} is no certificate ({error}); `opproof run --certify FILE` writes one.") from None
    if signed.certificate.schema != SCHEMA:
        raise ResultsError(f"{path} has schema {signed.certificate.schema}, expected {SCHEMA}; use its opproof.")
    return signed.certificate, hashlib.sha256(public).hexdigest()[:32]


def _encode(certificate: Certificate) -> bytes:
    return msgspec.json.encode(certificate, order="deterministic")


def draw_records(certificate: Certificate, share: float, seed: int) -> dict[tuple[str, str], str]:
    """Draw some of the records: certified verdicts by mode and case. Those that nobody judged are not among them."""
    lines = lzma.decompress(base64.b64decode(certificate.records)).decode().splitlines()
    asked = [line.split(" ", 2) for line in lines if not line.startswith(("UNSUPPORTED", "HARNESS_ERROR"))]
    count = min(len(asked), max(MIN_DRAWN, round(share * len(asked))))
    chosen = Random(seed).sample(asked, count)  # noqa: S311 - which ones is told, so that they can be drawn again
    return {(mode, case): verdict for verdict, mode, case in chosen}


def find_differences(drawn: Mapping[tuple[str, str], str], results: Sequence[Result]) -> list[str]:
    """Say which records came out otherwise than is certified, a line each."""
    now = {(str(r.mode), r.case): name_verdict(r) for r in results}
    return [
        f"{case} {mode}: certified {verdict}, now {now.get((mode, case), 'not asked')}"
        for (mode, case), verdict in drawn.items()
        if now.get((mode, case)) != verdict
    ]


def describe_certificate(certificate: Certificate) -> list[str]:
    """Say what a certificate certifies, and what not."""
    run, total = certificate.run, certificate.run.count()
    declined = f"{sum(certificate.declined.values()):,} of {run.records:,} were declined"
    judged = f"{total.passed:,} of {total.judged:,} judged records pass, {total.known:,} are known failures"
    backends = ", ".join(f"{b.get('name', '?')} {b.get('version', '')}".strip() for b in run.backends)
    return [
        f"{backends}, opproof {run.opproof}, {run.started}, {certificate.host.get('processor', '')}: {run.asked}",
        f"{judged}, {total.failed:,} fail; {declined}",
        *(f"{name}: SHA-256 {digest}" for name, digest in certificate.files.items()),
        *(f"declared by {text}" for text in certificate.declared),
        *certificate.limits,
    ]


def write_badge(path: Path, certificate: Certificate) -> None:
    """Write the badge of a certificate, an SVG. Raises UsageError."""
    write(path, render_badge(certificate.run))
