"""An entry of the corpus: a kernel as its package publishes it, the PyTorch that it replaces, and the verdict.

Nothing of a package is imported before `find` is called, so that the list can be read without them.
"""

import functools
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

#: Where the versions stand that the verdicts are of.
PINS = Path(__file__).parent / "packages.txt"
#: What a verdict is where nothing is wrong.
RIGHT = "right"


@dataclass(frozen=True)
class Kernel:
    """One kernel: where it is, how it is called, what it should be, and what is known about it."""

    package: str
    name: str
    path: str  # "module:attribute"
    like: Callable[..., Any]  # the reference
    inputs: Any
    call: Callable[..., Any] | None  # called with what was published, then the tensors; None: that itself
    why: str  # who is right, and by what
    verdict: str  # RIGHT, or the verdicts of `check`
    says: str  # what the report has to say, an expression
    shown: Callable[[Any], tuple[Any, Any]] | None  # what comes and what is true, without opproof
    link: str  # where its authors know
    options: Mapping[str, Any] = field(default_factory=dict)  # of `opproof.check`: the contract

    @property
    def title(self) -> str:
        """The package and the name, by which `--only` finds it."""
        return f"{self.package}/{self.name}"

    def find(self) -> Any:
        """What was published. Raises ImportError or AttributeError where it is not there."""
        module, _, attribute = self.path.partition(":")
        return functools.reduce(getattr, attribute.split("."), importlib.import_module(module))

    def make_candidate(self) -> Callable[..., Any]:
        """The kernel as the reference is called."""
        found = self.find()
        if self.call is None:
            return found
        candidate = functools.partial(self.call, found)
        candidate.__name__ = self.name
        return candidate


KERNELS: dict[str, Kernel] = {}


def published(
    package, path, inputs, why, *, call=None, verdict=RIGHT, says="", shown=None, link="", name="", **options
):
    """Decorate a reference: it is the truth of the kernel at `path`."""

    def add(like):
        entry = Kernel(
            package, name or like.__name__, path, like, inputs, call, why, verdict, says, shown, link,
            MappingProxyType(options),
        )  # fmt: skip
        if entry.title in KERNELS:
            raise ValueError(f"{entry.title} stands twice in the corpus.")
        KERNELS[entry.title] = entry
        return like

    return add


def drawn(*shapes, scale=1.0, offset=0.0, low=None, **arguments):
    """Inputs of normal numbers, uniform ones from `low` to 1 where it is given; `arguments` come by name behind."""

    def make(seed):
        g = torch.Generator().manual_seed(seed)
        if low is not None:
            return [low + (1 - low) * torch.rand(shape, generator=g) for shape in shapes]
        return [offset + scale * torch.randn(shape, generator=g) for shape in shapes]

    return make


def labelled(shape, classes, *more):
    """Logits, then a class of each row, then further tensors."""

    def make(seed):
        g = torch.Generator().manual_seed(seed)
        labels = torch.randint(0, classes, shape[:1], generator=g)
        return [torch.randn(*shape, generator=g), labels, *(torch.randn(m, generator=g) for m in more)]

    return make


def read_pins():
    """The version of each package."""
    lines = PINS.read_text(encoding="utf-8").splitlines()
    return dict(m.groups() for line in lines if (m := re.fullmatch(r"([\w.-]+)==([\w.]+)", line.split("#")[0].strip())))
