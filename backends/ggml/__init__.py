"""ggml: the C library itself, through its graph API.

`-b ggml` takes the library in the wheel of pywhispercpp, or what OPPROOF_GGML names (a libggml or a folder of them);
`-b ggml:/path/to/lib` another build. `-b ggml@NAME` and `-b ggml:/path@NAME` compute on a device of its registry.
Values are one forward graph; gradients come from ggml_build_backward_expand of the loss sum(y g), g our cotangent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.ggml import (
    backs,
    blocks,
    conv,
    custom,
    image,
    matrix,
    order,
    pointwise,
    pool,
    quant,
    recurrent,
    rows,
    shape,
)
from opproof.backends.ggml.devices import Device, describe_devices, open_device
from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import load_library
from opproof.backends.ggml.probe import find_refusal, read_last_words
from opproof.backends.ggml.run import compute_gradients, differentiate, lies_over, run
from opproof.backends.ggml.versions import describe_unknown, is_known
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import function_of, join_tables, split_device, supports, write_results
from opproof.core.arrays import Array
from opproof.core.graph import is_graph
from opproof.core.verdicts import Destination

TABLE = join_tables(pointwise, rows, order, matrix, shape, blocks, conv, pool, image, recurrent, quant, backs, custom)


class Ggml:
    """One backend of ggml, with one thread unless it is told.

    `host` is the CPU of the same library: what a graph can be built of is asked in a fork, where no other device works.
    """

    name = "ggml"
    dtypes = ("i8", "i16", "i32")
    mixed = True

    def __init__(self, device: Device, host: Device, variant: str) -> None:
        self.compute, self.rounding = precision.load_built_in("ggml", variant)
        self._device, self._host, self.version = device, host, device.library.version
        self.device = device.name.lower()
        self.destinations = (Destination.IN_PLACE,) if device.everywhere else ()  # elsewhere tensors are copies
        self.set_threads = device.set_threads
        self._refused: dict[Any, str] = {}  # by what decides it, whether a backward pass exists: asking costs a fork

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if (op in TABLE or is_graph(op)) and "f64" in dtypes:
            return "ggml's CPU backend does not compute in f64"
        return supports(TABLE, op, "ggml")

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        out: Sequence[Array | None] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        self._ask(op, inputs, params)
        with Graph(self._device, planned=is_graph(op)) as graph:
            leaves = [_make_leaf(graph, x) for x in inputs]
            if out is not None:
                graph.over = next(leaf for leaf, x in zip(leaves, inputs, strict=True) if x is out[0])
            outputs = _build(graph, op, leaves, params)
            if graph.over is not None and not (outputs[0] and lies_over(graph, outputs[0], graph.over)):
                raise Unsupported(f"ggml has no {op} in place of this tensor")
            results = iter(run(graph, [y for y in outputs if y is not None]))
            arrays = [None if y is None else next(results) for y in outputs]
            return [arrays[0], *write_results(arrays[1:], out and out[1:])]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool], out: Sequence[Array | None] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        if out is not None:
            raise Unsupported("ggml has no backward pass for operators that write into their input")
        _refuse_others(cotangents)
        self._ask(op, inputs, params)
        question = (op, tuple(needs), *_describe(inputs), repr(params))
        if question not in self._refused:
            with Graph(self._host, gradient=True) as graph:
                leaves, outputs = self._forward(graph, op, inputs, params, needs)
                self._refused[question] = find_refusal(lambda: differentiate(graph, outputs, cotangents))
        if reason := self._refused[question]:
            raise Unsupported(reason)
        with Graph(self._device, gradient=True) as graph:
            leaves, outputs = self._forward(graph, op, inputs, params, needs)
            differentiate(graph, outputs, cotangents)
            found = compute_gradients(graph, [x if n else None for x, n in zip(leaves, needs, strict=True)])
        _refuse_others([x for x, need in zip(inputs, needs, strict=True) if need])  # after ggml's own reasons
        return found

    def _ask(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> None:
        """Of a version that is not known, ask in a fork whether it takes the calls of this operator at all.

        Raises Unsupported where it dies of them: that may be the fault of ours. Nothing is computed.
        """
        if is_known(self.version):
            return
        question = ("calls", op, *_describe(inputs), repr(params))
        if question not in self._refused:
            with Graph(self._host) as graph:
                leaves = [_make_leaf(graph, x) for x in inputs]
                said = read_last_words(lambda: _build(graph, op, leaves, params))
            said = said if said is None else next(iter(said.strip().splitlines()[:1]), "nothing")
            self._refused[question] = (
                "" if said is None else f"{describe_unknown(self.version)}, and it died of a call: {said}"
            )
        if reason := self._refused[question]:
            raise Unsupported(reason)

    def _forward(
        self, graph: Graph, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], needs: Sequence[bool]
    ) -> tuple[list[Tensor | None], list[Tensor | None]]:
        leaves = [_make_leaf(graph, x) for x in inputs]
        for x, need in zip(leaves, needs, strict=True):
            if need:
                graph.do("ggml_set_param", x)
        return leaves, _build(graph, op, leaves, params)


def _refuse_others(tensors: Sequence[Array | None]) -> None:
    """Raise Unsupported where a gradient would have to be of another type than f32."""
    if others := [t.dtype for t in tensors if t is not None and t.dtype != np.float32]:
        raise Unsupported(f"ggml's gradients are f32, not {short_name_of(others[0])}")


def _describe(inputs: Sequence[Array | None]) -> list[Any]:
    """What decides of the inputs which calls are made."""
    return [None if x is None else (x.shape, x.strides, x.dtype) for x in inputs]


def _make_leaf(graph: Graph, array: Array | None) -> Tensor | None:
    return None if array is None else graph.leaf(array)


def _build(graph: Graph, op: str, tensors: Sequence[Tensor | None], params: Mapping[str, Any]) -> list[Tensor | None]:
    made = function_of(TABLE, op, "ggml")(graph, *tensors, **params)
    return made if isinstance(made, list) else [made]


def create(variant: str = "") -> Backend:
    """The backend of the ggml at the path `variant`, on the device after its "@". Raises BackendError without one."""
    path, name = split_device(variant)
    library = load_library(path, registry=name is not None)
    host = open_device(library)
    return Ggml(host if name is None else open_device(library, name), host, variant)


def list_devices(variant: str = "") -> dict[str, str]:
    """What to write after -b for each device, with what it is and computes. Raises BackendError without a registry."""
    path, _ = split_device(variant)
    build = f":{path}" if path else ""
    found = describe_devices(load_library(path, registry=True))
    return {f"ggml{build}@{name}": said for name, said in found.items()}
