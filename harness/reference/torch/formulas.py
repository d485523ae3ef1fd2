"""Operations that PyTorch has as one, as the steps that round; where float64 itself cancels, by another exact way.

The loss of all alignments of a sequence is that of Graves et al. 2006, "Connectionist Temporal Classification",
equations 6 to 16, in logarithms. As PyTorch's, its gradient is that of log-probabilities which come of a log-softmax: p
less the share of alignments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic
from opproof.harness.reference.torch.intercept import with_modes_off
from opproof.harness.reference.torch.stored_outputs import find_largest_score
from opproof.harness.reference.torch.sums import Rule, axes_of, count

_ROOT_HALF = math.sqrt(0.5)


def _decompose(func: Any, *args: Any, **options: Any) -> Any:
    """What an operation gives by the steps that PyTorch itself has for it."""
    from torch._decomp import decomposition_table

    return decomposition_table[func](*args, **options)


def _is_usual(noise: Arithmetic) -> bool:
    """Whether the formula is the usual one: no other way is measured."""
    return noise.exact or noise.algorithm is not Algorithm.OTHER


def compute_sigmoid(noise: Arithmetic, func: Any, x: Any) -> Any:
    """sigmoid, without overflow."""
    del func
    e = (-x.abs()).exp()
    return noise.torch.where(x >= 0, 1 / (1 + e), e / (1 + e))


def differentiate_sigmoid(noise: Arithmetic, func: Any, g: Any, y: Any) -> Any:
    """sigmoid_backward; by way of the complement y has a roundoff of 1, where it is small as where it is not."""
    del func
    if not _is_usual(noise):
        y = y + roundoff_of(noise, lambda: noise.torch.ones_like(y))
    return g * ((1 - y) * y)


def compute_silu(noise: Arithmetic, func: Any, x: Any) -> Any:
    del noise, func
    return x * x.sigmoid()


def _compute_normal_cdf(noise: Arithmetic, x: Any) -> Any:
    """The normal distribution: (1 + erf(x / root 2)) / 2."""
    if noise.exact:
        return (-x * _ROOT_HALF).erfc() * 0.5
    return (1 + (x * _ROOT_HALF).erf()) * 0.5


def compute_gelu(noise: Arithmetic, func: Any, x: Any, *, approximate: str = "none") -> Any:
    """Gelu and its tanh form."""
    if approximate == "tanh":
        inner = (x + 0.044715 * (x * x * x)) * math.sqrt(2 / math.pi)
        return 0.5 * x * (1 + inner.tanh())
    del func
    return x * _compute_normal_cdf(noise, x)


def differentiate_gelu(noise: Arithmetic, func: Any, g: Any, x: Any, *, approximate: str = "none") -> Any:
    """gelu_backward; the tanh form as PyTorch writes it."""
    if approximate == "tanh":
        return _decompose(func, g, x, approximate=approximate)
    density = (x * x * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
    return g * (_compute_normal_cdf(noise, x) + x * density)


def compute_softmax(noise: Arithmetic, func: Any, x: Any, dim: int, *rest: Any) -> Any:
    """_softmax; by way of a saved logsumexp its roundoff is in every share of the row alike.

    Of two shares the one as the complement of the other, sigmoid(a - b), has a roundoff of 1.
    """
    y = _decompose(func, x, dim, *rest)
    most = noise.size("largest score", lambda: find_largest_score(x, dim))
    if noise.exact:
        noise.products.shares.append((y, most))
    if _is_usual(noise):
        return y
    z = y + y * (_roundoff_of_logsumexp(noise, x, dim) + _roundoff_of_scores(noise, most, y))
    two = bool(y.dim()) and y.shape[dim] == 2
    return z + roundoff_of(noise, lambda: noise.torch.ones_like(y)) if two else z


def differentiate_softmax(noise: Arithmetic, func: Any, g: Any, y: Any, dim: int, *rest: Any) -> Any:
    """_softmax_backward_data, with what goes through a largest element that was subtracted.

    Of two shares by way of sigmoid(a - b), whose y (1 - y) has a roundoff of 1; of attention by its saved output.
    """
    d = _decompose(func, g, y, dim, *rest)
    size = noise.size("sum(g o)", lambda: noise.products.rounding(g, y) if dim in (-1, y.dim() - 1) else None)
    most = noise.size("scores", lambda: noise.products.largest(y))
    if _is_usual(noise) or not y.numel() or not y.dim():
        return d
    if size is not None and noise.saved:
        d = d - _read_back(noise, y, size)
    if most is not None:
        d = d + d * _roundoff_of_scores(noise, most, y)
    d = d + _place_roundoffs_at_largest(noise, y, dim, lambda: (g * y).abs() + y * (g * y).sum(dim, keepdim=True).abs())
    if y.shape[dim] != 2:
        return d
    return d + roundoff_of(noise, lambda: g.detach().gather(dim, y.detach().argmax(dim, keepdim=True)))


def _read_back(noise: Arithmetic, y: Any, size: Any) -> Any:
    """What shares `y` of a row get too much where sum(g o) is off by roundoffs of o, as many as `size` has."""
    with with_modes_off():
        return y.detach() * (size * noise.saved * noise.drawn(size))


def compute_log_softmax(noise: Arithmetic, func: Any, x: Any, dim: int, *rest: Any) -> Any:
    """_log_softmax; by way of a saved logsumexp, alike."""
    y = _decompose(func, x, dim, *rest)
    return y if _is_usual(noise) else y + _roundoff_of_logsumexp(noise, x, dim)


def differentiate_log_softmax(noise: Arithmetic, func: Any, g: Any, y: Any, dim: int, *rest: Any) -> Any:
    """_log_softmax_backward_data; of logits as differences to one of them, the shares' sum stands where 1 stood."""
    d = _decompose(func, g, y, dim, *rest)
    if _is_usual(noise) or not y.numel():
        return d
    d = d + _place_roundoffs_at_largest(noise, y, dim, lambda: g.abs() + y.exp() * g.sum(dim, keepdim=True).abs())
    return d + d * roundoff_of(noise, lambda: y.detach().nan_to_num(0.0, 0.0, 0.0).abs().amax(dim, keepdim=True))


