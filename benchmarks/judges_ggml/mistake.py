"""What a mistake in ggml's source is: where it stands, what it replaces, who is asked, and a call that shows it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from opproof.backends.ggml.devices import Device
from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.run import compute_gradients, differentiate, run
from opproof.reference_ops import load

#: Stands in `put` for: this mistake is on.
WRONG = "WRONG"
OPS = "ggml-cpu/ops.cpp"
BINARY = "ggml-cpu/binary-ops.cpp"
UNARY = "ggml-cpu/unary-ops.cpp"
VECTORS = "ggml-cpu/vec.h"
PRODUCTS = "ggml-cpu/ggml-cpu.c"
X86 = "ggml-cpu/arch/x86/quants.c"
BACKWARD = "ggml.c"


@dataclass(frozen=True)
class Calls:
    """Calls of one build, from which a witness makes its own."""

    backend: Any  # of ggml
    device: Device  # of the same library

    def with_threads(self, count: int) -> Calls:
        """The same, computed by so many threads from here on."""
        self.backend.set_threads(count)
        return self

    def forward(self, op: str, /, *inputs: Any, **params: Any) -> list[Any]:
        """The outputs of an operator of ours."""
        return list(self.backend.forward(op, list(inputs), _complete(op, params)))

    def vjp(self, op: str, /, *inputs: Any, **params: Any) -> list[Any]:
        """Its gradients, of cotangents that are random."""
        y = self.forward(op, *inputs, **params)
        cotangents = [None if out is None else draw(*out.shape, seed=7) for out in y]
        needs = [x is not None and x.dtype == np.float32 for x in inputs]
        return list(self.backend.vjp(op, list(inputs), _complete(op, params), cotangents, needs))

    def raw(self, build: Callable[..., Tensor], *inputs: Any) -> list[Any]:
        """What a function of ggml's own gives of leaves."""
        with Graph(self.device) as graph:
            leaves = [graph.leaf(x) for x in inputs]
            return list(run(graph, [build(graph, *leaves)]))

    def raw_gradients(self, build: Callable[..., Tensor], *inputs: Any) -> list[Any]:
        """The gradients of a function of ggml's own, of random cotangents."""
        with Graph(self.device, gradient=True) as graph:
            leaves = [graph.leaf(x) for x in inputs]
            for leaf in leaves:
                graph.do("ggml_set_param", leaf)
            y = build(graph, *leaves)
            sizes = tuple(reversed(graph.sizes(y.pointer)))
            differentiate(graph, [y], [draw(*sizes, seed=7)])
            return list(compute_gradients(graph, leaves))


Witness = Callable[[Calls], Sequence[Any]]


class Mistake(NamedTuple):
    kind: str
    what: str  # what the kernel does instead
    file: str
    after: str  # the first `find` behind this text is replaced
    find: str
    put: str
    theirs: str  # functions that test-backend-ops is asked about, by ggml's names
    ours: str  # operators that opproof is asked about
    witness: Witness


def draw(*shape: int, seed: int = 0, low: float | None = None, high: float = 1.0) -> Any:
    """Normal numbers in float32, or uniform ones from `low` to `high`."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) if low is None else rng.uniform(low, high, shape)).astype(np.float32)


def count(*shape: int, below: int, seed: int = 0) -> Any:
    """Integers of 64 bits."""
    return np.random.default_rng(seed).integers(0, below, shape)


def _complete(op: str, params: dict[str, Any]) -> dict[str, Any]:
    listed = inspect.signature(load(op).forward).parameters.values()
    return {p.name: p.default for p in listed if p.kind is p.KEYWORD_ONLY and p.default is not p.empty} | params


def plant(source: Path, mistakes: Sequence[Mistake]) -> None:
    """Write the mistakes into ggml's folder `src`, each behind its number."""
    for number, mistake in enumerate(mistakes, 1):
        path = source / mistake.file
        text = path.read_text(encoding="utf-8")
        start = text.index(mistake.after)
        before, found, behind = text[start:].partition(mistake.find)
        if not found:
            raise ValueError(f"mistake {number} has no place: {mistake.find} behind {mistake.after} in {mistake.file}")
        put = mistake.put.replace(WRONG, f"MISTAKE({number})")
        path.write_text(text[:start] + before + put + behind, encoding="utf-8")
    for file, anchor, added in SWITCH:
        path = source / file
        text = path.read_text(encoding="utf-8")
        assert text.count(anchor) == 1, (file, anchor)
        path.write_text(text.replace(anchor, anchor + added), encoding="utf-8")


#: What reads MISTAKE once. A graph of the reference that test-backend-ops compares with (`use_ref`) has no mistake, as
#: if a device's kernels had it. Backward passes are built before any graph is computed: theirs are always on.
SWITCH = (
    (
        "ggml-cpu/ggml-cpu-impl.h",
        "// TODO: move to ggml-threading\n",
        """extern __thread int ggml_cpu_mistake __attribute__((tls_model("initial-exec")));
#define MISTAKE(n) (ggml_cpu_mistake == (n))
""",
    ),
    (
        PRODUCTS,
        '#include "ggml-cpu-impl.h"\n',
        """__thread int ggml_cpu_mistake;
static int mistake_of_environment(void) { const char * e = getenv("MISTAKE"); return e ? atoi(e) : 0; }
""",
    ),
    (
        PRODUCTS,
        "    const struct ggml_cplan  * cplan  = tp->cplan;\n",
        """    static int mistake = -1;
    if (mistake < 0) { mistake = mistake_of_environment(); }
    ggml_cpu_mistake = cplan->use_ref ? 0 : mistake;
""",
    ),
    (
        BACKWARD,
        '#include "ggml-impl.h"\n',
        """#include <stdlib.h>
static int mistake_of_environment(void) { const char * e = getenv("MISTAKE"); return e ? atoi(e) : 0; }
#define MISTAKE(n) (mistake_of_environment() == (n))
""",
    ),
)
