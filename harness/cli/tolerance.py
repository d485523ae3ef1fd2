"""The command tolerance: the least atol and rtol that right kernels keep, and what passes under them."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click

from opproof.core.verdicts import Mode
from opproof.harness.cli.options import Choice

if TYPE_CHECKING:
    from opproof.harness.precision.tolerance import ToleranceReport

#: Precisions below float32 that right kernels may compute in: see `opproof check --compute`.
COMPUTED = ("storage", "tf32", "f16", "bf16")
#: A tolerance as others write it: PyTorch's and NumPy's tests, ONNX's node tests, ggml's and benchdnn's limits.
CODE = {
    "assert_close": "torch.testing.assert_close(got, expected, rtol={rtol:g}, atol={atol:g})",
    "allclose": "numpy.testing.assert_allclose(got, expected, rtol={rtol:g}, atol={atol:g})",
    "executorch": '{{"atol": {atol:g}, "rtol": {rtol:g}}}',
    "onnx": 'expect(node, inputs=inputs, outputs=outputs, name="test", rtol={rtol:g}, atol={atol:g})',
    "ggml": "double max_nmse_err() override {{ return {nmse:.2g}; }}",
    "benchdnn": "cmp.set_threshold({rtol:g}f);",
}


@click.command("tolerance")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@click.option("--mode", type=Choice(("forward", "gradient")), default="forward", show_default=True)
@click.option("--draws", type=click.IntRange(1, 1000), default=8, show_default=True, help="Of the data.")
@click.option("--compute", type=Choice(COMPUTED), default=None, help="A lower precision that right kernels have.")
@click.option("--kernel", default="", metavar="BACKEND", help="The least for this one's kernel, not for any right one.")
@click.option("--rtol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--atol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--code", type=Choice(tuple(CODE)), default=None, help="Print it as this one's tests have it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def tolerance_command(
    *, cases: tuple[str, ...], mode: str, draws: int, compute: str | None, kernel: str, rtol: float | None,
    atol: float | None, code: str | None, as_json: bool, folders: tuple[str, ...],
) -> int:  # fmt: skip
    """Measure the least tolerance that right kernels keep, and say what is wrong and passes under it.

    With --rtol and --atol: whether that tolerance rejects right kernels, and what passes under it.
    """
    from opproof.cases import Case
    from opproof.harness.precision.tolerance import Tolerance, measure_tolerances
    from opproof.harness.reference.valid_case import check_case, op_of

    given = None if rtol is None and atol is None else Tolerance(atol or 0.0, rtol or 0.0)
    documents = []
    for text in cases:
        case = check_case(Case.parse(text), folders)
        reports = measure_tolerances(case, op_of(case.op, folders), Mode(mode), draws, compute, given, kernel)
        documents += [{"case": text, "mode": mode, **_describe(report)} for report in reports]
        if not as_json:
            click.echo("\n".join((f"{text}  {mode}", *(_render(report, code, kernel) for report in reports))))
    if as_json:
        click.echo(json.dumps(documents))
    return 0


def _describe(report: ToleranceReport) -> dict[str, object]:
    """A report as JSON has it; null for what no number says."""
    figures = {"rtol_alone": report.rtol_alone, "ulp": report.ulp, "nmse": report.nmse, "snr": report.snr}
    return {
        "result": report.name,
        "atol": report.tolerance.atol,
        "rtol": report.tolerance.rtol,
        "rejected": report.rejected,
        **{name: figure if math.isfinite(figure) else None for name, figure in figures.items()},
        "draws": report.draws,
        "passing": dict(report.passing),
    }


def _render(report: ToleranceReport, code: str | None, kernel: str) -> str:
    """A report as text: the tolerance, whom it rejects, what passes under it and what fails."""
    atol, rtol = report.tolerance.atol, report.tolerance.rtol
    alone = f"{report.rtol_alone:.2g}" if math.isfinite(report.rtol_alone) else "none"
    whose = f"of {kernel}'s kernel" if kernel else "of right kernels"
    figures = f"rtol alone {alone}, {report.ulp:.3g} ULP, NMSE {report.nmse:.2g}, SNR {report.snr:.0f} dB"
    lines = [f"  {report.name}  atol {atol:g}  rtol {rtol:g}", f"    {whose}: {figures}"]
    if report.rejected:
        lines.append(f"    rejects {whose.removeprefix('of ')}: at {report.rejected:.2%} of elements more is honest")
    passing = [f"{n} ({k} of {report.draws} draws)" for n, k in report.passing.items() if k]
    failing = [n for n, k in report.passing.items() if not k]
    lines.append(f"    wrong, and passes: {'; '.join(passing) or 'nothing that was tried'}")
    lines += [f"    fails: {'; '.join(failing)}"] * bool(failing)
    if code is not None:
        lines.append(f"    {CODE[code].format(atol=atol, rtol=rtol, nmse=report.nmse)}")
    return "\n".join(lines)
