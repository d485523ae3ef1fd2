"""What the tables of the ONNX oracle share."""

import numpy as np


class NotOurs(Exception):
    """A node case that our operators do not express; its text is the reason."""


def axes_of(axes, rank):
    """Axes as a tuple of ints; None where none are given, which means all."""
    found = () if axes is None else tuple(int(a) for a in np.ravel(axes))
    return found if found and rank else None


def listed(dims, rank):
    """All axes by number where `dims` is None."""
    return tuple(range(rank)) if dims is None else dims


def chain(ref, name, xs):
    """An operator of two tensors over any number."""
    result = xs[0]
    for x in xs[1:]:
        result = ref(name, result, x)
    return result


def numbers(values):
    """Plain ints of a tensor or an attribute."""
    return [int(v) for v in np.ravel(values)]
