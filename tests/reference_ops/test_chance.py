"""What may be chance passes, ten thousand times; what is not does not."""

import numpy as np
import pytest

from opproof.reference_ops import _chance, load


@pytest.mark.parametrize("q", [0.5, 0.1, 0.99, 0.001])
def test_chance_passes(q):
    r = np.random.default_rng(3)
    for shape in [(1,), (7,), (33, 65), (4, 5, 7), (1, 1025), (0, 3), ()]:
        for _ in range(100):
            a, b = (np.asarray(r.random(shape) < q) for _ in range(2))
            assert not _chance.uneven(a, q)
            assert not _chance.repeated(a, q)
            assert not _chance.alike(a, b, q)


def test_the_bound_holds_of_few_and_of_certain_ones():
    assert not _chance.unlikely(20, 20, 0.5)
    assert _chance.unlikely(40, 40, 0.5)
    assert _chance.unlikely(0, 40, 0.5)
    assert _chance.unlikely(1, 10**6, 0.0)
    assert _chance.unlikely(10**6 - 1, 10**6, 1.0)
    assert not _chance.unlikely(0, 0, 0.3)
    assert not _chance.unlikely(0, 100, 0.0)
    assert not _chance.unlikely(100, 100, 1.0)


@pytest.mark.parametrize("count", [32, 64, 1000])
def test_repetition_is_found_at_its_distance(count):
    r = np.random.default_rng(1)
    assert f"{count} apart" in _chance.repeated(np.resize(r.random(count) < 0.7, 3000), 0.7)


#: Operators that draw, with a first tensor and parameters of which much is drawn.
DRAWING = {
    "random_uniform": (np.zeros((64, 65)), {"low": -2.0, "high": 6.0}),
    "random_normal": (np.zeros((64, 65)), {"mean": 1.0, "scale": 4.0}),
    "random_bits": (np.zeros((64, 65)), {"width": 5}),
    "bernoulli": (np.linspace(0, 1, 64 * 65).reshape(64, 65), {}),
    "multinomial": (np.log([[1.0, 2.0, 4.0], [4.0, 1.0, 1.0]]), {"count": 2000}),
}
#: What may be wrong with what is drawn: functions of it, and of what the next key draws.
WRONG = {
    "one number": lambda y, other: np.full_like(y, y.flat[0]),
    "in turn": lambda y, other: np.resize(y.reshape(-1)[:97], y.shape),
    "the next key": lambda y, other: other,
    "in order": lambda y, other: np.sort(y, axis=-1) if y.dtype != bool else y,
    "half of it": lambda y, other: np.where(np.arange(y.shape[-1]) < y.shape[-1] // 2, y, y.flat[0]),
}


def draw(name, key):
    op, (x, params) = load(name), DRAWING[name]
    return op, x, params, op.forward(x, None, key=key, **params)


@pytest.mark.parametrize("name", DRAWING)
def test_what_a_reference_draws_may_be_chance(name):
    for key in range(20):
        op, x, params, y = draw(name, key)
        other = draw(name, key + 1)[3]
        assert not op.unfair((y,), (other,), x, None, key=key, **params)
        assert not op.unfair((y,), (), x, None, key=key, **params)
        given = op.drawn((y,), x, None, key=key, **params)
        assert np.array_equal(op.forward(*given, key=key, **params), y)


#: Where each element has a probability of its own, only how often something comes is counted.
COUNTED = {("multinomial", "in turn"), ("multinomial", "in order"), ("bernoulli", "in turn")}


@pytest.mark.parametrize(("name", "wrong"), [(n, w) for n in DRAWING for w in WRONG if (n, w) not in COUNTED])
def test_what_is_drawn_otherwise_is_no_chance(name, wrong):
    op, x, params, y = draw(name, 3)
    other = draw(name, 4)[3]
    assert op.unfair((WRONG[wrong](y, other),), (other,), x, None, key=3, **params)


def test_other_distributions_are_no_chance():
    op, x, params, y = draw("random_uniform", 3)
    for wrong in (y * 0.9, np.abs(y), y + 5, -2 + 8 * ((y + 2) / 8) ** 2):
        assert op.unfair((wrong,), (), x, None, key=3, **params)
    op, x, params, y = draw("random_normal", 3)
    for wrong in (y + 1, y * 1.3, np.clip(y, 0, 9), np.where(y > 0, np.inf, y), (y - 1) ** 3 + 1):
        assert op.unfair((wrong,), (), x, None, key=3, **params)
    op, x, params, y = draw("random_bits", 3)
    for wrong in (y | 4, y >> 1, y + 32, y - 1):
        assert op.unfair((wrong,), (), x, None, key=3, **params)
    op, x, params, y = draw("bernoulli", 3)
    assert "drawn" in op.unfair((1 - y,), (), x, None, key=3)
    op, x, params, y = draw("multinomial", 3)
    for wrong in (2 - y, np.where(y == 2, 1, y), y + 1):
        assert op.unfair((wrong,), (), x, None, key=3, **params)


def test_something_of_no_probability_is_never_drawn():
    op = load("bernoulli")
    x = np.array([0.0, 1.0, 0.5])
    assert "whose probability is 0" in op.unfair((np.array([1.0, 1.0, 0.0]),), (), x, None, key=0)
    assert "not drawn though it is 1" in op.unfair((np.array([0.0, 0.0, 0.0]),), (), x, None, key=0)
    logits = np.array([[0.0, -np.inf]])
    said = load("multinomial").unfair((np.array([[1, 0]]),), (), logits, None, count=2, key=0)
    assert "whose probability is 0" in said
