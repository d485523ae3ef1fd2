"""The planted defects, and the labels of the diagnosis that are right for each.

Several labels where they are the same thing in some cases: a mean for a sum is a factor 1/n, a
defect that leaves nothing but zeros is zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass

import _plants as p
import numpy as np

from opproof.cases import Case
from opproof.cases._layouts import layouts_of
from opproof.core.verdicts import SIZE
from opproof.reference_ops import load


@dataclass(frozen=True)
class Defect:
    name: str
    labels: tuple[str, ...]
    plant: Callable[[p.Call], list]
    mode: str = ""  # either
    dtypes: tuple[str, ...] = ()  # any
    ops: tuple[str, ...] = ()  # any
    applies: Callable[[Case], bool] = lambda case: True
    #: How many numbers of it only the answer tells, each of which any one wrong element would give.
    free: int = 0
    #: Labels that are as true where what they name gives the same numbers, to the last place: tested at each case.
    twins: tuple[tuple[str, Callable[[p.Call], list]], ...] = ()

    @property
    def of_places(self) -> bool:
        """Whether it is which elements are wrong that tells it."""
        return self.labels[0] in ("tail", "last", "first", "beyond first", "large", "half", "kinks")


def _rank(least: int) -> Callable[[Case], bool]:
    return lambda case: all(len(s) >= least and s[-1] > 4 and s[0] > 1 for s in case.shapes.values())


def _plain(case: Case) -> bool:
    return case.fill in ("normal", "wide", "offset", "positive", "negative")


def _is_plain(op: str) -> bool:
    return op not in ("where", "masked_fill")


def _non_default(case: Case) -> bool:
    return any(not isinstance(load(case.op).params[n], type) and load(case.op).params[n] != v for n, v in case.params)


def _laid(*wanted: str) -> Callable[[Case], bool]:
    return lambda case: any(layout in wanted for layout in layouts_of(case).values())


UNARY = (
    "exp",
    "sigmoid",
    "tanh",
    "gelu",
    "silu",
    "softplus",
    "sin",
    "cos",
    "square",
    "erf",
    "mish",
    "atan",
    "log1p",
    "expm1",
    "relu",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "hardswish",
    "softsign",
    "sinh",
    "rsqrt",
    "sqrt",
)
BINARY = ("add", "sub", "mul", "div", "lerp", "atan2", "maximum", "pow")
REDUCE = ("sum", "mean", "logsumexp", "norm", "var", "std", "amax", "prod")
CONTRACT = ("matmul", "bmm", "linear", "dot", "conv2d", "conv1d", "outer_product", "sum", "mean")
NORMS = ("layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "l2_norm")
KINKED = (
    "relu",
    "leaky_relu",
    "elu",
    "hardtanh",
    "hardswish",
    "relu6",
    "clamp",
    "amax",
    "amin",
    "hardshrink",
    "softshrink",
    "abs",
    "threshold",
    "maximum",
    "minimum",
    "prelu",
)
F32, F16 = ("f32",), ("f16", "bf16")

#: Told by every number, or by the size of errors alone.
PRECISION = ("precision", SIZE)

DEFECTS = [
    Defect("doubled", ("factor",), p.after(lambda y: y * 2)),
    Defect("halved", ("factor",), p.after(lambda y: y * 0.5)),
    Defect("times 1.37", ("factor",), p.after(lambda y: y * 1.37), free=1),
    Defect(
        "over n",
        ("factor", "other parameter", "zeros"),
        p.after(lambda y: y / max(y.shape[-1] if y.ndim else 3, 2)),
        dtypes=("f32", "f16"),
        twins=(("parameter ignored", p.defaults),),  # a mean for a sum, where n is all there is
    ),
    Defect("negated", ("sign",), p.after(lambda y: -y)),
    Defect("absolute value", ("sign", "half"), p.after(np.abs), mode="gradient"),
    Defect("zeros", ("zeros",), p.after(np.zeros_like)),
    Defect(
        "plus a half",
        ("constant added",),
        p.after(lambda y: y + 0.5),
        applies=_plain,
        free=1,
        twins=(("other parameter", p.filled(3.0)),),  # fill's 2.5
    ),
    Defect("copied", ("copy",), p.copied, ops=UNARY, mode="forward"),
    Defect("cotangent copied", ("copy",), p.copied, ops=UNARY, mode="gradient"),
    Defect(
        "transposed",
        ("transposed", "stride ignored"),
        p.after(lambda y: np.swapaxes(y, -1, -2).reshape(y.shape)),
        applies=_rank(2),
        ops=(*UNARY, "matmul", "softmax"),
    ),
    Defect(
        "rolled",
        ("off by one",),
        p.after(lambda y: np.roll(y, 1, -1)),
        applies=_rank(1),
        ops=UNARY + NORMS + ("softmax", "cumsum"),
    ),
    Defect(
        "rolled rows",
        ("off by one", "reversed"),
        p.after(lambda y: np.roll(y, -1, 0)),
        applies=_rank(2),
        ops=UNARY + NORMS + ("softmax", "cumsum"),
    ),
    Defect(
        "off by one in memory",
        ("off by one",),
        p.after(lambda y: np.roll(y.reshape(-1), 1).reshape(y.shape)),
        applies=_rank(2),
        ops=UNARY,
    ),
    Defect("tail of 8 zero", ("tail", "last", "zeros"), p.after(p.tail(8, 0)), applies=_rank(1)),
    Defect("tail of 32 garbage", ("tail", "last", "constant"), p.after(p.tail(32, 7.25)), applies=_rank(1)),
    Defect(
        "tail of 16 in memory",
        ("tail", "last"),
        p.after(p.flat_tail(16, -3)),
        applies=lambda c: _rank(1)(c) and all(np.prod(s) > 16 for s in c.shapes.values()),
        ops=UNARY + BINARY,
    ),
    Defect(
        "first row everywhere",
        ("beyond first", "last", "first everywhere"),
        p.after(p.first_row_everywhere),
        applies=_rank(2),
        ops=UNARY + NORMS,
    ),
    Defect("last row wrong", ("last", "tail", "beyond first"), p.after(p.rows_scaled(-1)), applies=_rank(2)),
    Defect("first row wrong", ("first",), p.after(p.rows_scaled(0)), applies=_rank(2)),
    Defect(
        "NaN at |x| > 3",
        ("large", "overflow", "special", "constant"),
        p.same_shape(p.set_where(lambda x: np.abs(x) > 3, lambda y, x: np.nan * y)),
        ops=UNARY,
    ),
    Defect(
        "wrong at |x| > 2",
        ("large",),
        p.same_shape(p.set_where(lambda x: np.abs(x) > 2, lambda y, x: 1.3 * y + 1)),
        ops=UNARY,
    ),
    Defect("wrong at x > 1.5", ("large",), p.same_shape(p.set_where(lambda x: x > 1.5, lambda y, x: y - 2)), ops=UNARY),
    Defect(
        "wrong at negatives",
        ("half", "large"),
        p.same_shape(p.set_where(lambda x: x < 0, lambda y, x: 0.7 * y + 1)),
        ops=UNARY,
    ),
    Defect(
        "wrong at kinks",
        ("kinks",),
        p.kink_wrong,
        mode="gradient",
        ops=KINKED,
        applies=lambda c: c.fill in ("kink", "ties", "zeros", "halves"),
    ),
    Defect(
        "one at zero",
        ("kinks",),
        p.same_shape(p.set_where(lambda x: x == 0, lambda y, x: y + 1)),
        ops=("sign", "step", "abs", "relu", "gelu", "sin"),
        mode="forward",
    ),
    Defect("bf16 inputs", PRECISION, p.inputs(p.rounded("bf16")), dtypes=F32),
    Defect("f16 inputs", PRECISION, p.inputs(p.rounded("f16")), dtypes=F32),
    Defect("tf32 inputs", PRECISION, p.inputs(p.truncated_tf32), dtypes=F32, ops=CONTRACT + UNARY),
    Defect("bf16 result", PRECISION, p.after(p.rounded("bf16")), dtypes=F32),
    Defect("f16 result", PRECISION, p.after(p.rounded("f16")), dtypes=F32),
    Defect(
        "f16 arithmetic",
        PRECISION,
        p.in_f16,
        dtypes=("f32", "f16"),
        ops=CONTRACT + UNARY + NORMS + REDUCE + ("softmax",),
    ),
    Defect("f32 result", PRECISION, p.after(p.rounded("f32")), dtypes=("f64",)),
    Defect(
        "16-bit accumulator",
        PRECISION,
        p.summed_in_steps,
        mode="forward",
        dtypes=F16,
        ops=("sum", "mean", "matmul", "bmm"),
    ),
    Defect(
        "16-bit intermediates",
        (*PRECISION, "overflow"),  # of an exponential in f16
        p.in_steps,
        mode="forward",
        dtypes=F16,
        ops=("softmax", "rms_norm", "silu", "logsumexp", "softplus"),
    ),
    Defect(
        "inputs swapped",
        ("swapped inputs", "sign"),
        p.swap(0, 1),
        ops=("sub", "div", "atan2", "pow", "matmul", "gt", "le", "fmod"),
        applies=lambda c: c.shapes["a"] == c.shapes.get("b"),
    ),
    Defect(
        "gradients swapped",
        ("swapped inputs", "sign"),
        p.gradients_swapped,
        mode="gradient",
        ops=("mul", "div", "atan2", "matmul", "sub"),
        applies=lambda c: c.shapes["a"] == c.shapes["b"] and c.needs is None,
    ),
    Defect(
        "parameters swapped",
        ("swapped parameters", "zeros", "constant", "copy"),
        p.swap_params,
        ops=("clamp", "threshold", "conv2d", "im2col", "conv1d", "pad"),
    ),
    Defect("default instead", ("parameter ignored", "wrong axis", "factor", "zeros"), p.defaults, applies=_non_default),
    Defect("no eps", ("parameter ignored",), p.no_eps, ops=NORMS),
    Defect(
        "eps outside the root",
        ("eps",),
        p.eps_outside,
        mode="forward",
        ops=("layer_norm",),
        applies=lambda c: len(c.shapes) == 1 and c.shapes["x"][-1] > 5,
    ),
    Defect(
        "a term left out of a row's sum",
        ("row factor", "row shift", "factor", "constant added"),
        p.last_left_out,
        mode="forward",
        ops=("softmax", "log_softmax"),
    ),
    Defect(
        "one key more",
        ("causal edge", "parameter ignored"),
        p.one_key_more,
        mode="forward",
        ops=("scaled_dot_product_attention",),
        applies=lambda c: bool(c.kwargs.get("is_causal")) and c.shapes["query"][-2] > 1,
    ),
    Defect(
        "heads in turn",
        ("heads",),
        p.groups_in_turn,
        mode="forward",
        ops=("scaled_dot_product_attention",),
        applies=lambda c: bool(c.kwargs.get("enable_gqa")) and c.shapes["query"][-3] > c.shapes["key"][-3] > 1,
    ),
    Defect(
        "channels dealt in turn",
        ("groups",),
        p.groups_in_turn,
        mode="forward",
        ops=("group_norm",),
        applies=lambda c: 1 < c.kwargs["num_groups"] < c.shapes["x"][1],
    ),
    Defect(
        "last of equal indices",
        ("overwritten", "not summed"),
        p.overwritten,
        mode="gradient",
        ops=("embedding", "index_select"),
        applies=lambda c: "padding_idx" not in c.kwargs,
    ),
    Defect(
        "variance of samples",
        ("unbiased", "factor", "row factor"),
        p.of_samples,
        mode="forward",
        ops=("layer_norm",),
        applies=lambda c: np.prod(c.kwargs["normalized_shape"]) > 1,
    ),
    Defect(
        "the row's statistic held constant",
        ("statistic", "row shift", "copy"),
        p.statistic_held,
        mode="gradient",
        ops=("rms_norm", "layer_norm", "softmax", "log_softmax"),
        applies=lambda c: c.shapes["x"][-1] > 5,
    ),
    Defect(
        "other axis",
        ("wrong axis",),
        p.other_axis,
        ops=("softmax", "log_softmax", "cumsum", "cumprod", "l2_norm", "argmax"),
        applies=lambda c: isinstance(c.kwargs.get("dim"), int),
    ),
    Defect(
        "other choice",
        ("other parameter", "parameter ignored", "factor", "copy"),
        p.other_choice,
        ops=("gelu", "cross_entropy", "var", "std", "solve_triangular"),
    ),
    Defect("cotangent of ones", ("cotangent ignored",), p.ones, mode="gradient"),
    Defect("first slice", ("not summed", "zeros"), p.unsummed(0), mode="gradient", ops=BINARY),
    Defect("last slice", ("not summed", "zeros"), p.unsummed(-1), mode="gradient", ops=BINARY),
    Defect(
        "half from first call",
        ("stale",),
        lambda call: [None if y is None else np.array(y) for y in call.run()],
        ops=UNARY + NORMS + CONTRACT,
    ),
    Defect(
        "strides ignored",
        ("stride ignored", "transposed"),
        p.as_contiguous,
        applies=_laid("transposed", "permuted", "sliced", "gapped"),
    ),
    Defect("offset ignored", ("offset ignored",), p.from_start, applies=_laid("offset")),
    Defect(
        "no maximum subtracted",
        ("overflow", "large", "constant", "special"),  # special: rows with inf, of which 0s come
        p.no_max,
        mode="forward",
        dtypes=F32 + F16,
        ops=("softmax", "log_softmax", "logsumexp"),
    ),
    Defect(
        "sibling",
        ("other operator", "sign", "parameter ignored", "other parameter", "copy", "factor", "kinks"),
        p.sibling,
        ops=tuple(p.SIBLINGS),
        twins=(  # floor for ceil, without an integer; or for and, where the other is true
            ("constant added", p.after(lambda y: y - 1, op="ceil")),
            ("input ignored", p.last_input_true),
        ),
    ),
    Defect(
        "last term dropped",
        ("terms dropped", "tail", "last", "zeros"),
        p.last_dropped,
        mode="forward",
        ops=(*CONTRACT, "logsumexp", "norm"),
    ),
    Defect(
        "rest past 8 dropped",
        ("terms dropped", "tail", "last", "zeros"),
        p.rest_dropped,
        mode="forward",
        ops=(*CONTRACT, "norm"),
        applies=lambda c: c.tensors[0][1][-1:] > (8,),
    ),
    Defect(
        "last input ignored",
        ("input ignored",),
        p.last_input_missing,
        mode="forward",
        ops=(*NORMS, "linear", "conv2d", "conv1d"),
        applies=lambda c: "weight" in c.shapes,
    ),
    Defect("derivative at the output", ("input ignored",), p.at_output, mode="gradient", ops=UNARY),
    Defect(
        "digits lost near 1",
        ("digits lost", "zeros"),
        p.one_and_away,
        dtypes=("f32", "f64", "bf16"),
        ops=(*UNARY, *NORMS, *REDUCE, "softmax", "atan", "expm1", "log1p", "sinh", "softplus"),
    ),
    Defect("scattered, no pattern", ("",), p.after(p.scattered)),
    Defect("noise, no pattern", ("",), p.after(p.noisy)),
]
