"""One operation of PyTorch under noise: its name, without overload, decides where the noise goes.

Rules first, then what moves or makes, what is decided, what rounds once per element. All else is decomposed, under the
same noise, and what cannot be decomposed is refused, so that nothing escapes it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opproof.core.errors import OpError
from opproof.harness.reference.torch import dtype_leaks, rounding, stored_outputs
from opproof.harness.reference.torch.arithmetic import (
    Algorithm,
    Arithmetic,
    OutOfTime,
    copy_nested,
    flatten,
    make_scattered,
)
from opproof.harness.reference.torch.dtype_leaks import with_noisy_numbers
from opproof.harness.reference.torch.formulas import ALIGNMENTS, FORMULAS, MEASURED
from opproof.harness.reference.torch.indexed import BAGS, SCATTERED, SEGMENTS
from opproof.harness.reference.torch.intercept import TAKES_FUNCTIONS, with_intercepted_operations
from opproof.harness.reference.torch.linear_algebra import MATRICES
from opproof.harness.reference.torch.random_draws import draws
from opproof.harness.reference.torch.rounding import made_of_others
from opproof.harness.reference.torch.selections import SELECTIONS
from opproof.harness.reference.torch.sums import SUMS
from opproof.harness.reference.torch.windows import RESIZED, SAMPLED, WINDOWS

#: What is said where bits of floats become another number; `{}` is the dtype that they are read as.
READS_BITS = (
    "The reference reads bits as {0} (x.view({0})): of float64, in which it is evaluated, they are others. Give what "
    "it reads as an input, or leave this step out of the reference and the candidate."
)

#: What gives places, by an order that NaN has none in.
_CHOOSES = frozenset(("argmax", "argmin", "argsort", "max", "min", "sort", "topk", "kthvalue", "median"))
_RULES = {**SUMS, **SELECTIONS, **WINDOWS, **RESIZED, **MATRICES, **SCATTERED}
_STEPWISE = {**FORMULAS, **SAMPLED, **BAGS, **SEGMENTS, **ALIGNMENTS}


@contextlib.contextmanager
def with_noise(noise: Arithmetic) -> Iterator[None]:
    """A block in which PyTorch computes as `noise` says: float64 by default, attention as its formula."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch = noise.torch
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        alike = sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False)
        with (
            alike[0],
            alike[1],
            with_intercepted_operations(partial(_count_operation, noise)),
            dtype_leaks.with_named_constants(noise),
            with_noisy_numbers(noise),
        ):
            yield
    finally:
        torch.set_default_dtype(default)


