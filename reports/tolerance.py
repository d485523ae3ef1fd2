"""What a pair of atol and rtol is worth: as text, as JSON, and as the tests of others have it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from opproof.core.arrays import Array

#: A tolerance as others write it: PyTorch's and NumPy's tests, ONNX's node tests, ggml's and benchdnn's limits.
CODE = {
    "assert_close": "torch.testing.assert_close(got, expected, rtol={rtol:g}, atol={atol:g})",
    "allclose": "numpy.testing.assert_allclose(got, expected, rtol={rtol:g}, atol={atol:g})",
    "executorch": '{{"atol": {atol:g}, "rtol": {rtol:g}}}',
    "onnx": 'expect(node, inputs=inputs, outputs=outputs, name="test", rtol={rtol:g}, atol={atol:g})',
    "ggml": "double max_nmse_err() override {{ return {nmse:.2g}; }}",
    "benchdnn": "cmp.set_threshold({rtol:g}f);",
}


@dataclass(frozen=True)
class Tolerance:
    """A pair as assert_close takes it: |got - expected| <= atol + rtol |expected|."""

    atol: float
    rtol: float

    def excess_of(self, off: Array, values: Array) -> Array:
        """How many times what is allowed each element is off."""
        with np.errstate(all="ignore"):
            return np.where(off > 0, off / (self.atol + self.rtol * np.abs(values)), 0.0)

    def allows(self, off: Array, values: Array) -> Array:
        """Which elements may be so far off."""
        return np.asarray(self.excess_of(off, values) <= 1)

    def __str__(self) -> str:
        return f"atol {self.atol:g}  rtol {self.rtol:g}"


@dataclass(frozen=True)
class NmseLimit:
    """A limit of the normalised mean squared error of a whole array, as ggml's tests have it."""

    limit: float

    def excess_of(self, off: Array, values: Array) -> Array:
        """How many times what is allowed the array is off."""
        return np.asarray(nmse_of(off, values) / self.limit)

    def __str__(self) -> str:
        return f"NMSE {self.limit:g}"


def nmse_of(off: Array, values: Array) -> float:
    """The mean squared error, as a part of the mean square of the values."""
    return float(np.sum(np.square(off)) / max(np.sum(np.square(values)), np.finfo(float).tiny))


@dataclass(frozen=True)
class ToleranceReport:
    """What a tolerance is worth for one array: who keeps it, and who passes under it."""

    name: str
    tolerance: Tolerance | NmseLimit
    rejected: float  # the share of elements at which a right kernel may fail; 1 or 0 of a limit for the whole
    honest: tuple[float, float]  # how many times the tolerance a right kernel may be off: the median and the most
    rtol_alone: float  # infinite where an expected 0 is not met
    ulp: float
    nmse: float
    passing: Mapping[str, int]  # of wrong kernels, in how many draws each passes
    excess: Mapping[str, float]  # how many times the tolerance each is off, in the draw in which it is off least
    draws: int

    @property
    def snr(self) -> float:
        """The signal-to-noise ratio of a right kernel, in decibels."""
        return math.inf if not self.nmse else -10 * math.log10(self.nmse)


def describe_tolerance(case: str, mode: str, report: ToleranceReport) -> dict[str, object]:
    """A report as JSON has it; null for what no number says."""
    figures = {"rtol_alone": report.rtol_alone, "ulp": report.ulp, "nmse": report.nmse, "snr": report.snr}
    return {
        "case": case,
        "mode": mode,
        "result": report.name,
        **asdict(report.tolerance),
        "rejected": report.rejected,
        "honest": list(report.honest),
        **{name: figure if math.isfinite(figure) else None for name, figure in figures.items()},
        "draws": report.draws,
        "passing": dict(report.passing),
        "excess": {name: times if math.isfinite(times) else None for name, times in report.excess.items()},
    }


def render_tolerance(report: ToleranceReport, code: str | None, kernel: str) -> str:
    """A report as text: the tolerance, whom it rejects, what passes under it and what fails."""
    alone = f"{report.rtol_alone:.2g}" if math.isfinite(report.rtol_alone) else "none"
    whose = f"of {kernel}'s kernel" if kernel else "of right kernels"
    figures = f"rtol alone {alone}, {report.ulp:.3g} ULP, NMSE {report.nmse:.2g}, SNR {report.snr:.0f} dB"
    lines = [f"  {report.name}  {report.tolerance}", f"    {whose}: {figures}"]
    if report.rejected:
        lines.append(f"    rejects {whose.removeprefix('of ')}: at {report.rejected:.2%} of elements more is honest")
    passing = [f"{n} ({k} of {report.draws} draws)" for n, k in report.passing.items() if k]
    failing = sorted((times, n) for n, times in report.excess.items() if not report.passing[n])
    lines.append(f"    wrong, and passes: {'; '.join(passing) or 'nothing that was tried'}")
    if failing:
        said = "; ".join(f"{n} ({times:.2g})" for times, n in failing)
        lines.append(f"    fails (times what is allowed): {said}")
    if code is not None:
        lines.append(f"    {CODE[code].format(**{'nmse': report.nmse, **asdict(report.tolerance)})}")
    return "\n".join(lines)
