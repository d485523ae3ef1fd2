"""Cases of rescale: one number for all and one a channel, 8 bits, 16 and 32, signed and not, both roundings."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join


def _row(lead: str, n: object, rest: str = "", *, shared: bool = False) -> str:
    count = 1 if shared else n
    return join(
        f"x={lead}{n}" if lead else f"x={n},",
        f"multiplier={count},;shift={count},",
        rest,
        "" if "f32" in rest else "f32",
    )


SMOKE = [_row("7x", 33, "bits=16"), _row("7x", 33, "bits=32;double_round=true", shared=True)]
STANDARD = [
    _row("", 66, "bits=16;signed=false"),
    _row("5x", 31, "bits=16;layout=x:transposed"),
    _row("5x", 31, "bits=32;layout=x:sliced;input_zero_point=-7"),
    _row("5x", 32, "bits=32;layout=multiplier:sliced,shift:sliced;double_round=true"),
    _row("4x", 33, "bits=32;layout=gapped;output_zero_point=5"),
    _row("4x", 128, "bits=32;layout=offset;double_round=true;input_zero_point=11"),
    _row("2x3x4x", 9, "bits=32;layout=permuted"),
    _row("5x", 63, "bits=16;layout=x:broadcast"),
    _row("5x", 63, "bits=32;layout=multiplier:broadcast,shift:broadcast"),
    _row("5x", 63, "bits=8;output_zero_point=-3"),
    _row("5x", 63, "bits=8;signed=false;output_zero_point=128;double_round=true"),
    _row("9x", 17, "bits=32;signed=false"),
    _row("3x", 1, "bits=32"),
    _row("9x", 7, "bits=16;input_zero_point=3;output_zero_point=-9"),
    _row("9x", 7, "bits=16;input_zero_point=5;signed=false"),
    _row("0x", 3, "bits=32"),
    _row("3x", 1031, "bits=32;double_round=true"),
    _row("131x", 65, "bits=32", shared=True),
    _row("2x3x1x2x3x", 5, "bits=32;layout=permuted"),
]
LAID = [_row("2x3x5x", 9, "bits=32;layout=cropped"), _row("", 1, "bits=32;layout=offset")]
LONG, LONGEST = lengths("!" + _row("1x", "{n}", "bits=32"), _row("{n}x", 2, "bits=32;double_round=true"), dtype="f32")
FULL = [_row("2x", 12289, "bits=32"), _row("65537x", 3, "bits=16")]
