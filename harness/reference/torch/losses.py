"""Losses whose backward PyTorch has as one operation: margins between classes, and all alignments of a sequence.

The second is Graves et al. 2006, "Connectionist Temporal Classification", equations 6 to 16, in logarithms. As
PyTorch's, the gradient is that of log-probabilities which come of a log-softmax: p less the share of alignments.
"""

from __future__ import annotations

from typing import Any

from opproof.harness.reference.torch.arithmetic import Arithmetic
from opproof.harness.reference.torch.sums import Rule, differentiate_steps

#: PyTorch's number of the reduction by the mean.
_REDUCTION_MEAN = 1


def differentiate_multi_margin(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, p: Any, margin: Any, weight: Any = None, *rest: Any
) -> Any:
    """multi_margin_loss_backward: of max(0, margin - x[target] + x[j])^p over the other classes j, by their number."""
    del noise, func
    rows, labels = _reshape_to_rows(x), target.reshape(-1, 1)
    short = margin - rows.gather(1, labels) + rows
    slope = (short > 0) * (1.0 if p == 1 else 2 * short)
    if weight is not None:
        slope = slope * weight[labels]
    slope = slope.scatter(1, labels, 0.0) / rows.shape[1]
    slope = slope.scatter(1, labels, -slope.sum(1, keepdim=True))
    return (_cotangent_of_rows(g, slope, *rest) * slope).reshape(x.shape)


def compute_multilabel_margin(noise: Arithmetic, func: Any, x: Any, target: Any, reduction: int) -> Any:
    """multilabel_margin_loss_forward: the loss, and which classes are labels.

    Of max(0, 1 - x[t] + x[j]) over labels t, up to the first -1, and others j.
    """
    del func
    rows, labels = _reshape_to_rows(x), _reshape_to_rows(target)
    listed = (labels < 0).cumsum(1) == 0
    times = noise.torch.zeros_like(rows).scatter_add(1, labels.clamp_min(0), listed.to(rows.dtype))
    short = (1 - rows[:, :, None] + rows[:, None, :]).relu()
    each = (short * times[:, :, None] * (times == 0)[:, None, :]).sum((1, 2)) / rows.shape[1]
    loss = each.reshape(x.shape[:-1]) if reduction == 0 else each.mean() if reduction == _REDUCTION_MEAN else each.sum()
    return loss, (times > 0).to(x.dtype).reshape(target.shape)


def differentiate_multilabel_margin(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, reduction: int, _: Any
) -> Any:
    """multilabel_margin_loss_backward."""
    return differentiate_steps(
        noise, lambda v: compute_multilabel_margin(noise, func, v, target, reduction)[0], [x], g
    )[0]


def _reshape_to_rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1] if x.dim() else 1)


def _cotangent_of_rows(g: Any, rows: Any, reduction: int = _REDUCTION_MEAN) -> Any:
    return (g / rows.shape[0] if reduction == _REDUCTION_MEAN else g).reshape(-1, 1)


LOSSES: dict[str, Rule] = {
    "multi_margin_loss_backward": differentiate_multi_margin,
    "multilabel_margin_loss_forward": compute_multilabel_margin,
    "multilabel_margin_loss_backward": differentiate_multilabel_margin,
}


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