def _count_operation(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if noise.operations.within:
        return evaluate_operation(noise, mode, func, args, kwargs)
    return stored_outputs.count_operation(
        noise, func, flatten((args, kwargs)), lambda: evaluate_operation(noise, mode, func, args, kwargs)
    )


def evaluate_operation(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `func` gives in this arithmetic. Raises OpError, with its name, where it has no rule, and OutOfTime."""
    if noise.late():
        raise OutOfTime
    own = _signature_of(func)
    if own is None:
        raise OpError(TAKES_FUNCTIONS.format(f"{func} of PyTorch"))
    for v in args:
        if getattr(v, "is_meta", False):  # forward mode asks for shapes alone
            return func(*args, **kwargs)
    if own.reads_bits:
        if _is_float(args[0]):
            raise OpError(READS_BITS.format(args[1]))
        if args[1].is_floating_point:  # integers are bits as they are
            return func(*args).to(noise.torch.float64)
    if own.converts and (narrowed := dtype_leaks.to_eight_bits(noise, func, args, kwargs)) is not None:
        return narrowed
    args, kwargs = dtype_leaks.widen_arguments(noise, args, kwargs, keep_first=own.mutable)
    if noise.scattered:
        return make_scattered(noise, (args, kwargs), lambda: _dispatch_operation(noise, mode, func, own, args, kwargs))
    return _dispatch_operation(noise, mode, func, own, args, kwargs)


@dataclass(frozen=True)
class _Signature:
    """What of an operation does not depend on its arguments: it is asked for at every call."""

    name: str
    mutable: bool
    draws: bool
    reads_bits: bool
    converts: bool
    takes_constants: bool  # numbers of Python's that have a roundoff


@functools.cache
def _signature_of(func: Any) -> _Signature | None:
    if not hasattr(func, "_schema"):
        return None
    name = name_of(func)
    return _Signature(
        name=name,
        mutable=bool(func._schema.is_mutable),
        draws=draws(func),
        reads_bits=str(func) == "aten.view.dtype",
        converts=func._schema.name == "aten::_to_copy",
        takes_constants=rounding.takes_constants(name),
    )


def _dispatch_operation(
    noise: Arithmetic, mode: Any, func: Any, own: _Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    if own.mutable:
        return _in_place(noise, mode, func, args, kwargs)
    return _evaluate_functional(noise, mode, func, own, args, kwargs)


def _evaluate_functional(
    noise: Arithmetic, mode: Any, func: Any, own: _Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    name = own.name
    if own.draws:
        return noise.random(func._schema.name, lambda: func(*args, **kwargs))
    if own.takes_constants:
        args, kwargs = rounding.round_constant(noise, name, *made_of_others(noise, name, args, kwargs))
    floats = _has_floats(args, kwargs)
    if name == "_local_scalar_dense" or (not floats and name not in ROUNDS):  # a number for an operation's own use
        return func(*args, **kwargs)
    if noise.exact and name in _CHOOSES:
        noise.tape.unordered |= any(bool(v.isnan().any()) for v in args if _is_float(v))
    if name in _RULES:
        return noise.laid(_RULES[name](noise, func, *args, **kwargs))
    if name in STEPS or name in DECIDES or kwargs.get("rounding_mode") is not None:
        return noise.decide(name, lambda: func(*args, **kwargs))
    if name in MOVES or name in CREATES:
        y = func(*args, **kwargs)
        is_decided = hasattr(y, "shape") and not _is_float(y)  # it became integers or truth values
        return noise.decide(name, lambda: y) if is_decided else y
    if name in ROUNDS:
        return _round_once(noise, func, name, args, kwargs, floats=floats)
    return _decompose(noise, mode, func, args, kwargs)


def _round_once(
    noise: Arithmetic, func: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], *, floats: bool
) -> Any:
    noise.saturates |= name in SATURATES
    y = func(*args, **kwargs)
    if not _is_float(y):
        return y
    if not floats:  # integers with a factor: float32 elsewhere
        dtype_leaks.keep_line(noise, y)
    if name in ("mul", "div") and any(map(rounding.is_power_of_two, args[:2])):
        return y
    if y.is_complex():
        return rounding.round_complex(noise, name, args, y)
    if name in ("add", "sub") and "alpha" not in kwargs:
        return _round_faded(noise, name, args, _round_sum(noise, y, *args[:2]))
    return _round_faded(noise, name, args, rounding.in_places(noise, name, args, y, noise.rounded(y)))


def _round_faded(noise: Arithmetic, name: str, args: Sequence[Any], y: Any) -> Any:
    """`y`, rounded, with what other ways of fading a state leave in it."""
    if noise.algorithm is not Algorithm.OTHER or noise.exact or noise.scattered or name not in ("add", "mul"):
        return y
    a, b = args[:2]
    if not (hasattr(a, "data_ptr") and hasattr(b, "data_ptr") and y.numel()):
        return y
    if name == "mul":
        return (noise.decays.pull if noise.in_backward else noise.decays.multiply)(noise, a, b, y)
    if not noise.in_backward:
        noise.decays.add(a, b, y)
    return y


def _has_floats(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a tensor of floats is among the arguments, in a list of them too."""
    for v in args:
        if _is_float(v):
            return True
    return any(isinstance(v, list | tuple) and any(map(_is_float, flatten(v))) for v in args) or any(
        map(_is_float, flatten(kwargs))
    )


def _round_sum(noise: Arithmetic, y: Any, a: Any, b: Any) -> Any:
    """`y` = a ± b, rounded; the nearest number is no further off than a or b, which are numbers themselves.

    So gradients of slices meet, one number and zeros, without an error, and -1e30 + b, which is -1e30, has that of b.
    """
    z, torch = noise.rounded(y), noise.torch
    if noise.amplitudes is None or not y.numel():
        return z
    least = torch.minimum(*(v.abs() if hasattr(v, "shape") else torch.tensor(abs(float(v))) for v in (a, b)))
    most = noise.amplitudes.u * y.abs()
    small = (least <= most) & y.isfinite()
    if not bool(small.any()):
        return z
    return torch.where(small, y if noise.scattered else y + (z - y) * (least / most).nan_to_num(0.0), z)


def _decompose(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    from torch._decomp import decomposition_table

    name, saturates = name_of(func), noise.saturates
    with mode:
        if name in _STEPWISE:
            y = noise.laid(_STEPWISE[name](noise, func, *args, **kwargs))
            noise.saturates = saturates if name in MEASURED else noise.saturates
            return y
        if func in decomposition_table:
            y = decomposition_table[func](*args, **kwargs)
            if y is not NotImplemented:
                return y
        y = func.decompose(*args, **kwargs)
    if y is not NotImplemented:
        return y
    result = func(*args, **kwargs)  # what only decides needs no rule
    if all((hasattr(v, "shape") and not _is_float(v)) or isinstance(v, bool) for v in flatten(result)):
        return noise.decide(name, lambda: result)
    raise OpError(
        f"{func} of PyTorch has no rule under noise: write the reference with other operations, "
        f"or give it a rule in harness/reference/torch/."
    )


def _in_place(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An operation that changes what it is given: the functional one, and its result copied."""
    name, target = name_of(func), args[0]
    if name in MOVES_IN_PLACE:
        return func(*args, **kwargs)
    if name in ("copy_", "fill_"):
        y = func(*args, **kwargs)
        source = args[1]
        return target.copy_(noise.decide(name, lambda: y)) if _is_float(source) and not _is_float(target) else y
    if draws(func):
        return target.copy_(noise.random(func._schema.name, lambda: copy_nested(func(*args, **kwargs))))
    if name.endswith("_") and func._schema.returns:
        plain = _functional_of(noise, name[:-1], func)
        if plain is not None:
            return target.copy_(evaluate_operation(noise, mode, plain, args, kwargs))
    into = [a.name for a in func._schema.arguments if a.is_out and a.name in kwargs]
    plain = _functional_of(noise, name, func) if into else None
    if plain is not None:
        y = evaluate_operation(noise, mode, plain, args, {k: v for k, v in kwargs.items() if k not in into})
        made = y if isinstance(y, tuple) else (y,)
        found = [kwargs[k].resize_(v.shape).copy_(v) for k, v in zip(into, made, strict=True)]
        return tuple(found) if isinstance(y, tuple) else found[0]
    return _decompose(noise, mode, func, args, kwargs)


def _functional_of(noise: Arithmetic, name: str, func: Any) -> Any:
    """The overload of `name` that takes what `func` does: pow.Tensor_Scalar for pow_.Scalar, add.Tensor for add.out."""
    packet = getattr(noise.torch.ops.aten, name, None)

    def taken(overload: Any) -> list[str]:
        return [str(a.type) for a in overload._schema.arguments if not a.is_out]

    named = [func._overloadname or "default", *(packet.overloads() if packet is not None else ())]
    found = (getattr(packet, overload, None) for overload in named)
    return next((f for f in found if f is not None and not f._schema.is_mutable and taken(f) == taken(func)), None)


@functools.cache
def name_of(func: Any) -> str:
    """The operation's name without namespace and overload."""
    return str(func._schema.name.partition("::")[2])


def _is_float(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and (value.is_floating_point() or value.is_complex())


#: Elementwise, rounded once.
ROUNDS = frozenset(
    """
    add sub rsub mul div true_divide exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square pow
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc erfinv lgamma digamma hypot i0 i0e i1
    i1e special_erfcx special_i0e special_i1 special_i1e special_ndtri special_log_ndtr igamma igammac polygamma
    deg2rad rad2deg angle sinc special_entr special_airy_ai special_bessel_y0 special_bessel_y1 bessel_j0 bessel_j1
    spherical_bessel_j0 special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
    special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
    special_shifted_chebyshev_polynomial_w
    """.split()
)

#: What saturates: where it is flat, the derivative by another formula has a roundoff of what it is elsewhere.
SATURATES = frozenset("exp exp2 expm1 tanh erf erfc".split())

#: Movement and selection by positions and conditions, and what is exact by itself.
MOVES = frozenset(
    """
    view _unsafe_view reshape _reshape_alias permute transpose t expand slice select index gather cat stack split
    split_with_sizes unbind flip roll constant_pad_nd clone _to_copy alias detach squeeze unsqueeze as_strided diagonal
    tril triu where masked_fill index_select embedding repeat unfold pixel_shuffle pixel_unshuffle scatter
    masked_scatter masked_select fill lift_fresh lift lift_fresh_copy neg conj _conj _conj_physical resolve_conj
    resolve_neg _neg_view real imag view_as_real view_as_complex complex slice_scatter select_scatter
    diagonal_scatter as_strided_scatter slice_backward select_backward diagonal_backward index_fill movedim
    im2col channel_shuffle rot90 contiguous positive copysign broadcast_in_dim convert_element_type view_of
    as_strided_copy collapse_view split_dim unsafe_split unsafe_split_with_sizes view_copy expand_copy permute_copy
    transpose_copy t_copy squeeze_copy unsqueeze_copy slice_copy select_copy _reshape_copy copy narrow_copy unfold_copy
    reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
    repeat_interleave zero diag_embed block_diag upsample_nearest1d upsample_nearest2d upsample_nearest3d
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d diagonal_copy alias_copy
    masked_scatter_backward lu_unpack _pack_padded_sequence
    nan_to_num _sparse_mask take chunk glu_jvp unflatten flatten narrow _nested_view view_element_type clone_preserve
    """.split()
)

#: New tensors.
CREATES = frozenset(
    """
    empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full
    full_like new_full arange eye linspace logspace scalar_tensor tril_indices triu_indices _efficientzerotensor iota
    empty_permuted hann_window hamming_window kaiser_window blackman_window
    """.split()
)

#: Piecewise constant: the numbers of the exact evaluation, in every one.
STEPS = frozenset("sign sgn floor ceil round trunc fix floor_divide heaviside special_zeta ".split())

#: Comparisons, predicates, positions: those of the exact evaluation.
DECIDES = frozenset(
    """
    eq ne lt le gt ge isnan isinf isfinite isneginf isposinf signbit logical_and logical_or logical_xor logical_not
    argmax argmin argsort any all nonzero searchsorted bucketize equal is_nonzero isclose isreal multinomial isin
    count_nonzero histc bincount unique_consecutive
    """.split()
)

#: In place, and nothing but movement.
MOVES_IN_PLACE = frozenset(
    "zero_ resize_ set_ t_ transpose_ squeeze_ unsqueeze_ swapdims_ swapaxes_ detach_ as_strided_ resize_as_".split()
)
