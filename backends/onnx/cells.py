"""ONNX's operators by ours: recurrent cells and Fourier transforms. See model.py.

A cell is one step of ONNX's whole recurrence; its gates stand in another order, so weights are cut and put together
anew, as exporters do. A complex number is a pair along a last axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from opproof.backends.onnx.model import Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported

_HAMMING = 25 / 46  # the first coefficient of ONNX's HammingWindow


def _with_first_axis(m: Model, x: ModelInput | str) -> str:
    """A first axis of one: the step of a sequence, or the direction of weights."""
    return m.node("Unsqueeze", x, m.constant([0]))


def _order_gates(m: Model, weight: ModelInput, order: Sequence[int]) -> str:
    if len(order) == 1:
        return weight.name
    parts = m.nodes_results("Split", len(order), weight, axis=0, num_outputs=len(order))
    return m.node("Concat", *(parts[i] for i in order), axis=0)


def _make_weights(
    m: Model, order: Sequence[int], w: ModelInput, r: ModelInput, bias_w: ModelInput | None, bias_r: ModelInput | None
) -> list[str | None]:
    """W, R and B of ONNX."""
    if (bias_w is None) != (bias_r is None):
        raise Unsupported("ONNX's recurrences have both biases, or neither")
    biases = [_order_gates(m, b, order) for b in (bias_w, bias_r) if b is not None]
    bias = _with_first_axis(m, m.node("Concat", *biases, axis=0)) if biases else None
    return [*(_with_first_axis(m, _order_gates(m, v, order)) for v in (w, r)), bias]


def _gru_cell(
    m: Model,
    x: ModelInput,
    h: ModelInput,
    weight_ih: ModelInput,
    weight_hh: ModelInput,
    bias_ih: ModelInput | None = None,
    bias_hh: ModelInput | None = None,
) -> str:
    weights = _make_weights(m, (1, 0, 2), weight_ih, weight_hh, bias_ih, bias_hh)
    given = {"hidden_size": h.shape[1], "linear_before_reset": 1}
    _, y = m.nodes_results("GRU", 2, _with_first_axis(m, x), *weights, None, _with_first_axis(m, h), **given)
    return m.node("Squeeze", y, m.constant([0]))


def _rnn_cell(
    m: Model, x: ModelInput, h: ModelInput, weight_ih: ModelInput, weight_hh: ModelInput,
    bias_ih: ModelInput | None = None, bias_hh: ModelInput | None = None, *, nonlinearity: str,
) -> str:  # fmt: skip
    weights = _make_weights(m, (0,), weight_ih, weight_hh, bias_ih, bias_hh)
    given = {"hidden_size": h.shape[1], "activations": [nonlinearity.capitalize()]}
    _, y = m.nodes_results("RNN", 2, _with_first_axis(m, x), *weights, None, _with_first_axis(m, h), **given)
    return m.node("Squeeze", y, m.constant([0]))


def _mel_weight_matrix(m: Model, *, bands: int, dft_length: int, rate: int, lower: float, upper: float) -> str:
    sizes, ends = (bands, dft_length, rate), (lower, upper)
    return m.node("MelWeightMatrix", *(m.constant(n) for n in sizes), *(m.constant(f, "f32") for f in ends))


def _lstm_cell(
    m: Model,
    x: ModelInput,
    h: ModelInput,
    c: ModelInput,
    weight_ih: ModelInput,
    weight_hh: ModelInput,
    bias_ih: ModelInput | None = None,
    bias_hh: ModelInput | None = None,
) -> list[str]:
    weights = _make_weights(m, (0, 3, 1, 2), weight_ih, weight_hh, bias_ih, bias_hh)
    states = (_with_first_axis(m, h), _with_first_axis(m, c))
    _, *last = m.nodes_results("LSTM", 3, _with_first_axis(m, x), *weights, None, *states, hidden_size=h.shape[1])
    return [m.node("Squeeze", y, m.constant([0])) for y in last]


def _split_planes(m: Model, pairs: str) -> list[str]:
    halves = m.nodes_results("Split", 2, pairs, axis=-1, num_outputs=2)
    return [m.node("Squeeze", half, m.constant([-1])) for half in halves]


def _make_dft(m: Model, pairs: str, rank: int, dim: int, norm: str, **given: int) -> list[str]:
    if norm != "backward":
        raise Unsupported("ONNX's DFT divides the inverse by n")
    return _split_planes(m, m.node("DFT", pairs, None, m.constant(dim % rank), **given))


def _fft(m: Model, re: ModelInput, im: ModelInput, *, dim: int, norm: str, inverse: bool) -> list[str]:
    pairs = m.node("Concat", *(m.node("Unsqueeze", v, m.constant([-1])) for v in (re, im)), axis=-1)
    return _make_dft(m, pairs, re.rank, dim, norm, inverse=int(inverse))


def _rfft(m: Model, x: ModelInput, *, dim: int, norm: str) -> list[str]:
    return _make_dft(m, m.node("Unsqueeze", x, m.constant([-1])), x.rank, dim, norm, onesided=1)


def _stft(m: Model, x: ModelInput, window: ModelInput, *, n_fft: int, hop_length: int, center: bool) -> list[str]:
    if center:
        raise Unsupported("ONNX's STFT begins at the first number")
    y = m.node("STFT", x, m.constant(hop_length), window, m.constant(n_fft), onesided=1)
    return _split_planes(m, m.node("Transpose", y, perm=[0, 2, 1, 3]))


def _window(m: Model, x: ModelInput, *, kind: str, periodic: bool, p: float | tuple[float, ...]) -> str:
    """A window is made of a number of places, in float32."""
    name = {"hann": "HannWindow", "blackman": "BlackmanWindow"}.get(kind, "")
    name = "HammingWindow" if kind == "hamming" and p == _HAMMING else name
    if not name:
        raise Unsupported(f"ONNX has no window {kind!r} of {p}")
    if x.shape[-1] < 2:
        raise Unsupported("of one place ONNX has another window, or none")
    if x.dtype != "f32":
        raise Unsupported(f"ONNX's {name} makes float32")
    return m.node("Mul", x, m.node(name, m.constant(x.shape[-1]), periodic=int(periodic)))


TABLE: dict[str, Entry] = {
    "gru_cell": _gru_cell,
    "lstm_cell": _lstm_cell,
    "rnn_cell": _rnn_cell,
    "mel_weight_matrix": _mel_weight_matrix,
    "fft": _fft,
    "rfft": _rfft,
    "stft": _stft,
    "window": _window,
}