def _place_roundoffs_at_largest(noise: Arithmetic, y: Any, dim: int, terms: Callable[[], Any]) -> Any:
    """At the largest element of `y` along `dim` the roundoffs of `terms`, elsewhere 0.

    Autograd through x - amax(x) sends there what it sends to all, negated and summed: 0, but for what was rounded.
    """
    with with_modes_off():
        plain = y.detach()
        off = roundoff_of(noise, lambda: terms().detach()).sum(dim, keepdim=True)
        return noise.torch.zeros_like(plain).scatter(dim, plain.argmax(dim, keepdim=True), off)


def _roundoff_of_logsumexp(noise: Arithmetic, x: Any, dim: int) -> Any:
    return roundoff_of(noise, lambda: x.detach().logsumexp(dim, keepdim=True))


def _roundoff_of_scores(noise: Arithmetic, most: Any, like: Any) -> Any:
    """What scores of rows with such a largest one differ by, each for itself, that a backward pass computes again.

    It may scale the keys where the product was scaled.
    """
    return roundoff_of(noise, lambda: most.expand_as(like))


def roundoff_of(noise: Arithmetic, made: Callable[[], Any]) -> Any:
    """What rounding a tensor changes; 0 where it is no number. `made` is evaluated without noise."""
    with with_modes_off():
        plain = made()
        return (noise.rounded(plain) - plain).nan_to_num_(0.0, 0.0, 0.0)


