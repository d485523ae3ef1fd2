"""ONNX's Fourier transforms, by our references. See translated.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.harness.capture.onnx.shared import NotOurs, Ref, chain


def _pair(planes: Any) -> Any:
    """Two planes as ONNX writes complex numbers: along a last axis of two."""
    return np.stack(planes, axis=-1)


def _dft(
    ref: Ref, x: Any, length: Any = None, axis: Any = None, *, inverse: Any = 0, onesided: Any = 0, **attrs: Any
) -> Any:
    dim = int(attrs.get("axis", -2) if axis is None else axis) % x.ndim
    if inverse and onesided:
        raise NotOurs("the inverse of half a transform")
    planes = [x[..., 0], x[..., 1] if x.shape[-1] == 2 else np.zeros_like(x[..., 0])]
    n = x.shape[dim] if length is None else int(length)
    widths = [0, 0] * planes[0].ndim
    widths[2 * (planes[0].ndim - 1 - dim) + 1] = n - x.shape[dim]
    re, im = (ref("pad", plane, pad=tuple(widths), value=0.0) for plane in planes)
    if onesided and x.shape[-1] == 1:
        return _pair(ref("rfft", re, dim=dim))
    y = _pair(ref("fft", re, im, dim=dim, inverse=bool(inverse)))
    return ref("slice", y, dim=dim, start=0, end=n // 2 + 1, step=1) if onesided else y


def _stft(ref: Ref, x: Any, step: Any, window: Any = None, length: Any = None, *, onesided: Any = 1) -> Any:
    if not onesided:
        raise NotOurs("both halves of every frame's transform")
    n = int(length) if window is None else window.size
    weights = np.ones(n) if window is None else window
    y = ref("stft", x.reshape(x.shape[:2]), weights, n_fft=n, hop_length=int(step))
    return _pair([ref("transpose", plane, dim0=1, dim1=2) for plane in y])


def _window(*weights: float) -> Any:
    """A sum of cosines of whole turns over the window, with these weights."""

    def entry(ref: Ref, size: Any, *, periodic: Any = 1, output_datatype: Any = 1) -> Any:
        n = int(size)
        step = 2 * math.pi / (n if periodic else n - 1)
        places = ref("arange", start=0, end=n, step=1).astype(np.float64)
        terms = [
            ref("scale", ref("cos", ref("scale", places, s=k * step)), s=weight) for k, weight in enumerate(weights)
        ]
        return chain(ref, "add", terms)

    return entry


SIGNALS: dict[str, Callable[..., Any]] = {
    "BlackmanWindow": _window(0.42, -0.5, 0.08),
    "DFT": _dft,
    "HammingWindow": _window(25 / 46, -21 / 46),
    "HannWindow": _window(0.5, -0.5),
    "STFT": _stft,
}
