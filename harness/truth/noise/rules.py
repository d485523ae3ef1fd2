"""Which NumPy functions round, which only move data, and which decide.

A function that stands nowhere here and has no rule of its own is refused, so that a new reference
cannot silently escape the noise.
"""

from typing import Any

import numpy as np

#: Results taken from the exact values, as plain arrays: comparisons, predicates, positions, shapes.
DECIDED: frozenset[Any] = frozenset(
    {
        *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
        *(np.isnan, np.isinf, np.isfinite, np.signbit, np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
        *(np.argmax, np.argmin, np.argsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted),
        *(np.any, np.all, np.isclose, np.array_equal, np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj),
        *(np.isneginf, np.isposinf, np.bincount, np.unique, np.argpartition, np.lexsort),
    }
)

#: Piecewise constant: the result is that of the exact values, without noise.
STEPS: frozenset[Any] = frozenset({np.sign, np.floor, np.ceil, np.rint, np.trunc, np.floor_divide})

#: Ufuncs that jump, or have several results, and have no rule: refused.
JUMPS: frozenset[Any] = frozenset({np.divmod, np.modf, np.frexp, np.spacing, np.nextafter, np.heaviside})

#: Elementwise and free of rounding.
EXACT_UFUNCS: frozenset[Any] = frozenset({np.negative, np.positive, np.absolute, np.fabs, np.copysign, np.conjugate})

#: New arrays like a noisy one: without noise.
CREATES: frozenset[Any] = frozenset(
    {np.zeros, np.ones, np.full, np.empty, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.eye, np.arange}
)

#: Movement and selection by plain indices or conditions: applied run by run.
MOVES: frozenset[Any] = frozenset(
    {
        *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.permute_dims),
        *(
            np.concatenate,
            np.stack,
            np.split,
            np.array_split,
            np.vstack,
            np.hstack,
            np.broadcast_to,
            np.broadcast_arrays,
        ),
        *(np.repeat, np.tile, np.flip, np.roll, np.rot90, np.pad, np.take, np.take_along_axis, np.put_along_axis),
        *(np.where, np.select, np.choose, np.compress, np.delete, np.insert, np.append, np.copy, np.atleast_1d),
        *(
            np.diagonal,
            np.diag,
            np.tril,
            np.triu,
            np.trim_zeros,
            np.resize,
            np.atleast_2d,
            np.unstack,
            np.matrix_transpose,
        ),
        np.lib.stride_tricks.sliding_window_view,
        *(np.fft.fftshift, np.fft.ifftshift),
    }
)
