"""Computing a graph: values, and gradients of the loss sum(y g)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import QUANTISED, TYPES
from opproof.backends.ggml.memory import dtype_of
from opproof.backends.protocol import BackendFailed, Unsupported
from opproof.core.arrays import Array

_POISON = 0xFF  # as bytes of a float, NaN in all types
_ZONE = 2**14  # bytes of the last tensor, which nobody computes


def run(g: Graph, outputs: Sequence[Tensor]) -> list[Array]:
    """Compute, and copy the outputs out."""
    for y in outputs:
        g.do("ggml_set_output", y)  # its memory is not reused, and no fused kernel skips it
        g.do("ggml_build_forward_expand", g.graph, y)
    _compute(g)
    return [read(g, y) for y in outputs]


def lies_over(g: Graph, y: Tensor, leaf: Tensor) -> bool:
    """Whether y is written where the array of `leaf` lies, element by element."""
    if not g.is_over(y):
        return False
    dense = all(g.asks("ggml_is_contiguous", t) for t in (y, leaf))
    return dense or g.strides(y.pointer) == g.strides(leaf.pointer)


def differentiate(g: Graph, outputs: Sequence[Tensor | None], cotangents: Sequence[Array | None]) -> None:
    """Append the backward pass of the loss sum(y g), summed over the outputs that have a cotangent.

    Raises Unsupported where none of them is of a type that ggml differentiates.
    """
    pairs = [(y, c) for y, c in zip(outputs, cotangents, strict=True) if y is not None and c is not None]
    pairs = [(y, c) for y, c in pairs if g.type(y) in ("f32", "f16")]
    if not pairs:
        raise Unsupported("no output of this operator has a gradient")
    for y, cotangent in pairs:
        g.do("ggml_set_output", y)
        product = g.call("ggml_mul", g.leaf(np.ascontiguousarray(cotangent)), y)
        loss = g.call("ggml_sum", product, shape=())
        g.do("ggml_set_loss", loss)
        g.do("ggml_build_forward_expand", g.graph, loss)
    g.do("ggml_build_backward_expand", g.context, g.graph, None)


def compute_gradients(g: Graph, inputs: Sequence[Tensor | None]) -> list[Array | None]:
    """Compute, and copy out the gradients of `inputs`; zeros where the loss does not depend on one."""
    _compute(g)
    found: list[Array | None] = []
    for x in inputs:
        grad = 0 if x is None else g.pointer("ggml_graph_get_grad", g.graph, ctypes.c_void_p(x.pointer))
        if x is None:
            found.append(None)
        elif not grad:
            found.append(np.zeros(x.shape, np.float32))
        else:
            same = g.sizes(grad) == g.sizes(x.pointer)
            found.append(read(g, Tensor(grad, x.shape if same else tuple(reversed(g.sizes(grad))))))
    return found


def read(g: Graph, tensor: Tensor) -> Array:
    """The tensor's values as a new array, cut to the shape in which NumPy sees it."""
    sizes, strides = g.sizes(tensor.pointer), g.strides(tensor.pointer)
    quantised = g.type(tensor) in QUANTISED
    dtype = np.dtype(np.uint8) if quantised else dtype_of(g.type(tensor))
    if 0 in sizes:
        return np.zeros(tensor.shape, dtype)
    memory = g.device.read(tensor.pointer)
    if quantised:
        return memory.copy().reshape(tensor.shape)
    view: Array = np.ndarray(tuple(reversed(sizes)), dtype, memory, strides=tuple(reversed(strides)))
    return view.copy().reshape(tensor.shape)


def _compute(g: Graph) -> None:
    """Allocate what has no memory yet, poison it, run.

    Raises MemoryError where there is none, and BackendFailed where a kernel wrote behind a tensor.
    """
    _check(g)
    if g.planned:
        _share_memory(g)
        _run_kernels(g)
        return
    g.pointer("ggml_new_tensor_1d", g.context, ctypes.c_int(TYPES["i8"]), ctypes.c_int64(_ZONE))
    allocate = g.library.function("ggml_backend_alloc_ctx_tensors")
    allocate.restype = ctypes.c_void_p
    g.buffer = ctypes.c_void_p(allocate(g.context, g.device.backend))
    if not g.buffer:
        raise MemoryError("ggml_backend_alloc_ctx_tensors gave no memory")
    g.device.fill_buffer(g.buffer, _POISON)
    if g.gradient:
        g.do("ggml_graph_reset", g.graph)
    _run_kernels(g)
    _look_behind(g, g.buffer)


def _share_memory(g: Graph) -> None:
    """Have ggml's allocator place what is computed: memory that nobody reads any more is used again."""
    kind = g.pointer("ggml_backend_get_default_buffer_type", g.device.backend)
    g.allocator = ctypes.c_void_p(g.pointer("ggml_gallocr_new", ctypes.c_void_p(kind)))
    allocate = g.library.function("ggml_gallocr_alloc_graph")
    allocate.restype = ctypes.c_bool
    if not allocate(g.allocator, g.graph):
        raise MemoryError("ggml_gallocr_alloc_graph gave no memory")


def _run_kernels(g: Graph) -> None:
    status = g.library.function("ggml_backend_graph_compute")(g.device.backend, g.graph)
    if status:
        raise MemoryError(f"ggml_backend_graph_compute gave status {status}")


def _look_behind(g: Graph, buffer: ctypes.c_void_p) -> None:
    """Raise BackendFailed where the poison between tensors, or in the last one, was written."""
    base, memory = g.device.read_buffer(buffer)
    size = memory.size
    free = np.ones(size, np.bool_)
    pointer = g.pointer("ggml_get_first_tensor", g.context)
    while following := g.pointer("ggml_get_next_tensor", g.context, ctypes.c_void_p(pointer)):
        data, nbytes = (g.pointer(f, ctypes.c_void_p(pointer)) for f in ("ggml_get_data", "ggml_nbytes"))
        if base <= data < base + size:
            free[data - base : data - base + nbytes] = False
        pointer = following
    if written := int(np.count_nonzero(memory[free] != _POISON)):
        raise BackendFailed(f"ggml wrote {written} bytes behind the end of a tensor")


def _check(g: Graph) -> None:
    """Ask the backend about every node. Raises Unsupported in its words."""
    count = g.library.function("ggml_graph_n_nodes")(g.graph)
    supports = g.library.function("ggml_backend_supports_op")
    supports.restype = ctypes.c_bool
    for i in range(count):
        node = ctypes.c_void_p(g.pointer("ggml_graph_node", g.graph, ctypes.c_int(i)))
        if not supports(g.device.backend, node):
            describe = g.library.function("ggml_op_desc")
            describe.restype = ctypes.c_char_p
            raise Unsupported(
                f"ggml's {g.device.name} backend says that it does not support this {describe(node).decode()}"
            )
