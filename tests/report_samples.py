"""Made-up runs that look like real ones: every verdict, every oddity of the record."""

from __future__ import annotations

import math
import random

from opproof.core.verdicts import MEANING, Mode, Verdict
from opproof.reports import Evidence, Header, Input, Picture, Result, Worst

OPS = [
    "abs",
    "add",
    "amax",
    "amin",
    "cat",
    "clamp",
    "conv2d",
    "cos",
    "cross_entropy",
    "div",
    "elu",
    "exp",
    "gelu",
    "gelu_quick",
    "im2col",
    "layer_norm",
    "leaky_relu",
    "log",
    "log_softmax",
    "matmul",
    "mean",
    "mul",
    "neg",
    "norm",
    "pad",
    "permute",
    "relu",
    "repeat",
    "reshape",
    "rms_norm",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "step",
    "sub",
    "sum",
    "tanh",
    "transpose",
    "avg_pool2d",
    "max_pool2d",
    "rope",
    "scaled_dot_product_attention",
    "softplus",
    "swiglu",
    "tril",
    "where",
]
DTYPES = ("f32", "f16", "bf16")
FILLS = ("normal", "wide", "offset", "exact", "kink", "extreme", "zeros", "negative")
LAYOUTS = ("contiguous", "transposed", "sliced", "gapped", "offset", "broadcast")
BROKEN = {
    ("softmax", "gradient"): ("WRONG_GRADIENT", "the gradient does not depend on the cotangent"),
    ("mul", "gradient"): ("WRONG_SHAPE", "the gradient is not summed over the broadcast axes"),
    ("gelu", "forward"): ("WRONG_VALUE", "the tanh approximation where erf was asked for"),
    ("amax", "gradient"): ("WRONG_GRADIENT", "only at ties"),
    ("conv2d", "forward"): ("WRONG_VALUE", "only the tail past a multiple of 8"),
    ("rope", "forward"): ("CRASH", ""),
    ("im2col", "gradient"): ("TIMEOUT", ""),
    ("pad", "forward"): ("OUT_OF_BOUNDS", ""),
}
KNOWN = {
    ("scaled_dot_product_attention", "gradient"): "https://github.com/pytorch/pytorch/issues/1: math path stores bf16"
}


def header(records: int = 0, backends: tuple[str, ...] = ("torch",)) -> Header:
    return Header(
        opproof="0.1.0",
        backends=[{"name": name, "version": "2.13.0", "device": "cpu"} for name in backends],
        host={"system": "Linux", "machine": "x86_64", "python": "3.11.7", "numpy": "2.4.0", "cpus": "2"},
        options={"level": "standard", "seed": 0, "jobs": 2},
        started="2026-07-01T12:00:00Z",
        cases=records,
        constants={"C": 16.0, "stored": 2.0, "rms": 3.0, "bias": 1.0},
    )


def case_id(op: str, dtype: str, number: int) -> str:
    draw = random.Random(f"{op}{number}")
    shape = "x".join(str(draw.choice([1, 2, 3, 4, 7, 31, 33, 65, 127, 257])) for _ in range(draw.randint(2, 4)))
    parts = [f"x={shape}", f"dim={draw.randint(-2, 1)}", dtype]
    fill, layout = draw.choice(FILLS), draw.choice(LAYOUTS)
    parts += (
        [f"fill={fill}"] * (fill != "normal") + [f"layout={layout}"] * (layout != "contiguous") + [f"seed={number}"]
    )
    return f"{op}[{';'.join(parts)}]"


def result(case: str, mode: str, backend: str = "torch", verdict: str = "PASS", **changes: object) -> Result:
    op, _, rest = case.partition("[")
    dtype = next((d for d in DTYPES if f"{d}" in rest.rstrip("]").split(";")), "f32")
    what: dict[str, object] = {
        "case": case,
        "op": op,
        "dtype": dtype,
        "backend": backend,
        "mode": Mode(mode),
        "verdict": Verdict(verdict),
    }
    what["repro"] = f"opproof run -b {backend} --mode {mode} --case '{case}'"
    return Result(**{**what, **changes})  # type: ignore[arg-type]


def worst(draw: random.Random, units: float) -> Worst:
    expected = draw.gauss(0, 1)
    bound = abs(expected) * 1e-6
    got = expected + bound * units / 16
    return Worst(tensor="x", index=(draw.randint(0, 3), draw.randint(0, 65)), got=got, expected=expected, bound=bound)


def evidence(draw: random.Random, at: Worst) -> Evidence:
    """An input, eight elements, a picture in which only the tail is wrong, and a close-up where that is large."""
    rows, columns = draw.choice([(1, 19), (4, 33), (5, 63), (7, 31), (24, 7), (64, 128)])
    x = Input(name="x", shape=(rows, columns), dtype="f32", layout="contiguous", strides=(columns, 1), fill="normal",
              low=-3.2, high=3.1, size=0.9, nans=0, infs=0, first=(0.5, -1.25, 2.0, "nan"))  # fmt: skip
    grid = (min(rows, 48), min(columns, 48))
    line = "".join("c" if c < grid[1] - 5 else chr(ord("d") + draw.randrange(8)) for c in range(grid[1]))
    whole = Picture(
        tensor="y", shape=(rows, columns), rows=(0, rows), columns=(0, columns), grid=grid, cells=line * grid[0]
    )
    close = Picture(
        tensor="y",
        shape=(rows, columns),
        rows=(0, rows),
        columns=(columns - 5, columns),
        grid=(rows, 5),
        cells=f"z{5 * rows}",
    )
    return Evidence(inputs=(x,), elements=(at,) * 8, pictures=(whole, close) if rows > 48 else (whole,))


