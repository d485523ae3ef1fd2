"""The ggml adapter and versions: what it calls in which, and what it declines in one that it does not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opproof.backends import Unsupported
from opproof.backends.ggml.types import types_of
from opproof.backends.ggml.versions import CHANGED, NEWEST, OLDEST, has_changed, is_known, is_since, release_of
from opproof.reference_ops import load


@pytest.mark.parametrize(
    ("version", "release"),
    [("0.9.4", (0, 9)), ("0.25.3", (0, 25)), ("0.21.0-dev", (0, 21)), ("1.0", (1, 0)), ("unknown", None), ("", None)],
)
def test_a_version_is_read_as_numbers(version, release):
    assert release_of(version) == release


def test_known_are_the_releases_between_the_oldest_and_the_newest_with_all_patches():
    assert [is_known(v) for v in ("0.8.9", "0.9.0", "0.13.1", "0.25.99", "0.26.0", "1.0.0", "unknown")] == [
        False, True, True, True, False, False, False,
    ]  # fmt: skip
    assert OLDEST < min(CHANGED.values()) <= max(CHANGED.values()) <= NEWEST


def test_a_function_takes_its_newest_arguments_from_the_release_that_changed_it():
    assert [has_changed(v, "ggml_gated_delta_net") for v in ("0.9.8", "0.14.0", "0.15.0", "0.25.3")] == [
        False, False, True, True,
    ]  # fmt: skip
    assert [has_changed(v, "ggml_ssm_scan") for v in ("0.15.0", "0.19.0", "0.20.0", "0.25.3")] == [
        False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["0.26.0", "1.0.0", "0.8.0", "unknown"])
@pytest.mark.parametrize("function", CHANGED)
def test_what_changed_before_is_declined_of_a_version_that_is_not_known(version, function):
    with pytest.raises(Unsupported, match=rf"ggml {version} is not among .*0\.9 to 0\.25.*{function}"):
        has_changed(version, function)


def test_types_come_with_versions():
    assert "bf16" not in types_of("ggml_gelu", "0.21.0")
    assert types_of("ggml_gelu", "0.25.3") == ("f32", "f16", "bf16")
    assert (types_of("ggml_fill", "0.13.1"), types_of("ggml_fill", "0.14.0")) == (("f32",), ("f32", "f16"))
    assert not is_since("unknown", (0, 14))  # one that does not say what it is may be the oldest


@pytest.fixture(scope="module")
def build():
    """Makes the adapter of the wheel's library, which says that it is of another version."""
    pytest.importorskip("pywhispercpp", reason="ggml: the wheel of pywhispercpp has the library")
    from opproof.backends.ggml import Ggml
    from opproof.backends.ggml.devices import open_device
    from opproof.backends.ggml.library import load_library

    device = open_device(load_library())

    def make(version):
        other = replace(device, library=replace(device.library, version=version))
        return Ggml(other, other, "")

    return make


def recurrent(tokens=3, heads=2, d=4):
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((2, tokens, heads, d), dtype=np.float32) / 2 for _ in range(3))
    gate, beta = (rng.random((2, tokens, heads, 1), dtype=np.float32) for _ in range(2))
    return [q, k, v, -gate, beta, rng.standard_normal((2, heads, d, d), dtype=np.float32)]


def test_a_recurrence_is_called_as_the_version_of_the_library_has_it(build):
    inputs = recurrent()
    expected = load("gated_delta_net").forward(*(x.astype(np.float64) for x in inputs))
    for got, want in zip(build("0.13.1").forward("gated_delta_net", inputs, {}), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_version_that_is_not_known_computes_what_never_changed_and_declines_the_rest(build):
    newer, x = build("0.99.0"), np.float32([[1, -2, 3]])
    np.testing.assert_array_equal(newer.forward("abs", [x], {})[0], abs(x))
    grad = newer.vjp("abs", [x], {}, [np.ones_like(x)], [True])[0]
    np.testing.assert_array_equal(grad, np.sign(x))
    for _ in range(2):  # the answer is kept
        with pytest.raises(Unsupported, match="ggml_gated_delta_net has taken other arguments"):
            newer.forward("gated_delta_net", recurrent(), {})


def test_an_abort_of_a_call_is_not_blamed_on_a_version_that_is_not_known(build):
    """The wheel's ggml_roll of nothing asserts; of a version that is known this is its crash."""
    x = np.zeros((3, 0), np.float32)
    with pytest.raises(Unsupported, match=r"ggml 0\.99\.0 is not among .* died of a call: .*GGML_ASSERT"):
        build("0.99.0").forward("roll", [x], {"shifts": 1, "dims": 1})
    with pytest.raises(Unsupported, match="GGML_ASSERT"):
        build("0.99.0").vjp("roll", [x], {"shifts": 1, "dims": 1}, [x], [True])
