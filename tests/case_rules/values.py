"""Rules of values and parameters, and conjunctions of rules.

Rules of what meets and what adds up: special numbers in pairs, long wholes, texts with long rows, late places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from case_rules import operators as on
from case_rules.long_axes import first_shape_of, is_pointwise_pair, reduces
from case_rules.predicates import (
    Rule,
    broadcasts,
    fill,
    find_far_rows,
    find_long_sums,
    find_params_met,
    heads,
    is_past_tile,
    is_strided,
    list_param_parts,
    make_parts,
)
from opproof.cases import DTYPES_BY_DEFAULT, Case
from opproof.cases._fills.by_tensor import AGREED, SPECIAL_PAIRS, SPECIALS
from opproof.cases._fills.exhaustive import EVERY
from opproof.cases._fills.fills import BRINK, EVERY_BYTE, GROWING, PAST_EXP
from opproof.cases._rows.quantised import BLOCKS, BYTES
from opproof.reference_ops import Op, Trait


def _has_biased_mask(op: Op) -> bool:
    """Whether it takes a mask, and ALiBi's slopes."""
    return on.has_keep_mask(op) and "max_bias" in op.params


def _is_masked_batch(case: Case) -> object:
    """A mask, a batch, and ALiBi."""
    batch = next(iter(case.shapes.values()))[0]
    return {"mask", "attn_mask"} & set(case.shapes) and case.kwargs.get("max_bias") and batch > 1


def _scores(op: Op) -> bool:
    """Whether it takes queries, and keys that are no quantised bytes."""
    return "query" in op.tensors and "type" not in op.params


def _is_partly_rotated(case: Case) -> bool:
    """Some channels are not rotated, and some tensor is strided."""
    return case.kwargs["n_dims"] != next(iter(case.shapes.values()))[-1] and is_strided(case)


def _is_grouped_causal(case: Case) -> object:
    """Causal, grouped heads, and other than as many queries as keys."""
    return case.kwargs.get("is_causal") and heads(case) and case.shapes["query"][2] != case.shapes["key"][2]


def _list_dtypes(_: Op, cases: Sequence[Case]) -> list[str]:
    """The dtypes of an operator's cases, of those that cases have without being told."""
    return sorted({case.dtype for case in cases} & set(DTYPES_BY_DEFAULT))


def _has_crossed_bounds(case: Case) -> bool:
    """Its lower bound is above its upper one."""
    low, high = (case.kwargs.get(name) for name in ("min", "max"))
    return isinstance(low, int | float) and isinstance(high, int | float) and low > high


_SPECIAL_ROWS = ("special-rows", "special-columns")


def _find_model_params(case: Case) -> list[str]:
    """Which parameters are as far from 1 as in models."""
    given, shapes = case.kwargs, list(case.shapes.values())
    far = {
        "freq_base": float(str(given.get("freq_base", 0))) >= 1e5,
        "max_bias": bool(given.get("max_bias")) and len(shapes[0]) > 2 and shapes[0][-3] >= 40,
        "max_period": case.fill == "offset-1e3",
        "eps": float(str(given.get("eps", 1))) <= 1e-12,
    }
    return [name for name, met in far.items() if met]


def _find_every_number(case: Case, op: Op) -> list[str]:
    """The dtype of which the case holds every number, or one of every stretch."""
    whole = case.fill == EVERY and math.prod(case.shapes[op.tensors[0]]) >= 2**16
    return [case.dtype] if whole else []


def _type_of_encoded(case: Case) -> str:
    """The quantised type that a row of floats becomes, none where it stays what it is."""
    return str(case.kwargs.get("type", ""))


