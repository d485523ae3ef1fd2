"""Rules of values and parameters, and conjunctions of rules."""

from __future__ import annotations

from opproof.cases import Case
from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import (
    Rule,
    broadcasts,
    fill,
    heads,
    long,
    param_parts,
    params_met,
    strided,
    when,
)


def _masked(case: Case) -> object:
    """A mask, a batch, and ALiBi."""
    batch = next(iter(case.shapes.values()))[0]
    return {"mask", "attn_mask"} & set(case.shapes) and case.kwargs.get("max_bias") and batch > 1


def _partial(case: Case) -> bool:
    """Some channels are not rotated, and some tensor is strided."""
    return case.kwargs["n_dims"] != next(iter(case.shapes.values()))[-1] and strided(case)


def _causal(case: Case) -> object:
    """Causal, grouped heads, and other than as many queries as keys."""
    return case.kwargs.get("is_causal") and heads(case) and case.shapes["query"][2] != case.shapes["key"][2]


PARAMETERS = (
    Rule(
        *("parameters", "every parameter at a value other than its default", 25),
        lambda op: bool(op.params),
        params_met,
        param_parts,
    ),
    Rule(
        *("some need", "only some inputs need a gradient", 4),
        on.several_gradients,
        when(lambda case: case.needs is not None),
    ),
    Rule(
        *("given twice", "one tensor as both operands", 6),
        on.named("add mul matmul geglu swiglu count_equal stack concat".split()),
        when(lambda case: any(isinstance(shape, str) for _, shape in case.tensors)),
    ),
)

VALUES = (
    Rule(
        *("zeros", "exact zeros", 20),
        on.floats_but("log log2 rsqrt reciprocal topk count_equal"),
        fill("zeros", "ties", "halves", "kink", "exact", "signs", "special"),
    ),
    Rule("ties", "ties where order counts", 20, on.named(on.ORDERED), fill("ties", "constant", "kink", "zeros")),
    Rule(
        *("constant", "constant rows", 20),
        on.named(on.NORMALISATIONS - {"batch_norm", "rms_norm_back"} | {"softmax", "log_softmax", "std", "var"}),
        fill("constant", "ties", "zeros"),
    ),
    Rule(
        *("kink", "inputs on the kink", 20),
        lambda op: op.kinks is not None and op.vjp is not None,
        fill("kink", "ties", "constant", "zeros", "halves", "signs"),
    ),
    Rule("halves", "exact halves", 20, on.named(on.ROUNDING), fill("halves", "kink")),
    Rule("extreme", "magnitudes of 15 to 1e7", 16, on.EXTREME, fill("extreme", "candle-2114")),
    Rule("NaN, inf", "NaN and infinities", 12, on.SPECIAL, fill("special")),
    Rule("masked", "rows masked in full", 12, on.named(on.ATTENTION), when(lambda case: "keep" in case.shapes)),
    Rule("16-bit sums", "a sum of over 1000 terms in f16 or bf16", 10, on.named(on.LONG_SUMS), when(long)),
    Rule("negative", "inputs all negative", 7, on.named(on.NEGATIVE), fill("negative")),
    Rule(
        *("offset mean", "large mean, small spread", 2),
        on.named(
            on.NORMALISATIONS - {"rms_norm_back"} | frozenset("var std softmax log_softmax logsumexp mean".split())
        ),
        fill("offset"),
    ),
)

CONJUNCTIONS = (
    Rule("exact", "small integers, compared bit for bit", 0, on.multilinear, fill("exact", "signs")),
    Rule("mask, batch, ALiBi", "a mask with a batch and ALiBi", 0, on.named(on.ATTENTION), when(_masked)),
    Rule("partial, strided", "partial rope of strided tensors", 0, on.named(on.ROPE), when(_partial)),
    Rule(
        *("causal, GQA", "causal with grouped heads and unequal lengths", 0),
        on.named({"scaled_dot_product_attention"}),
        when(_causal),
    ),
    Rule(
        *("broadcast, strided", "operands of other shapes, strided: the gradient summed", 0),
        on.named(on.BROADCASTING),
        when(lambda case: broadcasts(case) and strided(case)),
    ),
)
