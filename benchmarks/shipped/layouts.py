"""Strides, gaps and offsets that a kernel did not look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call, Wrong
from memory import dense, flat, from_start, in_memory_order, reread, row_major, strides


def read_flat(*names: str) -> Wrong:
    """The tensors are read as if dense."""

    def wrong(call: Call) -> list[Any] | None:
        if all(dense(call[n]) for n in names):
            return None
        return call.honest(**{n: flat(call[n]) for n in names if call[n] is not None})

    return wrong


def read_from_start(name: str) -> Wrong:
    return lambda call: call.honest(**{name: from_start(call[name])})


def written_flat(call: Call) -> list[Any] | None:
    """The first result is written as if its room were dense."""
    if not call.out or call.out[0] is None or dense(call.out[0]):
        return None
    first, *rest = call.honest()
    return [in_memory_order(first, call.out[0]), *rest]


def _mul(call: Call) -> list[Any] | None:
    one = call["b"].size == 1 and call["a"].size > 1 and not dense(call["a"])
    return call.honest(a=flat(call["a"])) if one else None


def _sum(call: Call) -> list[Any] | None:
    x = call["x"]
    if call["dim"] is not None or x.ndim == 0 or strides(x)[-1] == 1:
        return None
    return call.honest(x=reread(x, (*strides(x)[:-1], 1)))


def _scatter(call: Call) -> list[Any] | None:
    return None if dense(call["x"]) else [call["x"].copy()]


def _cumsum(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.shape[dim] != 1 or strides(x)[dim] == row_major(x)[dim]:
        return None
    return call.stored(np.full(x.shape, 12345))


def _mixed(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if a.dtype == b.dtype or (dense(a) and dense(b)):
        return None
    wide = "a" if a.dtype.itemsize > b.dtype.itemsize else "b"
    return call.honest(**{wide: flat(call[wide])})


def _rope(call: Call) -> list[Any] | None:
    x, n = call["x"], call["n_dims"]
    if n >= x.shape[-1] or dense(x) or call["mode"] == "vision":
        return None
    (y,) = call.honest()
    y[..., n:] = flat(x)[..., n:]
    return [y]


def _index_add(call: Call) -> list[Any] | None:
    source = call["source"]
    if source.ndim < 2 or dense(source):
        return None
    return call.honest(source=reread(source, (row_major(source)[0], *strides(source)[1:])))


def _grouped(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if b.ndim < 3 or a.ndim < 2 or a.shape[-2] > 8 or b.shape[0] < 2 or strides(b)[0] != 0:
        return None
    return call.honest(b=flat(b))


BUGS = [
    Bug("mul", "ikawrakow/ik_llama.cpp/pull/2072", "times one number, gapped rows are read as dense", _mul),
    Bug("sum", "ggml-org/llama.cpp/issues/25568", "the sum of all walks rows as if they were dense", _sum),
    Bug("conv2d", "huggingface/candle/pull/3894", "a weight that is not dense is read as if it were",
        read_flat("weight")),
    Bug("gelu", "huggingface/kernels-community/issues/106", "halves of rows are read as dense", read_flat("x")),
    Bug("addcdiv", "pytorch/pytorch/issues/118115", "in place, a transposed result is written as dense", written_flat),
    Bug("linear", "pytorch/pytorch/pull/162779", "a weight that is not dense is read as if it were",
        read_flat("weight")),
    Bug("layer_norm", "pytorch/pytorch/issues/131750", "a view's offset is ignored", read_from_start("x")),
    Bug("batch_norm", "pytorch/pytorch/issues/133520", "slices are read as dense", read_flat("x")),
    Bug("bitwise_xor", "pytorch/pytorch/issues/145203", "in place, columns are written as dense", written_flat,
        dtypes="i8,i16,i32,u8"),
    Bug("clamp", "pytorch/pytorch/pull/110120", "a strided result is written as dense", written_flat),
    Bug("scatter", "pytorch/pytorch/issues/115152", "nothing arrives in a permuted tensor", _scatter),
    Bug("sort", "pytorch/pytorch/issues/175187", "strides are ignored", read_flat("x")),
    Bug("digamma", "pytorch/pytorch/issues/175187", "strides are ignored", read_flat("x")),
    Bug("argsort", "huggingface/candle/pull/3875", "a view is sorted from its storage's beginning",
        read_from_start("x")),
    Bug("cumsum", "ml-explore/mlx/pull/4139", "along one cell of a padded axis nothing is written", _cumsum),
    Bug("matmul", "ggml-org/llama.cpp/pull/13155", "of two dtypes, the wider with gaps is read as dense", _mixed,
        dtypes="f32,f16"),
    Bug("rope", "ggml-org/llama.cpp/pull/14580", "channels that do not turn come from dense places", _rope),
    Bug("topk", "flagos-ai/Torch-FL/pull/174", "strides are ignored", read_flat("x")),
    Bug("set_rows", "torch/cutorch/issues/36", "rows of an expanded source are read as dense", read_flat("source")),
    Bug("index_add", "unslothai/unsloth-zoo/pull/776", "batches of updates are read at a dense stride", _index_add),
    Bug("matmul", "ml-explore/mlx/issues/3480", "few rows times one matrix for all: its stride 0 is ignored", _grouped),
]  # fmt: skip
