"""Cases of batch_norm_training: slow, quick and no memory of earlier batches, either var, with and without weights."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN, join


def _row(x: str, *rest: str, weights: bool = True) -> str:
    """Running moments, and a weight and a bias where wanted, for each of x's channels."""
    names = ("running_mean", "running_var", *(("weight", "bias") if weights else ()))
    return join(f"x={x}", *(f"{name}={x.split('x')[1]}," for name in names), *rest)


SMOKE = [_row("5x3"), _row("2x3x5x7", "momentum=0.25", weights=False)]
STANDARD = [
    _row("5x3x33", "inplace=x"),
    _row("5x3x17", "layout=x:transposed;inplace=x"),
    _row("2x3x5x7", "unbiased=false"),
    _row("4x3x5", "momentum=1.0", weights=False),
    _row("4x3x5", "momentum=0.0"),
    _row("4x3x5", "momentum=0.5;unbiased=false;layout=x:transposed"),
    _row("9x5x7", "eps=1e-12;fill=small"),
    _row("17x5x7", "fill=offset-1e3;f32,f16,bf16"),
    _row("17x5x7", "fill=offset-1e4;f32"),
    _row("17x5x7", "fill=heavy;f16"),
    _row("7x25", "fill=special-columns", weights=False),
    _row("2x3x7x5", "eps=0.1;layout=permuted"),
    _row("2x3x5x7", "layout=offset;momentum=0.75"),
    _row("2x3x4x9", "layout=permuted;unbiased=false"),
    _row("2x3x2x4x5", "layout=sliced"),
    _row("3x4x33", "layout=gapped"),
    _row("3x4x17", "layout=x:broadcast"),
    _row("4x3x7", "layout=weight:offset,running_mean:sliced,running_var:offset,bias:sliced"),
    _row("4x3x7", "layout=weight:broadcast,running_mean:broadcast,running_var:broadcast,bias:broadcast"),
    _row("4x3x7", "layout=weight:sliced,running_mean:offset,running_var:sliced,bias:offset"),
    _row("4x3x9", "fill=wide"),
    _row("4x3x9", "fill=offset"),
    _row("4x3x9", "fill=extreme"),
    _row("4x3x9", "fill=negative;momentum=0.5"),
    _row("4x3x5", "fill=zeros"),
    _row("4x17x5", "fill=brink"),
    _row("5x3x4", "fill=constant"),
    _row("2x33", "fill=ties;eps=0.1"),
    _row("33x65"),
    _row("9x2x129"),
    _row("9x4x1"),
    _row("3x65", "fill=special", weights=False),
    _row("4099x3", "f16,bf16"),
    _row("16x5x131", f"eps={512 * BETWEEN};f16,bf16"),
    _row("6x5x31", f"momentum={BETWEEN};f16,bf16"),
    _row("9x9"),
]
LAID = [
    _row("2x4x5x7", "layout=cropped"),
    _row("3x1x5", "layout=weight:offset,bias:offset,running_mean:offset,running_var:offset"),
]
ALIGNED = aligned(
    _row("32x16"),
    _row("16x64", "momentum=0.5"),
    _row("2x32x16", "unbiased=false"),
    _row("2x16x16x16"),
    _row("3x16x16", weights=False),
    _row("64x128"),
    _row("2x64x16"),
    _row("2x32x16x16"),
    _row("2x16x32x32", "f16"),
    _row("1x16x64x64", "f16"),
)
LONG, LONGEST = lengths(_row("{n}x2"), _row("2x2x{n}"), _row("3x{n}"))
SHAPES = [
    "x=5x3x65;running_mean=3,;running_var=3,;momentum=0.5;fill=outliers;f16",
    _row("1031x67", "f32"),
    _row("1031x3", "fill=offset-1e3;f32"),
]
FULL = [_row("2x3x65x129"), _row("65537x3")]
WITHOUT = {"empty": "no batch has moments of nothing, and libraries refuse one"}
PAIRED = [
    "x=5x3x4;running_mean=3,;running_var=3,;momentum=0.5;unbiased=false;eps=0.5",
    "x=5x3x4;running_mean=3,;running_var=3,;weight=3,;bias=3,;momentum=0.25;unbiased=false;eps=0.25",
]
