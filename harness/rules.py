"""The rules that say which cases an operator needs, ranked by how many catalogued bugs need each.

A rule has parts (for layouts: every tensor that can lie so); an operator keeps it when every part is met by some
case. Rules that the runner itself obeys in every case (random cotangents, guard zones, poisoned outputs, unchanged
inputs, repeated calls) need no case and stand in `ALWAYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from opproof.cases import Case
from opproof.cases._layouts import layouts_of, storage_of
from opproof.harness import rules_ops as families
from opproof.reference_ops import Op

#: What every case is run under, with the number of bugs that need it.
ALWAYS: tuple[tuple[str, int], ...] = (
    ("random, row-varying cotangents", 8),
    ("guard zones around every buffer", 8),
    ("poisoned outputs", 7),
    ("a second call on live state", 5),
    ("the same call again, bit for bit", 3),
)

Parts = Callable[[Case, Op], Iterable[str]]


@dataclass(frozen=True)
class Rule:
    """One rule: `met` gives the parts that a case meets, `parts` those that an operator owes."""

    name: str
    text: str
    bugs: int  # of the catalogued ones; 0 for a conjunction of other rules
    applies: Callable[[Op], bool]
    met: Parts
    parts: Callable[[Op, Sequence[Case]], Iterable[str]] = lambda op, cases: ("",)  # noqa: ARG005
    level: str = "standard"

    def matches(self, case: Case, op: Op) -> bool:
        """Whether the case meets some part of the rule."""
        return bool(set(self.met(case, op)))

    def missing(self, op: Op, cases: Sequence[Case]) -> list[str]:
        """The parts that no case of the operator meets; empty where the rule does not apply."""
        if not self.applies(op):
            return []
        owed = set(self.parts(op, cases))
        return sorted(owed - {part for case in cases for part in self.met(case, op)})


def _when(test: Callable[[Case], object]) -> Parts:
    """A rule without parts."""
    return lambda case, _: ("",) if test(case) else ()


def _named(names: Iterable[str]) -> Callable[[Op], bool]:
    wanted = frozenset(names)
    return lambda op: op.name in wanted


def _but(names: str) -> Callable[[Op], bool]:
    unwanted = frozenset(names.split())
    return lambda op: op.name not in unwanted


def _floats_but(names: str) -> Callable[[Op], bool]:
    return _but(f"{names} {' '.join(families.NO_FLOATS)}")


def _fill(*fills: str) -> Parts:
    return _when(lambda case: case.fill in fills)


#: Parameters that are sizes of the result.
_SIZES = ("output_size", "size", "shape", "num_classes")


def _sizes(case: Case) -> list[int]:
    """Every axis of every tensor, and those that parameters give to the result."""
    asked = [v for n, value in case.params if n in _SIZES for v in _pair(value)]
    return [*(n for shape in case.shapes.values() for n in shape), *(n for n in asked if isinstance(n, int))]


def _size(*ranges: tuple[int, int]) -> Parts:
    return _when(lambda case: any(low <= n <= high for n in _sizes(case) for low, high in ranges))


def _param_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del cases
    return [n for n, default in op.params.items() if default is None or isinstance(default, int | float | str | tuple)]


def _params_met(case: Case, op: Op) -> list[str]:
    return [n for n, v in case.params if n in op.params and v != op.params[n]]


def laid(case: Case, layout: str) -> list[str]:
    """Tensors that lie otherwise in memory than they would contiguously, by this layout."""
    shapes = case.shapes
    return [
        name
        for name, given in layouts_of(case).items()
        if given == layout
        and prod(shapes[name])
        and (layout == "broadcast") <= (shapes[name][:1] > (1,))
        and storage_of(shapes[name], layout) != storage_of(shapes[name], "contiguous")
    ]


def _layout_parts(layout: str) -> Callable[[Op, Sequence[Case]], list[str]]:
    """Tensors that have, in some case, axes enough to lie so."""
    axes = {"transposed": 2, "gapped": 2, "permuted": 3, "broadcast": 2}.get(layout, 1)

    def parts(op: Op, cases: Sequence[Case]) -> list[str]:
        found = {n for c in cases for n, s in c.shapes.items() if sum(k > 1 for k in s) >= axes}
        return sorted(found)[:2] if op.variadic else sorted(found)

    return parts


def _layout(layout: str) -> Parts:
    return lambda case, _: laid(case, layout)


def _alone(case: Case, op: Op) -> list[str]:
    """Whether one tensor alone is not contiguous while others are."""
    del op
    odd = {
        name for layout in ("transposed", "permuted", "sliced", "gapped", "broadcast") for name in laid(case, layout)
    }
    return ["" for _ in odd] if len(odd) == 1 and len(case.shapes) > 1 else []


def _leading(case: Case) -> bool:
    """Leading axes longer than 1 and all distinct."""
    return any(len(s) >= 3 and min(s[:-1]) > 1 and len(set(s[:-1])) == len(s) - 1 for s in case.shapes.values())


def _broadcasts(case: Case) -> bool:
    return len({s for s in case.shapes.values()}) > 1


def _pair(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _uneven(case: Case) -> bool:
    """H differs from W, and so do the parameters of the two axes."""
    planes = [s for s in case.shapes.values() if len(s) >= 3 and s[-1] != s[-2]]
    tuples = [v for _, v in case.params if isinstance(v, tuple) and len(set(v)) > 1]
    kernels = case.shapes.get("weight", ())[-2:]
    return bool(planes) and (bool(tuples) or len(set(kernels)) > 1)


def _remainder(case: Case) -> bool:
    """Some stride leaves cells over: (n + 2 p - d (k - 1) - 1) mod s is not 0."""
    shape = next(iter(case.shapes.values()))
    kernel = case.shapes["weight"][2:] if "weight" in case.shapes else _pair(case.kwargs.get("kernel_size", 1))
    plane = shape[2:]
    rows = zip(
        plane, *(_spread(v, len(plane)) for v in (kernel, _stride(case), case.kwargs.get("padding", 0),
                                                  case.kwargs.get("dilation", 1))), strict=True
    )  # fmt: skip
    return any(s > 1 and (n + 2 * p - d * (k - 1) - 1) % s for n, k, s, p, d in rows)


def _stride(case: Case) -> object:
    stride = case.kwargs.get("stride")
    return stride if stride is not None else case.kwargs.get("kernel_size", 1) if "kernel_size" in case.kwargs else 1


def _spread(value: object, rank: int) -> tuple[int, ...]:
    values = tuple(v for v in _pair(value) if isinstance(v, int))
    return values if len(values) == rank else values[:1] * rank


def _over(case: Case) -> bool:
    """More indices than there are places: some repeat, in no order."""
    return any(len(s) and max(s) > 4 for n, s in case.shapes.items() if n in ("index", "indices", "ids", "target"))


def _heads(case: Case) -> bool:
    s = case.shapes
    return "query" in s and s["query"][1] != s["key"][1]


def _long(case: Case) -> bool:
    return case.dtype in ("f16", "bf16") and max(_sizes(case), default=0) > 1000 and case.fill != "special"


def _strided(case: Case) -> bool:
    return any(laid(case, layout) for layout in ("transposed", "permuted", "sliced", "gapped"))


def _groups(case: Case) -> bool:
    stride = _pair(case.kwargs.get("stride", 1))
    groups = case.kwargs.get("groups", 1)
    odd = any(n % 2 for n in case.shapes["x"][2:])
    return isinstance(groups, int) and groups > 1 and any(s != 1 for s in stride) and odd


def _not_involution(dims: object) -> bool:
    assert isinstance(dims, tuple)
    order = [int(d) % len(dims) for d in dims if isinstance(d, int)]
    return any(order[d] != i for i, d in enumerate(order))


def _fraction(case: Case) -> bool:
    """Some axis is resized by a factor that is no whole number either way."""
    sizes = _pair(case.kwargs["output_size"] if "output_size" in case.kwargs else case.kwargs["size"])
    plane = next(iter(case.shapes.values()))[2:]
    return any(n and m and n % m and m % n for n, m in zip(plane, _spread(sizes, len(plane)), strict=True))


def _differentiable(op: Op) -> list[str]:
    """Tensors that may have a gradient, as far as names tell."""
    return [
        n
        for n in op.tensors
        if n not in ("index", "indices", "ids", "target", "positions", "mask", "condition", "keep")
    ]


_FLOAT = families.has_float
_SCALARS = "arange"
_MANY = _but("arange")  # operators with tensors at all
_SPECIAL = _floats_but(
    # undefined order or products with NaN, or arithmetic in which a NaN reaches everything
    "topk argsort sort acc add1 lerp dot bmm matmul linear outer_product mul_mat_id add_id add_rel_pos matmul_quantized "
    "conv1d conv2d conv2d_depthwise conv3d conv_transpose1d conv_transpose2d col2im im2col_back upsample_bilinear "
    "upsample_bicubic solve_triangular layer_norm rms_norm rms_norm_back group_norm instance_norm batch_norm l2_norm "
    "local_response_norm softmax log_softmax softmax_ext soft_max_back scaled_dot_product_attention rope rope_back "
    "ssm_conv ssm_scan wkv6 wkv7 gated_linear_attn gated_delta_net cross_entropy nll_loss cross_entropy_loss_back kl_div "
    "opt_step_adamw silu_back get_rows_back repeat_back pool_2d_back quantize timestep_embedding max_pool1d max_pool2d "
    "cumprod prod count_equal get_rel_pos"
)
_EXTREME = _floats_but(
    # sums of products, in which size is no special case, and what is bounded or discrete
    "dot bmm matmul linear outer_product mul_mat_id matmul_quantized conv1d conv2d conv2d_depthwise conv3d lerp "
    "conv_transpose1d conv_transpose2d solve_triangular ssm_conv ssm_scan wkv6 wkv7 gated_linear_attn gated_delta_net "
    "acos asin all any eq ne lt le gt ge logical_and logical_or logical_not count_equal concat stack pad fill quantize "
    "fmod remainder scaled_dot_product_attention silu_back"
)


def _multilinear(op: Op) -> bool:
    return op.multilinear and not op.is_exact("forward") and _FLOAT(op)


RULES: tuple[Rule, ...] = (
    Rule(
        "parameters",
        "every parameter at a value other than its default",
        25,
        lambda op: bool(op.params),
        _params_met,
        _param_parts,
    ),
    Rule("1-9", "an axis of 1 to 9", 25, _MANY, _size((1, 9))),
    Rule("31-33", "an axis of 31 to 33", 25, _MANY, _size((31, 33))),
    Rule("63-66", "an axis of 63 to 66", 25, _MANY, _size((63, 66))),
    Rule(
        "96+",
        "an axis of 96 to 132, 250 to 260 or 768",
        25,
        _but("arange upsample_nearest upsample_bilinear upsample_bicubic im2col_3d"),
        _size((96, 132), (250, 260), (768, 768)),
    ),
    Rule("transposed", "every tensor transposed", 22, _MANY, _layout("transposed"), _layout_parts("transposed")),
    Rule("sliced", "every tensor step-sliced", 22, _MANY, _layout("sliced"), _layout_parts("sliced")),
    Rule("gapped", "every tensor with gaps between rows", 22, _MANY, _layout("gapped"), _layout_parts("gapped")),
    Rule("offset", "every tensor off the start of its storage", 22, _MANY, _layout("offset"), _layout_parts("offset")),
    Rule("stride 0", "every tensor broadcast in memory", 22, _MANY, _layout("broadcast"), _layout_parts("broadcast")),
    Rule("one alone", "one tensor strided, the others not", 22, lambda op: _MANY(op) and len(op.tensors) > 1, _alone),
    Rule("contiguous", "and all contiguous", 22, _MANY, _when(lambda c: c.layout == "contiguous")),
    Rule(
        "zeros",
        "exact zeros",
        20,
        _floats_but("log log2 rsqrt reciprocal one_hot topk count_equal"),
        _fill("zeros", "ties", "halves", "kink", "exact", "signs", "special"),
    ),
    Rule(
        "ties",
        "ties where elements are ordered",
        20,
        _named(families.ORDERED),
        _fill("ties", "constant", "kink", "zeros"),
    ),
    Rule(
        "constant",
        "constant rows",
        20,
        _named(families.NORMALISATIONS - {"batch_norm", "rms_norm_back"} | {"softmax", "log_softmax", "std", "var"}),
        _fill("constant", "ties", "zeros"),
    ),
    Rule(
        "kink",
        "inputs on the kink",
        20,
        lambda op: op.kinks is not None and op.vjp is not None and op.name not in ("topk",),
        _fill("kink", "ties", "constant", "zeros", "halves"),
    ),
    Rule("halves", "exact halves", 20, _named(families.ROUNDING), _fill("halves", "kink")),
    Rule(
        "leading",
        "rank 3 or more, leading axes longer than 1 and distinct",
        17,
        _but("arange dot one_hot embedding_quantized diag get_rel_pos timestep_embedding window_unpartition"),
        _when(_leading),
    ),
    Rule("Hq, Hk", "more query heads than key heads", 17, _named({"scaled_dot_product_attention"}), _when(_heads)),
    Rule("extreme", "magnitudes of 15 to 1e7", 16, _EXTREME, _fill("extreme", "candle-2114")),
    Rule("NaN, inf", "NaN and infinities", 12, _SPECIAL, _fill("special")),
    Rule("masked", "rows masked in full", 12, _named(families.ATTENTION), _when(lambda c: "keep" in c.shapes)),
    Rule(
        "> 1024",
        "an axis longer than 1024",
        12,
        _but("arange gated_delta_net gated_linear_attn wkv6 wkv7"),
        _size((1025, 10**9)),
        level="full",
    ),
    Rule(
        "> 4096",
        "a row longer than 4096",
        12,
        _named(
            families.LONG_SUMS
            - families.LOSSES
            - {"group_norm", "instance_norm", "batch_norm", "mul_mat_id", "scaled_dot_product_attention", "bmm"}
        ),
        _size((4097, 10**9)),
    ),
    Rule(
        "> 12288",
        "a row longer than 12288",
        12,
        _named(families.unary() | (families.REDUCTIONS - {"prod", "cumprod"})),
        _size((12289, 10**9)),
        level="full",
    ),
    Rule("groups", "groups with stride on odd sizes", 12, _named(families.GROUPED), _when(_groups)),
    Rule(
        "dilation",
        "stride other than dilation, both set",
        12,
        _named(families.CONVOLUTIONS),
        _when(lambda c: {"stride", "dilation"} <= set(c.kwargs) and c.kwargs["stride"] != c.kwargs["dilation"]),
    ),
    Rule(
        "depthwise",
        "one channel a group",
        12,
        _named(families.GROUPED),
        _when(lambda c: c.kwargs.get("groups", 1) == c.shapes["x"][1] > 1),
    ),
    Rule(
        "long 16-bit sums", "a sum of more than 1000 terms in f16 or bf16", 10, _named(families.LONG_SUMS), _when(_long)
    ),
    Rule(
        "65535 rows",
        "more than 65535 rows",
        9,
        _named(families.unary() | families.REDUCTIONS - {"prod", "cumprod"}),
        _size((65536, 10**9)),
        level="full",
    ),
    Rule(
        "H, W",
        "H other than W, and kernels likewise",
        9,
        _named(families.PLANES - {"pixel_shuffle", "window_partition", "window_unpartition"}),
        _when(_uneven),
    ),
    Rule(
        "permutation",
        "a permutation that is not its own inverse",
        9,
        _named({"permute"}),
        _when(lambda c: _not_involution(c.kwargs["dims"])),
    ),
    Rule(
        "remainder",
        "(n + 2p - d(k-1) - 1) mod s other than 0",
        9,
        _named(families.WINDOWED - {"conv_transpose1d", "conv_transpose2d", "col2im", "im2col_back", "pool_2d_back"}),
        _when(_remainder),
    ),
    Rule("resize", "a resize by no whole number", 9, _named(families.RESIZES), _when(lambda c: _fraction(c))),
    Rule(
        "empty",
        "an axis of 0",
        9,
        _but("arange one_hot dequantize embedding_quantized matmul_quantized quantize as_strided get_rel_pos"),
        _when(lambda c: 0 in _sizes(c)),
    ),
    Rule(
        "size 1",
        "a reduction over one element",
        9,
        _named(families.REDUCTIONS | families.NORMALISATIONS - {"batch_norm"}),
        _when(lambda c: 1 in _sizes(c)),
    ),
    Rule(
        "pads",
        "padding",
        9,
        _named(families.WINDOWED | {"pad"}),
        _when(lambda c: any(c.kwargs.get(n) not in (None, 0, (0, 0)) for n in ("padding", "pad"))),
    ),
    Rule("ceil_mode", "ceil_mode", 9, _named(families.POOLS), _when(lambda c: c.kwargs.get("ceil_mode"))),
    Rule("repeated", "repeated, unsorted indices", 8, _named(families.INDEXED), _when(_over)),
    Rule(
        "negative",
        "inputs all negative",
        7,
        _named(
            families.unary()
            - {"log", "log2", "sqrt", "rsqrt", "acos", "asin", "log1p", "step", "sign", "relu", "relu6", "hardtanh"}
            | {"amax", "max_pool1d", "max_pool2d", "argmax", "softmax", "logsumexp"}
        ),
        _fill("negative"),
    ),
    Rule(
        "broadcast",
        "operands of other shapes, the gradient summed",
        7,
        _named(families.BROADCASTING),
        _when(_broadcasts),
    ),
    Rule(
        "given twice",
        "one tensor as both operands",
        6,
        _named("add mul matmul geglu swiglu count_equal stack concat".split()),
        _when(lambda c: any(isinstance(s, str) for _, s in c.tensors)),
    ),
    Rule(
        "some need",
        "only some inputs need a gradient",
        4,
        lambda op: (
            op.vjp is not None and len(_differentiable(op)) > 1 and op.name not in ("nll_loss", "matmul_quantized")
        ),
        _when(lambda c: c.needs is not None),
    ),
    Rule(
        "offset mean",
        "large mean, small spread",
        2,
        _named(
            families.NORMALISATIONS - {"rms_norm_back"} | {"var", "std", "softmax", "log_softmax", "logsumexp", "mean"}
        ),
        _fill("offset"),
    ),
    Rule("exact", "small integers, compared bit for bit", 0, _multilinear, _fill("exact", "signs")),
    Rule(
        "mask, batch, ALiBi",
        "mask with a batch and ALiBi",
        0,
        _named(families.ATTENTION),
        _when(
            lambda c: (
                {"mask", "attn_mask"} & set(c.shapes)
                and c.kwargs.get("max_bias")
                and next(iter(c.shapes.values()))[0] > 1
            )
        ),
    ),
    Rule(
        "partial rope, strided",
        "partial rotation of strided tensors",
        0,
        _named(families.ROPE),
        _when(lambda c: c.kwargs["n_dims"] != next(iter(c.shapes.values()))[-1] and _strided(c)),
    ),
    Rule(
        "causal, GQA, lengths",
        "causal with grouped heads and unequal lengths",
        0,
        _named({"scaled_dot_product_attention"}),
        _when(lambda c: c.kwargs.get("is_causal") and _heads(c) and c.shapes["query"][2] != c.shapes["key"][2]),
    ),
    Rule(
        "broadcast, strided",
        "operands of other shapes, strided",
        0,
        _named(families.BROADCASTING),
        _when(lambda c: _broadcasts(c) and _strided(c)),
    ),
)
