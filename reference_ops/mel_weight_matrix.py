"""mel_weight_matrix: how much of each frequency of a spectrum goes into each band of the mel scale.

Shapes: y (dft_length // 2 + 1, bands), float32 since no input names another dtype. Of bands + 2 frequencies, spread
evenly over the scale 2595 log10(1 + f / 700) from lower to upper, the number of the bin is (dft_length + 1) f over the
rate, rounded down. The weights of band i rise from 0 at bin i to 1 at bin i + 1, and fall to 0 at bin i + 2; where
bin i is bin i + 1, that bin has 1.
Gradient: none, there is no input.
Source: ONNX, MelWeightMatrix; O'Shaughnessy, Speech Communication (1987), of the scale.
PyTorch: none. ONNX: MelWeightMatrix. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array


def _bins(bands: int, dft_length: int, rate: int, lower: float, upper: float) -> Array:
    low, high = (2595 * np.log10(1 + np.float64(f) / 700) for f in (lower, upper))
    mels = low + np.arange(bands + 2) * ((high - low) / (bands + 2))
    return np.floor((dft_length + 1) * 700 * (10 ** (mels / 2595) - 1) / rate).astype(np.int64)  # type: ignore[no-any-return]


def forward(*, bands: int, dft_length: int, rate: int, lower: float, upper: float) -> Array:
    places = np.arange(dft_length // 2 + 1)[:, None]
    bins = _bins(bands, dft_length, rate, lower, upper)
    first, middle, last = bins[:-2], bins[1:-1], bins[2:]
    rise, fall = middle - first, last - middle
    rising = np.where(rise == 0, places == middle, (places - first) / np.maximum(rise, 1))
    falling = (last - places) / np.maximum(fall, 1)
    up, down = (places >= first) & (places <= middle), (places > middle) & (places < last)
    return np.where(up, rising, np.where(down, falling, 0)).astype(np.float32)


def torch(torch: Any, *, bands: int, dft_length: int, rate: int, lower: float, upper: float) -> Any:
    y = torch.zeros(dft_length // 2 + 1, bands, dtype=torch.float64)
    bins = _bins(bands, dft_length, rate, lower, upper).tolist()
    for i, (first, middle, last) in enumerate(zip(bins, bins[1:], bins[2:], strict=False)):
        if middle > first:
            y[first : middle + 1, i] = torch.linspace(0, 1, middle - first + 1, dtype=torch.float64)
        else:
            y[middle, i] = 1
        if last > middle:
            y[middle:last, i] = torch.linspace(1, 0, last - middle + 1, dtype=torch.float64)[:-1]
    return y.to(torch.float32)
