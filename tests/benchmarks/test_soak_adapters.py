"""The study's adapters: found by their file, refused in one sentence without the library, right where it is there."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

from opproof.backends import Unsupported
from opproof.backends.load import load_backend
from opproof.core.errors import BackendError

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak"
ADAPTERS = {
    "on_chainer": "chainer",
    "on_mindspore": "mindspore",
    "on_paddle": "paddlepaddle",
    "on_pytensor": "pytensor",
    "on_tensorflow": "tensorflow-cpu",
}


def installed(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@pytest.mark.parametrize(("name", "package"), ADAPTERS.items())
def test_says_what_to_install(name, package):
    if installed(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(BackendError, match=f"needs .*: pip install .*{package}=="):
        load_backend(str(SOAK / f"{name}.py"))


@pytest.mark.parametrize(("name", "package"), ADAPTERS.items())
def test_values_and_gradients(name, package):
    if not installed(package):
        pytest.skip(f"{package} is not installed")
    backend = load_backend(str(SOAK / f"{name}.py"))
    x = np.array([[-1.0, 2.0], [0.5, 3.0]], np.float32)
    params = {"dim": -1, "keepdim": False}
    assert np.array_equal(backend.forward("sum", [x], params)[0], [1.0, 3.5])
    g = np.array([2.0, 3.0], np.float32)
    assert np.array_equal(backend.vjp("sum", [x], params, [g], [True])[0], [[2, 2], [3, 3]])
    with pytest.raises(Unsupported, match="has no wkv7"):
        backend.forward("wkv7", [x], {})
