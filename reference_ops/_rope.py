"""Rotary position embedding: which pairs of channels turn, and by what angle.

Pair i of a token at position p turns by p base^(-2 i / n_dims). In the multimodal modes pairs are dealt out to the
four rows of `positions` (time, height, width, extra) by `sections`. YaRN slows the slow pairs down by freq_scale and
leaves the fast ones (Peng et al., YaRN, 2023, section 3.2); freq_factors divides each pair's angle (Llama 3.1).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array

Turn = tuple[Array, Array, Array]

#: Parameters of rope that operators made of it leave as they are.
USUAL: dict[str, Any] = {
    "freq_scale": 1.0,
    "ext_factor": 0.0,
    "attn_factor": 1.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "n_ctx_orig": 0,
    "sections": (0, 0, 0, 0),
}


def _sector(mode: str, pair: NDArray[np.int64], sections: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each pair, which row of positions it follows, and the exponent of its frequency."""
    if mode in ("norm", "neox"):
        return np.zeros_like(pair), pair
    ends = np.cumsum(sections)
    place = pair % ends[-1]
    row = np.minimum(np.searchsorted(ends, place, side="right"), 3)
    if mode == "vision":  # each section begins with the fastest frequency
        return row, place - np.concatenate([[0], ends])[row]
    if mode == "imrope":  # sections interleaved: time, height, width, time, ...; what is left follows the fourth
        turn = place % 3
        return np.where(place < 3 * np.array(sections)[turn], turn, 3), pair
    return row, pair


def _ramp(pairs: int, n_dims: int, base: float, n_ctx_orig: int, fast: float, slow: float) -> NDArray[np.float64]:
    """YaRN's share of extrapolation: 1 for pairs that turn often within n_ctx_orig, 0 for those that turn little."""

    def dimension(turns: float) -> float:
        return n_dims * math.log(n_ctx_orig / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(0, math.floor(dimension(fast))), min(n_dims - 1, math.ceil(dimension(slow)))
    along = (np.arange(pairs) - low) / max(0.001, high - low)
    return 1 - np.clip(along, 0, 1)


def turn(
    like: Array, positions: NDArray[np.int64], freq_factors: Array | None, *, n_dims: int, mode: str, freq_base: float,
    freq_scale: float, ext_factor: float, attn_factor: float, beta_fast: float, beta_slow: float, n_ctx_orig: int,
    sections: tuple[int, ...],
) -> Turn:  # fmt: skip
    """Cosine and sine, both times the magnitude, and the angle of each token and pair: (tokens, 1, pairs)."""
    if mode not in ("norm", "neox") and positions.ndim < 2:
        raise ValueError(f"mode={mode} follows four rows of positions, which is one")
    pairs = n_dims if mode == "vision" else n_dims // 2
    row, exponent = _sector(mode, np.arange(pairs), sections)
    dtype = np.real(like).dtype
    step = np.exp(np.full((), -2 * math.log(freq_base) / n_dims, dtype=dtype, like=like))
    frequency = np.power(step, exponent.astype(dtype))
    place = np.reshape(positions, (-1, positions.shape[-1]))[row].T.astype(dtype)
    angle = place * (frequency if freq_factors is None else frequency / freq_factors)
    slowed, magnitude = angle * freq_scale, attn_factor
    if ext_factor != 0:
        mix = _ramp(pairs, n_dims, freq_base, n_ctx_orig, beta_fast, beta_slow) * ext_factor
        slowed = slowed * (1 - mix) + angle * mix
        magnitude *= 1 + 0.1 * math.log(1 / freq_scale)
    angle = slowed[:, None, :]
    return np.cos(angle) * magnitude, np.sin(angle) * magnitude, angle


def split(x: Array, n_dims: int, mode: str) -> tuple[Array, Array, Array]:
    """First and second channel of every pair, and the channels that do not turn."""
    if mode == "norm":
        return x[..., 0:n_dims:2], x[..., 1:n_dims:2], x[..., n_dims:]
    half = n_dims if mode == "vision" else n_dims // 2
    return x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]


