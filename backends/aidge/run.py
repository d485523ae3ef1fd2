"""One operator of aidge as a graph: its tensors fed, run forwards, then backwards from given cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aidge_core
import numpy as np

from opproof.core.arrays import Array


@dataclass(frozen=True)
class NodeCall:
    """A node of aidge and what it is fed.

    feeds: an array per input of the node, None where it takes none. sources: for each feed, which of the operator's
    inputs it holds, None for a constant. outputs: which of the node's outputs answer. shape: of the answer, where
    aidge's has other axes. last: the node that answers, where it is not the one fed. finish: from aidge's convention to
    ours. damages: whether the call, or its backward, may write past its memory. no_backward: why gradients are not
    asked for.
    """

    node: Any
    feeds: tuple[Array | None, ...]
    sources: tuple[int | None, ...]
    outputs: tuple[int, ...] = (0,)
    shape: tuple[int, ...] | None = None
    last: Any = None
    finish: Callable[[list[Array]], list[Array | None]] | None = None
    damages: bool = False
    no_backward: str = ""


def call(node: Any, *inputs: Array | None, constants: Sequence[Array] = (), **more: Any) -> NodeCall:
    """The node fed with the operator's inputs in their order, then with constants."""
    return NodeCall(node, (*inputs, *constants), (*range(len(inputs)), *(None,) * len(constants)), **more)


class Run:
    """A call that has run forwards."""

    def __init__(self, told: NodeCall, inputs: Sequence[Array | None]) -> None:
        self._call, self._inputs = told, inputs
        for i, feed in enumerate(told.feeds):
            if feed is not None:
                self._feed(told.node, i, aidge_core.Tensor(feed))
        self._operator = (told.node if told.last is None else told.last).get_operator()
        graph = aidge_core.get_connected_graph_view(told.node)
        graph.set_backend("cpu")
        graph.forward_dtype()
        graph.forward_dims(allow_data_dependency=True)
        self._scheduler = aidge_core.SequentialScheduler(graph)
        self._scheduler.generate_scheduling()
        self._scheduler.forward(forward_dims=False)

    def outputs(self) -> list[Array | None]:
        found = [self._shaped(self._operator.get_output(i)) for i in self._call.outputs]
        return [*found] if self._call.finish is None else self._call.finish(found)

    def gradients(self, cotangents: Sequence[Array | None]) -> dict[int, Array]:
        """By input of the operator; aidge's shapes, but where the input was fed in another one."""
        for i, g in zip(self._call.outputs, cotangents, strict=False):  # fewer where outputs are left out
            if g is not None:
                output = self._operator.get_output(i)
                output.grad = aidge_core.Tensor(g.reshape(output.dims) if self._call.shape is not None else g)
        self._scheduler.backward()
        found = {}
        for i, (feed, source) in enumerate(zip(self._call.feeds, self._call.sources, strict=True)):
            given = None if source is None or source >= len(self._inputs) else self._inputs[source]
            if source is not None and feed is not None and given is not None:
                gradient = np.array(self._call.node.get_operator().get_input(i).grad)
                found[source] = gradient if feed.shape == given.shape else gradient.reshape(given.shape)
        return found

    def _shaped(self, tensor: Any) -> Array:
        y = np.array(tensor)
        return y if self._call.shape is None else y.reshape(self._call.shape)

    @staticmethod
    def _feed(node: Any, i: int, tensor: Any) -> None:
        """Weights stand in a Producer of the node's own, all else is connected."""
        producer = node.input(i)[0]
        if producer is None:
            node.get_operator().associate_input(i, tensor)
        else:
            producer.get_operator().set_output(0, tensor)
