"""stft: the Fourier transforms of overlapping stretches of a signal, each weighted by a window, as two planes.

Shapes: x (batch, t), window (n_fft,); the outputs re and im (batch, floor(n_fft / 2) + 1, frames), a frame every
hop_length numbers. center: n_fft / 2 mirrored numbers are put at both ends first.
Gradient: of every frame as rfft's, times the window, added up where frames overlap; of the window summed over frames.
Source: Allen, Rabiner, A unified approach to short-time Fourier analysis and synthesis (1977).
PyTorch: torch.stft. ONNX: STFT. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._fourier import half_adjoint, wide
from opproof.reference_ops._windows import columns, fold

OUTPUTS = ("re", "im")
TRAITS = ("long sum",)


def _frames(x: Array, n_fft: int, hop_length: int, center: bool) -> Array:
    """(batch, n_fft, frames)."""
    half = n_fft // 2
    long = np.pad(x, ((0, 0), (half, half)), mode="reflect") if center else x
    return columns(long, (n_fft,), (hop_length,), (1,))


def forward(x: Array, window: Array, *, n_fft: int, hop_length: int, center: bool = False) -> tuple[Array, Array]:
    if not center and x.shape[-1] < n_fft:
        raise ValueError(f"x of {x.shape} is shorter than the {n_fft} numbers of a frame")
    y = np.fft.rfft(_frames(x, n_fft, hop_length, center) * window[:, None], axis=1)
    return y.real, y.imag


def vjp(
    g: tuple[Array, Array], y: Any, x: Array, window: Array, *, n_fft: int, hop_length: int, center: bool = False
) -> tuple[Array, Array]:
    d = half_adjoint(g, n_fft, 1, "backward")
    dwindow = np.sum(d * _frames(x, n_fft, hop_length, center), axis=(0, 2))
    half, t = n_fft // 2 if center else 0, x.shape[1]
    long = fold(d * window[:, None], (t + 2 * half,), (hop_length,), (1,))
    if not half:
        return long, dwindow
    dx = long[:, half : half + t]
    dx[:, 1 : half + 1] = dx[:, 1 : half + 1] + np.flip(long[:, :half], 1)
    dx[:, t - 1 - half : t - 1] = dx[:, t - 1 - half : t - 1] + np.flip(long[:, half + t :], 1)
    return dx, dwindow


def torch(torch: Any, x: Any, window: Any, *, n_fft: int, hop_length: int, center: bool = False) -> Any:
    wide(x)
    y = torch.stft(x, n_fft, hop_length, window=window, center=center, return_complex=True)
    return y.real, y.imag
