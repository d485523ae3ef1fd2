"""ONNX's operators by ours: losses. See model.py."""

from __future__ import annotations

from opproof.backends.onnx.model import Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported


def _require_batch(x: ModelInput) -> None:
    if x.rank < 2:
        raise Unsupported("ONNX's losses take a batch of rows")


def _cross_entropy(
    m: Model,
    x: ModelInput,
    target: ModelInput,
    weight: ModelInput | None = None,
    *,
    ignore_index: int,
    label_smoothing: float,
    reduction: str,
) -> str:
    _require_batch(x)
    if target.dtype != "i64" or label_smoothing != 0:
        raise Unsupported("ONNX's SoftmaxCrossEntropyLoss takes classes, not probabilities, and smooths no labels")
    return m.node("SoftmaxCrossEntropyLoss", x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _nll_loss(
    m: Model, x: ModelInput, target: ModelInput, weight: ModelInput | None = None, *, ignore_index: int, reduction: str
) -> str:
    _require_batch(x)
    return m.node("NegativeLogLikelihoodLoss", x, target, weight, ignore_index=ignore_index, reduction=reduction)


TABLE: dict[str, Entry] = {"cross_entropy": _cross_entropy, "nll_loss": _nll_loss}