def joined(first: Array, second: Array, rest: Array, mode: str) -> Array:
    """The inverse of `split`."""
    if mode != "norm":
        return np.concatenate([first, second, rest], axis=-1)
    paired = np.reshape(np.stack([first, second], axis=-1), (*first.shape[:-1], 2 * first.shape[-1]))
    return np.concatenate([paired, rest], axis=-1)


def rotate(x: Array, by: Turn, n_dims: int, mode: str, sign: int) -> Array:
    """Every pair turned by the angle (sign 1) or back (sign -1), the other channels as they are."""
    cos, sin, _ = by
    sin = sign * sin
    a, b, rest = split(x, n_dims, mode)
    return joined(a * cos - b * sin, a * sin + b * cos, rest, mode)


def factors_vjp(g: Array, y: Array, by: Turn, freq_factors: Array, n_dims: int, mode: str, sign: int) -> Array:
    """Gradient of freq_factors: a pair's derivative by its angle is the pair turned a quarter further."""
    ga, gb, _ = split(g, n_dims, mode)
    ya, yb, _ = split(y, n_dims, mode)
    along = np.sum(gb * ya - ga * yb, axis=(0, 2)) * sign
    return -np.sum(along * by[2][:, 0], axis=0) / freq_factors  # type: ignore[no-any-return]


def torch_rotate(
    torch: Any, x: Any, positions: Any, freq_factors: Any, sign: int, *, n_dims: int, mode: str, freq_base: float,
    freq_scale: float, ext_factor: float, attn_factor: float, beta_fast: float, beta_slow: float, n_ctx_orig: int,
    sections: tuple[int, ...],
) -> Any:  # fmt: skip
    """The same in PyTorch: pairs as complex numbers, multiplied by exp(i angle), pair by pair from the definition."""
    turns = []  # of each pair the line of positions, the frequency, and how much is left of the angle
    for i in range(n_dims if mode == "vision" else n_dims // 2):
        line, exponent = 0, i
        if mode in ("mrope", "vision"):
            place = i % sum(sections)
            line = next(r for r in range(4) if place < sum(sections[: r + 1]))
            exponent = place - sum(sections[:line]) if mode == "vision" else i
        elif mode == "imrope":
            place = i % sum(sections)
            line = place % 3 if place < 3 * sections[place % 3] else 3
        share = 0.0
        if ext_factor != 0:
            ends = [n_dims * math.log(n_ctx_orig / (2 * math.pi * b)) / (2 * math.log(freq_base))
                    for b in (beta_fast, beta_slow)]  # fmt: skip
            low, high = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), n_dims - 1)
            share = ext_factor * (1 - min(1.0, max(0.0, (i - low) / max(high - low, 0.001))))
        turns.append((line, freq_base ** (-2 * exponent / n_dims), freq_scale * (1 - share) + share))
    lines, frequencies, left = zip(*turns, strict=True)
    rows = positions.reshape(-1, positions.shape[-1])[list(lines)]
    angles = rows.T * torch.tensor(frequencies, dtype=x.dtype, device=x.device)
    angles = angles if freq_factors is None else angles / freq_factors
    length = attn_factor * (1 - 0.1 * math.log(freq_scale) if ext_factor != 0 else 1)
    angles = sign * angles * torch.tensor(left, dtype=x.dtype, device=x.device)
    turning = torch.polar(torch.full_like(angles, length), angles)
    if mode == "norm":
        pairs = torch.complex(x[..., 0:n_dims:2], x[..., 1:n_dims:2])  # a view would ask for memory of 16 bytes
    else:
        pairs = torch.complex(*x[..., : 2 * len(turns)].chunk(2, dim=-1))
    turned = pairs * turning[:, None]
    if mode == "norm":
        return torch.cat([torch.view_as_real(turned).flatten(-2), x[..., n_dims:]], dim=-1)
    return torch.cat([turned.real, turned.imag, x[..., 2 * len(turns) :]], dim=-1)