def run(
    per_op: int = 8, backends: tuple[str, ...] = ("torch",), broken: bool = True, fail: float = 0.0
) -> list[Result]:
    """`per_op` cases for each of 50 operators and 3 dtypes, in 2 modes. `fail`: the share that fails besides BROKEN."""
    draw = random.Random(0)
    found = []
    for op in OPS:
        centre = draw.uniform(-1.5, 1.2)
        for dtype in DTYPES:
            for number in range(per_op):
                case = case_id(op, dtype, number)
                for mode in ("forward", "gradient"):
                    found += [_one(draw, case, mode, b, centre, broken and b == backends[0], fail) for b in backends]
    return found


def _one(draw: random.Random, case: str, mode: str, backend: str, centre: float, broken: bool, fail: float) -> Result:
    op = case.partition("[")[0]
    seconds = round(draw.expovariate(100), 6)
    units = min(15.0, math.exp(draw.gauss(centre, 0.6)))
    if (broken and (op, mode) in BROKEN and draw.random() < 0.6) or draw.random() < fail:
        verdict, diagnosis = BROKEN.get((op, mode), ("WRONG_VALUE", "a constant factor of 1.0004"))
        if not verdict.startswith("WRONG_VALUE") and verdict != "WRONG_GRADIENT":
            message = "the process died with signal 11 (SIGSEGV)" if verdict == "CRASH" else "see what the verdict says"
            return result(case, mode, backend, verdict, message=message, seconds=seconds, diagnosis=diagnosis)
        units = math.exp(draw.uniform(3, 15))
        message = f"{draw.randint(1, 99)} of 132 elements outside their bound"
        at = worst(draw, units)
        return result(case, mode, backend, verdict, units=units, worst=at, message=message, diagnosis=diagnosis,
                      seconds=seconds, evidence=evidence(random.Random(case), at), **figures(case, units))  # fmt: skip
    if (op, mode) in KNOWN and "bf16" in case:
        known = {"known": KNOWN[op, mode], "message": "12 of 132 elements outside their bound"}
        return result(case, mode, backend, "WRONG_GRADIENT", units=250.0, worst=worst(draw, 250.0), **known)
    if op == "where" and mode == "gradient":
        return result(case, mode, backend, "UNSUPPORTED", message="no backward for where", seconds=seconds)
    if op == "sign" and mode == "gradient" and "zeros" in case:
        return result(case, mode, backend, "VACUOUS", message="a gradient of zeros would pass", seconds=seconds)
    if "exact" in case:
        units = 0.0
    if op == "tril" and mode == "gradient" and "zeros" in case:
        message = "the reference of tril raised ZeroDivisionError: division by zero"
        return result(case, mode, backend, "HARNESS_ERROR", message=message, seconds=seconds)
    measured = figures(case, units)
    units = min(units, random.Random(case + mode).uniform(0.8, 0.98) * measured["limit"])
    return result(case, mode, backend, units=units, worst=worst(draw, units), seconds=seconds, **measured)


def figures(case: str, units: float) -> dict[str, float]:
    """A limit, which is lower in 16 bits, and the RMS and bias of a whole array."""
    draw = random.Random(case)
    limit = 16.0 if "f32" in case else round(draw.uniform(2, 9), 3)
    return {"limit": limit, "rms": round(units * 0.3, 4), "bias": round(draw.uniform(-0.1, 0.1) * units, 4)}


def oddities() -> list[Result]:
    """One record of each verdict, and texts and numbers that try to break out of wherever they are put."""
    nasty = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> a|b `c` ]]> & \x1b[31m @someone #1 "
    nasty += "%0A::error::\n\u2028é\u202e\u2066\udc80"
    found = [result(f"softmax[x={n}x33;dim=-1;f32]", "forward", verdict=v) for n, v in enumerate(MEANING)]
    for n, (got, expected, units) in enumerate([("nan", 0.5, "nan"), ("inf", "-inf", "inf"), (-0.0, 1e-310, 3.2e9)]):
        at = Worst(tensor="out<b>", index=(), got=got, expected=expected, bound=1e-7)
        found.append(result(f"log[x={n}d;f16;fill=extreme]", "forward", verdict="WRONG_VALUE", units=units, worst=at,
                            message=nasty, diagnosis=nasty, known="" if n else nasty))  # fmt: skip
    found.append(result("gelu[x=4x4;approximate=</script>%/?#;bf16]", "gradient", verdict="ERROR", message=nasty))
    return found