def _compute_moments(x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    axes = axes_of(x, dim)
    mean = x.mean(axes, keepdim=True)
    apart = x - mean
    free = max(0.0, count(x, axes) - (1 if correction is None else correction))
    variance = (apart * apart).sum(axes, keepdim=keepdim) / free
    return variance, mean if keepdim else mean.squeeze(axes)


def _parse_moments_call(x: Any, args: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Variance and its kin: (x, unbiased), (x, dim, unbiased, keepdim), (x, dim, correction=, keepdim=)."""
    if args and isinstance(args[0], bool):
        return _compute_moments(x, None, int(args[0]), False)
    dim = args[0] if args else options.get("dim")
    correction = options.get("correction", args[1] if len(args) > 1 else options.get("unbiased"))
    keepdim = options.get("keepdim", args[2] if len(args) > 2 else False)
    return _compute_moments(x, dim, correction if correction is None else float(correction), keepdim)


def _make_moments_rule(taken: Callable[[Any, Any], Any]) -> Rule:
    """The rule of what is made of a variance and a mean."""
    return lambda _noise, _func, x, *args, **options: taken(*_parse_moments_call(x, args, options))


def compute_vector_norm(
    noise: Arithmetic, func: Any, x: Any, order: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any
) -> Any:
    """linalg_vector_norm."""
    del func
    axes = axes_of(x, dim)
    if math.isinf(order):
        return x.abs().amax(axes, keepdim=keepdim) if order > 0 else x.abs().amin(axes, keepdim=keepdim)
    if order == 0:
        return (x != 0).to(noise.torch.float64).sum(axes, keepdim=keepdim)
    if order == 1:
        return x.abs().sum(axes, keepdim=keepdim)
    if order == 2:
        return (x.abs() * x.abs()).sum(axes, keepdim=keepdim).sqrt()
    return x.abs().pow(order).sum(axes, keepdim=keepdim).pow(1 / order)


def compute_distances(noise: Arithmetic, func: Any, a: Any, b: Any, p: float, *_: Any) -> Any:
    """_cdist_forward."""
    del func
    return noise.torch.linalg.vector_norm(a.unsqueeze(-2) - b.unsqueeze(-3), p, -1)


def compute_trilinear(
    noise: Arithmetic, func: Any, a: Any, b: Any, c: Any, new_a: Any, new_b: Any, new_c: Any, axes: Any, *_: Any
) -> Any:
    """_trilinear: a product of three, each with new axes, summed over others."""
    del noise, func
    for k in range(len(axes) + 8):
        a, b, c = (v.unsqueeze(k) if k in new else v for v, new in ((a, new_a), (b, new_b), (c, new_c)))
    return (a * b * c).sum(axes)


def differentiate_elu(
    noise: Arithmetic, func: Any, g: Any, alpha: Any, scale: Any, input_scale: Any, is_result: bool, x: Any
) -> Any:
    """elu_backward; by way of the saved y it is g (y + alpha) below 0, with a roundoff of alpha."""
    d = _decompose(func, g, alpha, scale, input_scale, is_result, x)
    if _is_usual(noise):
        return d
    factor = alpha * scale * input_scale
    return d + roundoff_of(noise, lambda: (g.detach() * factor).masked_fill(x.detach() >= 0, 0.0))


def differentiate_distances(noise: Arithmetic, func: Any, g: Any, a: Any, b: Any, p: float, y: Any) -> Any:
    """_cdist_backward."""
    del noise, func
    return (g.unsqueeze(-1) * _share(a.unsqueeze(-2) - b.unsqueeze(-3), p, y)).sum(-2)


def _share(apart: Any, p: float, y: Any) -> Any:
    """The derivative of a distance `y` by what is apart; that of the number of differences is 0."""
    y = y.unsqueeze(-1)
    if p == 0:
        return apart * 0.0
    return (apart.sign() * (apart.abs() / y).pow(p - 1)).masked_fill(y == 0, 0.0)


FORMULAS: dict[str, Rule] = {
    "sigmoid": compute_sigmoid,
    "sigmoid_backward": differentiate_sigmoid,
    "silu": compute_silu,
    "_softmax": compute_softmax,
    "_softmax_backward_data": differentiate_softmax,
    "_log_softmax": compute_log_softmax,
    "_log_softmax_backward_data": differentiate_log_softmax,
    "gelu": compute_gelu,
    "gelu_backward": differentiate_gelu,
    "var": _make_moments_rule(lambda variance, _: variance),
    "var_mean": _make_moments_rule(lambda variance, mean: (variance, mean)),
    "std": _make_moments_rule(lambda variance, _: variance.sqrt()),
    "std_mean": _make_moments_rule(lambda variance, mean: (variance.sqrt(), mean)),
    "linalg_vector_norm": compute_vector_norm,
    "_cdist_forward": compute_distances,
    "_cdist_backward": differentiate_distances,
    "_trilinear": compute_trilinear,
    "elu_backward": differentiate_elu,
}

#: Formulas whose other honest way is an evaluation of its own.
MEASURED = frozenset(
    ("sigmoid", "_softmax", "_softmax_backward_data", "_log_softmax", "_log_softmax_backward_data", "elu_backward")
)


_LOG_ZERO = float("-inf")


def _read_lengths(torch: Any, given: Any) -> Any:
    return given.long() if hasattr(given, "shape") else torch.tensor(list(given))


def _interleave_blanks(torch: Any, targets: Any, lengths: Any, blank: int) -> Any:
    """(sequences, 2 S + 1): labels with blanks between; blanks past the end of the shorter."""
    most = targets.shape[1] if targets.dim() == 2 else int(lengths.max()) if len(lengths) else 0
    found = torch.full((len(lengths), 2 * most + 1), blank)
    starts = lengths.cumsum(0) - lengths
    for i, n in enumerate(lengths.tolist()):
        found[i, 1 : 2 * n : 2] = targets[i, :n] if targets.dim() == 2 else targets[starts[i] : starts[i] + n]
    return found


def _sum_logs(torch: Any, terms: Any) -> Any:
    """The logarithm of a sum of exponentials over the first axis."""
    largest = terms.amax(0)
    largest = torch.where(largest == _LOG_ZERO, 0.0, largest)
    return (terms - largest).exp().sum(0).log() + largest


def _shift_places(x: Any, by: int) -> Any:
    return (
        x.new_full(x.shape, _LOG_ZERO).slice_scatter(x[:, : x.shape[1] - by], 1, by)
        if by < x.shape[1]
        else x + _LOG_ZERO
    )


def _sum_paths(torch: Any, emitted: Any, skips: Any) -> Any:
    """(steps, sequences, places): the logarithm of all ways to each place."""
    now = emitted[0].masked_fill(torch.arange(emitted.shape[2]) > 1, _LOG_ZERO)
    found = [now]
    for t in range(1, len(emitted)):
        ways = torch.stack([now, _shift_places(now, 1), torch.where(skips, _shift_places(now, 2), _LOG_ZERO)])
        now = _sum_logs(torch, ways) + emitted[t]
        found.append(now)
    return torch.stack(found)


def _prepare_alignment(torch: Any, x: Any, targets: Any, lengths: Any, blank: int) -> tuple[Any, Any, Any]:
    """What each place emits in each step, nothing past a sequence's last label; what may be skipped to; the labels."""
    labels = _interleave_blanks(torch, targets, lengths, blank)
    emitted = x.gather(2, labels.expand(x.shape[0], *labels.shape))
    emitted = emitted.masked_fill(torch.arange(labels.shape[1]) > 2 * lengths[:, None], _LOG_ZERO)
    skips = torch.zeros_like(labels, dtype=torch.bool)
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    return emitted, skips, labels


def compute_ctc_loss(
    noise: Arithmetic, func: Any, x: Any, targets: Any, inputs: Any, lengths: Any, blank: int = 0, *_: Any
) -> tuple[Any, Any]:
    """_ctc_loss: of each sequence, and the ways to each place (sequences, steps, places)."""
    del func
    torch = noise.torch
    inputs, lengths = _read_lengths(torch, inputs), _read_lengths(torch, lengths)
    emitted, skips, _ = _prepare_alignment(torch, x, targets, lengths, blank)
    ways = _sum_paths(torch, emitted, skips)
    last = ways[inputs - 1, torch.arange(len(inputs))]
    ends = torch.stack([2 * lengths, (2 * lengths - 1).clamp_min(0)], 1)
    found = last.gather(1, ends)
    found = torch.stack([found[:, 0], torch.where(lengths > 0, found[:, 1], _LOG_ZERO)])
    return -_sum_logs(torch, found), ways.transpose(0, 1)


def differentiate_ctc_loss(
    noise: Arithmetic, func: Any, g: Any, x: Any, targets: Any, inputs: Any, lengths: Any, value: Any, ways: Any,
    blank: int, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """_ctc_loss_backward, from either end."""
    del func
    torch = noise.torch
    inputs, lengths = _read_lengths(torch, inputs), _read_lengths(torch, lengths)
    emitted, _, labels = _prepare_alignment(torch, x, targets, lengths, blank)
    steps, count, places = emitted.shape
    # Every sequence turned round, its last step and its last place first: then the ways back are ways forward.
    t = (inputs[None] - 1 - torch.arange(steps)[:, None]) % steps
    s = (2 * lengths[:, None] - torch.arange(places)) % places
    turned = emitted[t, torch.arange(count)].gather(2, s.expand(steps, count, places))
    around = labels.gather(1, s)
    skips = torch.zeros_like(labels, dtype=torch.bool)
    skips[:, 2:] = (around[:, 2:] != blank) & (around[:, 2:] != around[:, :-2])
    back = _sum_paths(torch, turned, skips)
    back = back[t, torch.arange(count)].gather(2, s.expand(steps, count, places))
    both = ways.transpose(0, 1) + back
    live = (both > _LOG_ZERO) & (emitted > _LOG_ZERO)
    shares = torch.where(live, both - torch.where(live, emitted, 0.0) + value[:, None], _LOG_ZERO).exp()
    found = x.exp() - torch.zeros_like(x).scatter_add(2, labels.expand(shares.shape), shares)
    found = found * g[:, None]
    found = found.masked_fill((torch.arange(steps)[:, None] >= inputs)[:, :, None], 0.0)
    return found.masked_fill((value == float("inf"))[:, None], 0.0) if zero_infinity else found


ALIGNMENTS: dict[str, Rule] = {"_ctc_loss": compute_ctc_loss, "_ctc_loss_backward": differentiate_ctc_loss}
