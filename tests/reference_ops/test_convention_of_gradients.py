"""The one convention of gradients: cotangents and outputs as tuples, one gradient per tensor."""

from dataclasses import replace

import numpy as np
import pytest

from opproof.core.tuples import tuple_of, unpack_single
from opproof.reference_ops import gradients_of, load
from opproof.reference_ops._torch import autograd

X, G = np.arange(6.0).reshape(2, 3) - 2, np.array([[1.0, -2.0, 3.0], [5.0, 7.0, -11.0]])


def test_one_value_or_several():
    assert tuple_of(3) == (3,)
    assert tuple_of([1, 2]) == tuple_of((1, 2)) == (1, 2)
    assert unpack_single([3]) == 3
    assert unpack_single([1, 2]) == (1, 2)
    assert unpack_single([]) == ()


def test_of_one_output():
    """A vjp gets the cotangent itself; a tensor for which it has no gradient, absent or not, gets None."""
    embedding, weight, indices = load("embedding"), np.ones((4, 3)), np.array([1, 3])
    d, none = gradients_of(embedding, [G], [weight[indices]], [weight, indices], {})
    assert none is None
    np.testing.assert_array_equal(d, [[0, 0, 0], G[0], [0, 0, 0], G[1]])
    found = gradients_of(load("linear"), [G], [X @ X.T @ X], [X @ X.T, X.T, None], {})
    assert [None if d is None else d.shape for d in found] == [(2, 2), (3, 2), None]


def test_of_several_outputs():
    """A vjp gets tuples, with None for indices."""
    sort, params = load("sort"), {"dim": -1, "descending": True}
    (d,) = gradients_of(sort, [G, None], sort.forward(X, **params), [X], params)
    np.testing.assert_array_equal(d, G[:, ::-1])


def test_more_gradients_than_tensors_are_cut_off():
    two = replace(load("relu"), vjp=lambda g, y, x: (g, g))
    assert len(gradients_of(two, [G], [X], [X], {})) == 1


def test_autograd():
    """Zeros for a tensor on which nothing depends, None for one whose gradient is not needed."""
    torch = pytest.importorskip("torch")
    x, y, g = torch.tensor(X), torch.tensor(2 * X), torch.tensor(G)
    found = autograd(torch, lambda a, b, c: (a * a * c, a.argmax()), [x, y, x], [True, True, False], [g, None])
    np.testing.assert_allclose(found[0].numpy(), 2 * X * X * G)
    np.testing.assert_array_equal(found[1].numpy(), np.zeros_like(X))
    assert found[2] is None
    assert not x.requires_grad
    (zeros,) = autograd(torch, lambda a: a > 0, [x], [True], [None])
    np.testing.assert_array_equal(zeros.numpy(), np.zeros_like(X))
