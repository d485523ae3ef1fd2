"""A sampler that gets its randomness from the seed that the judge sets, whichever way it takes it.

The judge seeds PyTorch before a call. A parameter `generator` gets PyTorch's own, `seed` a number, `key` a key of JAX
or MLX, `rng` a generator of NumPy, each drawn from PyTorch's; so are the seeds of NumPy, MLX and Python. A second call
without a new seed gets others.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opproof.harness.check.call.array_libraries import find_library
from opproof.harness.check.call.subject import name_of

#: Seeds are below it: what every library takes.
MAX_SEED = 2**31


def with_seed(candidate: Any) -> Any:
    """The candidate, called with what it takes its randomness from."""
    try:
        taken = inspect.signature(getattr(candidate, "forward", candidate)).parameters
    except (TypeError, ValueError):
        taken = {}  # type: ignore[assignment]

    @functools.wraps(candidate, updated=())
    def seeded(*given: Any, **named: Any) -> Any:
        import torch

        number = int(torch.randint(MAX_SEED, ()))
        np.random.seed(number)  # noqa: NPY002 - the candidate may draw from the global one
        random.seed(number)
        if "mlx.core" in sys.modules:
            sys.modules["mlx.core"].random.seed(number)
        device = next((x.device for x in given if isinstance(x, torch.Tensor)), torch.device("cpu"))
        of_cuda = torch.cuda.default_generators
        make: dict[str, Callable[[], Any]] = {
            "generator": lambda: of_cuda[device.index or 0] if device.type == "cuda" else torch.default_generator,
            "seed": lambda: number,
            "key": lambda: _make_key(candidate, number),
            "rng": lambda: np.random.default_rng(number),
        }
        made = {name: make[name]() for name in taken if name in make and name not in named}
        return candidate(*given, **named, **made)

    seeded.__name__ = name_of(candidate)
    return seeded


def _make_key(candidate: Any, number: int) -> Any:
    library = find_library(candidate)
    return number if library is None else library.module.random.key(number)


@contextlib.contextmanager
def kept_global_seeds() -> Iterator[None]:
    """A block after which NumPy and Python draw as if nobody had seeded them."""
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(of_numpy)  # noqa: NPY002
        random.setstate(of_python)
