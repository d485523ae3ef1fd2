"""topk_moe: the k experts of the highest scores for each token, best first, and the weights of their answers.

Scores are softmax(logits) over the experts or, where gating is "sigmoid", 1 / (1 + e⁻ˡ) of each; weights are the scores
of the chosen, divided by their sum where renormalize, times scale.
Shapes: logits (tokens, experts); weights and ids (int64) (tokens, k). Which of equally good experts are taken is left
open, as by topk.
Gradient: with w the weights before scale and s their sum before they are divided by it: ds = scale (g - sum(g w)) / s
for the chosen, zeros for the others, then through the scores; zeros for ids.
Kinks: ties.
Source: Shazeer et al., Outrageously Large Neural Networks (2017), equations 3 to 5; Jiang et al., Mixtral of Experts
(2024), section 2.1; DeepSeek-V3 (2024), equations 14 to 16 (sigmoid).
PyTorch: none (torch.softmax and torch.topk). ONNX: none. ggml: none (its backends fuse ggml_soft_max and ggml_argsort).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import topk
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._attention import softmax, softmax_vjp
from opproof.reference_ops._index import added, along
from opproof.reference_ops._order import equals, gaps
from opproof.reference_ops._torch import widened

SIGNATURE = "(t,e)"
OUTPUTS = ("weights", "ids")
TRAITS = ("rowwise", "ordered")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"logits": -2, "weights": -2, "ids": -2}]


def _scores(logits: Array, gating: str) -> Array:
    return sigmoid(logits) if gating == "sigmoid" else softmax(logits)[0]


def forward(
    logits: Array, *, k: int, gating: str = "softmax", renormalize: bool = True, scale: float = 1.0
) -> tuple[Array, Array]:
    ids = topk.forward(logits, k=k)[1]
    weights = np.take_along_axis(_scores(logits, gating), ids, axis=-1)
    if renormalize:
        weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return weights * scale, ids


def vjp(
    g: tuple[Array, Any],
    y: tuple[Array, Array],
    logits: Array,
    *,
    k: int,
    gating: str = "softmax",
    renormalize: bool = True,
    scale: float = 1.0,
) -> Array:
    ids = topk.forward(logits, k=k)[1]
    scores, dchosen = _scores(logits, gating), g[0] * scale
    if renormalize:
        chosen = np.take_along_axis(scores, ids, axis=-1)
        total = np.sum(chosen, axis=-1, keepdims=True)
        # the quotient differentiated in both: of one expert, whose weight is 1, two terms meet that round apart
        dchosen = dchosen / total - np.sum(dchosen * chosen / (total * total), axis=-1, keepdims=True)
    dscores = added(logits.shape, along(ids, -1), dchosen)
    # from the scores, as kernels save them: of large logits 1 - s has lost digits
    return dscores * scores * (1 - scores) if gating == "sigmoid" else softmax_vjp(dscores, scores)


def kinks(logits: Array, *, k: int, gating: str = "softmax", renormalize: bool = True, scale: float = 1.0) -> Array:
    return gaps(logits, -1)


def ties(logits: Array, *, k: int, gating: str = "softmax", renormalize: bool = True, scale: float = 1.0) -> Array:
    return equals(logits, -1)


def settled(
    outputs: tuple[Array, Array],
    logits: Array,
    *,
    k: int,
    gating: str = "softmax",
    renormalize: bool = True,
    scale: float = 1.0,
) -> tuple[Array, Array]:
    """`outputs` with the ids of a row as the reference has them, where they name equal logits, none twice."""
    return topk.settled(outputs, logits, k=k)


def torch(
    torch: Any, logits: Any, *, k: int, gating: str = "softmax", renormalize: bool = True, scale: float = 1.0
) -> Any:
    (wide,) = widened(torch, logits)
    scores = torch.sigmoid(wide) if gating == "sigmoid" else torch.softmax(wide, dim=-1)
    ids = torch.topk(wide, k, dim=-1).indices
    weights = scores.gather(-1, ids)
    if renormalize:
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights * scale).to(logits.dtype), ids