def _find_every_byte(case: Case, op: Op) -> list[str]:
    """The quantised type of which the case holds blocks with every value of each byte."""
    del op
    quant = str(case.kwargs["type"])
    size = BLOCKS[quant][1] if quant in BLOCKS else 1  # a code of 8 bits is a block of its own
    blocks = max(math.prod(shape) // size for shape in case.shapes.values() if shape and shape[-1] % size == 0)
    return [quant] if case.fill == EVERY_BYTE and blocks >= BYTES else []


PARAMETERS = (
    Rule(
        *("parameters", "every parameter at a value other than its default", 25),
        lambda op: bool(op.params),
        find_params_met,
        list_param_parts,
    ),
    Rule(
        *("some need", "only some inputs need a gradient", 4),
        on.has_several_gradients,
        make_parts(lambda case: case.needs is not None),
    ),
    Rule(
        *("given twice", "one tensor as both operands", 6),
        on.has_operand_pair,
        make_parts(lambda case: any(isinstance(shape, str) for _, shape in case.tensors)),
    ),
)

VALUES = (
    Rule(
        *("zeros", "exact zeros", 20), on.floats, fill("zeros", "ties", "halves", "kink", "exact", "signs", "special")
    ),
    Rule("ties", "ties where order counts", 20, on.has_trait(Trait.ORDERED), fill("ties", "constant", "kink", "zeros")),
    Rule(*("constant", "constant rows", 20), on.has_trait(Trait.STATISTIC), fill("constant", "ties", "zeros")),
    Rule(
        *("kink", "inputs on the kink", 20), on.has_kinks, fill("kink", "ties", "constant", "zeros", "halves", "signs")
    ),
    Rule("halves", "exact halves", 20, on.has_trait(Trait.ROUNDING), fill("halves", "kink")),
    Rule("extreme", "magnitudes of 15 to 1e7", 16, on.floats, fill("extreme", "candle-2114")),
    Rule("NaN, inf", "NaN and infinities", 12, on.floats, fill("special", *_SPECIAL_ROWS)),
    Rule(
        *("special rows", "rows of only -inf, inf, NaN, or one of them: along the last axis, and the first by dim", 12),
        on.by_rows,
        lambda case, _: [case.fill, "either"] if case.fill in _SPECIAL_ROWS else [],
        lambda op, cases: _SPECIAL_ROWS if "dim" in op.params else ("either",),
    ),
    Rule("masked large", "masked elements of 1e30 beside ordinary ones", 12, on.can_hide, fill("masked")),
    Rule("masked NaN", "masked elements that are NaN or infinite", 12, on.can_hide, fill("masked-special")),
    Rule(
        *("every value", "every number of f16 and bf16, and one of each of 65536 stretches of f32", 0),
        on.is_float_map,
        _find_every_number,
        _list_dtypes,
    ),
    Rule(
        *("every byte", "all 256 values of every byte of a quantised block, but of its scale", 0),
        on.has_quantised_bytes,
        _find_every_byte,
        lambda op, cases: sorted({str(case.kwargs["type"]) for case in cases if "type" in case.kwargs}),
    ),
    Rule("masked", "rows masked in full", 12, on.has_keep_mask, make_parts(lambda case: "keep" in case.shapes)),
    Rule(
        *("16-bit sums", "a sum of over 1000 terms in f16, and one in bf16", 10),
        on.has_trait(Trait.LONG_SUM),
        find_long_sums,
        lambda op, cases: ("f16", "bf16"),
    ),
    Rule(
        *("negative", "inputs all negative", 7),
        on.any_of(on.is_unary, on.has_trait(Trait.ROWWISE, Trait.ORDERED)),
        fill("negative"),
    ),
    Rule(*("offset mean", "large mean, small spread", 2), on.has_trait(Trait.STATISTIC), fill("offset")),
)

LIMITS = (
    Rule("far", "scores all above 5e4, and all below -5e4", 0, on.has_trait(Trait.SHARES), fill("far")),
    Rule(
        *("mean / spread", "a mean of 1e3 and of 1e4 times the spread", 0),
        on.has_row_mean,
        lambda case, _: [case.fill],
        lambda op, cases: ("offset-1e3", "offset-1e4"),
    ),
    Rule(
        *("past exp", "rows of over 128 numbers whose exponentials are past the largest of f32, in each dtype", 0),
        on.all_of(on.has_trait(Trait.SHARES), on.has_trait(Trait.ROWWISE)),
        lambda case, op: [case.dtype] if case.fill == PAST_EXP and is_past_tile(case, op) else [],
        _list_dtypes,
    ),
    Rule(
        *("ties, long", "ties in a row of over 128, where blocks' own first ones meet", 0),
        on.all_of(on.has_trait(Trait.ORDERED), on.has_trait(Trait.ROWWISE)),
        lambda case, op: [""] if case.fill in ("ties", "constant") and is_past_tile(case, op) else [],
    ),
    Rule(
        *("far rows", "rows past 4096 by number, of 65,536 elements and more, in each dtype", 0),
        on.tables,
        find_far_rows,
        _list_dtypes,
    ),
    Rule(
        *("past int32", "quotients that no integer of 32 bits holds", 0),
        lambda op: Trait.ROUNDING in op.traits and "scale" in op.tensors,
        fill("past-int32"),
    ),
    Rule(
        "crossed", "a lower bound above the upper one", 0, on.has_params("min", "max"), make_parts(_has_crossed_bounds)
    ),
    Rule(
        *("growing", "weights whose gradients add up thousands of rows, all of one sign: 16 bits stop growing", 0),
        on.all_of(on.has_weights, lambda op: op.vjp is not None and not op.is_exact("gradient")),
        lambda case, op: [case.dtype] if case.fill == GROWING else [],
        lambda op, cases: ("f16", "bf16"),
    ),
    Rule(
        *("brink", "targets, weights, gates and moments on the ends of what they may be, and close to them", 0),
        lambda op: bool(on.find_closed_domains(op)),
        lambda case, op: on.find_domain_ends(case, op) if case.fill == BRINK else [],
        lambda op, cases: on.find_closed_domains(op),
    ),
    Rule(
        *("lone", "rows of zeros, of one number among over 1024 zeros, of one zero; or blocks of them", 0),
        on.any_of(on.all_of(on.has_trait(Trait.JUMPS_AT_ZERO), on.has_trait(Trait.ROWWISE)), on.encodes),
        lambda case, op: (
            [_type_of_encoded(case)] if case.fill == "lone" and (on.encodes(op) or is_past_tile(case, op)) else []
        ),
        lambda op, cases: {_type_of_encoded(case) for case in cases},
    ),
    Rule(
        *("far positions", "positions of 131071, in each dtype: 16 bits count to 256 or 2048 by one", 0),
        on.has_params("freq_base"),
        lambda case, op: [case.dtype] if float(str(case.kwargs.get("freq_base", 0))) >= 1e5 else [],
        _list_dtypes,
    ),
    Rule("heavy", "sums past the largest number of f16 whose mean fits", 0, on.has_mean, fill("heavy")),
    Rule(
        *("branches", "both sides of where formulas switch, in f64 too", 0),
        on.is_formula_of_one,
        lambda case, _: ["f64" if case.dtype == "f64" else "f32"] if case.fill == "branches" else [],
        lambda op, cases: ("f32", "f64"),
    ),
    Rule("least", "numbers about the smallest normal one", 0, on.is_formula_of_one, fill("least")),
    Rule("infinite", "infinities, the gradient asked for too", 0, on.is_formula_of_one, fill("infinite")),
    Rule("edges", "the next numbers on both sides of a kink", 0, on.has_formula_edge, fill("edges")),
    Rule(
        *("as in models", "positions of 131071, 40 heads, timesteps of 1000, an eps of 1e-12", 0),
        on.as_in_models,
        lambda case, _: _find_model_params(case),
        lambda op, cases: on.list_model_params(op),
    ),
    Rule("meet", "two tensors equal in half of their places", 0, on.has_comparison, fill("meet")),
)

CONJUNCTIONS = (
    Rule("exact", "small integers, compared bit for bit", 0, on.is_multilinear, fill("exact", "signs")),
    Rule("mask, batch, ALiBi", "a mask with a batch and ALiBi", 0, _has_biased_mask, make_parts(_is_masked_batch)),
    Rule("opposed", "scores of a product all far below 0", 0, _scores, fill("opposed")),
    Rule("padded", "rows that a mask leaves out from their beginning on", 0, on.has_keep_mask, fill("padded")),
    Rule(
        "partial, strided",
        "partial rope of strided tensors",
        0,
        on.has_params("n_dims"),
        make_parts(_is_partly_rotated),
    ),
    Rule(
        *("causal, GQA", "causal with grouped heads and unequal lengths", 0),
        on.has_params("is_causal"),
        make_parts(_is_grouped_causal),
    ),
    Rule(
        *("broadcast, strided", "operands of other shapes, strided: the gradient summed", 0),
        on.has_trait(Trait.BROADCASTS),
        make_parts(lambda case: broadcasts(case) and is_strided(case)),
    ),
    Rule(
        *("agreed", "scores of a product all past what exponentials hold, in each dtype", 0),
        _scores,
        lambda case, op: [case.dtype] if case.fill == AGREED else [],
        _list_dtypes,
    ),
    Rule(
        "truths", "masks that hold what is true beside 1", 0, lambda op: bool(on.find_truth_masks(op)), fill("truths")
    ),
)


#: Terms that 256 blocks of 256 add up, and places that 16 bits count.
_STAGES = _PLACES = 2**16
#: Terms past which 16 bits count no further.
_MAX_COUNTED_TERMS = 1024


def _is_long_whole(case: Case) -> bool:
    """More terms of several axes than the blocks of a first stage have room for."""
    shape = first_shape_of(case)
    return "dim" in case.kwargs and case.kwargs["dim"] is None and len(shape) > 1 and math.prod(shape) > _STAGES


def _of_all(op: Op) -> bool:
    """Whether it makes one number of all, by sums or an order: no product, no truth value."""
    counts = not op.traits.isdisjoint((Trait.STATISTIC, Trait.ORDERED, Trait.LONG_SUM))
    return reduces(op) and op.params["dim"] is None and counts


def _has_late_rows(case: Case) -> bool:
    """Three rows or more, of which two thirds lie past what 16 bits count."""
    shape = first_shape_of(case)
    return math.prod(shape[:-1]) >= 3 and case.kwargs.get("dim") == -1 and shape[-1] >= 3 * _PLACES


def _finds(op: Op) -> bool:
    """Whether it says where in a row one of its elements stands."""
    return reduces(op) and Trait.ORDERED in op.traits and op.vjp is None


def _list_order_params(op: Op) -> list[str]:
    """Parameters that turn an order round."""
    return [n for n, default in op.params.items() if isinstance(default, bool) and n != "keepdim"]


def _find_turned(case: Case, op: Op) -> list[str]:
    rows = case.fill in ("special-rows", "special-columns")
    return [f"{n}={case.kwargs.get(n, op.params[n])}" for n in _list_order_params(op)] if rows else []


def _find_modes(case: Case, op: Op) -> list[str]:
    """What texts say of a case with over 1024 elements, by dtype."""
    chosen = {name: case.kwargs.get(name, op.params[name]) for name in _list_text_params(op)}
    return [
        f"{name}={value} {case.dtype}"
        for name, value in chosen.items()
        if math.prod(first_shape_of(case)) > _MAX_COUNTED_TERMS
    ]


def _list_mode_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """Every text that some case has, in f32 and bf16: f16 holds no gradient of a mean of so many."""
    met = {(n, case.kwargs.get(n, op.params[n])) for case in cases for n in _list_text_params(op)}
    return {f"{name}={value} {dtype}" for name, value in met for dtype in ("f32", "bf16")}


def _list_text_params(op: Op) -> list[str]:
    return [name for name, default in op.params.items() if isinstance(default, str)]


WHOLES = (
    Rule(
        *("special pairs", f"each of {len(SPECIALS)} numbers, special and ordinary ones, meets each, in each dtype", 0),
        on.all_of(is_pointwise_pair, on.floats, lambda op: op.tensors == ("a", "b")),
        lambda case, _: [case.dtype] if case.fill == SPECIAL_PAIRS else [],
        lambda op, cases: ("f32", "f16", "bf16"),
    ),
    Rule(
        *("special rows, turned", "rows of special numbers in either order", 0),
        lambda op: Trait.ORDERED in op.traits and "dim" in op.params and bool(_list_order_params(op)),
        _find_turned,
        lambda op, cases: [f"{n}={way}" for n in _list_order_params(op) for way in (False, True)],
    ),
    Rule("of all", "one result of several axes of over 65,536 terms", 0, _of_all, make_parts(_is_long_whole)),
    Rule(
        *("modes, long", "every text that a parameter may be with over 1024 elements, in f32 and bf16", 0),
        lambda op: {Trait.LONG_SUM, Trait.ROWWISE} <= op.traits,
        _find_modes,
        _list_mode_parts,
    ),
    Rule("late places", "places past 65,535, where what is looked for stands", 0, _finds, make_parts(_has_late_rows)),
)
