"""Bugs that were mined and that no case of opproof can show, each with what is missing."""

from __future__ import annotations

from bug import Apart

_NEGATIVE = "no layout has negative strides"
_LARGE = "more elements than a standard case has"

APART = [
    Apart("sort", "ml-explore/mlx/pull/4252", "views of negative stride: zeros past the first row", _NEGATIVE),
    Apart("flip", "ml-explore/mlx/issues/2755", "a view reversed four times reads elsewhere", _NEGATIVE),
    Apart("masked_fill", "pytorch/pytorch/issues/12230", "in place into an expanded tensor",
          "no result lies in memory that several of its elements share"),
    Apart("paged_attention", "EricLBuehler/mistral.rs/issues/2094", "the window is ignored", "it has no window"),
    Apart("max_pool2d", "openxla/xla/issues/48714", "base dilation is dropped", "pools have no base dilation"),
    Apart("conv_transpose2d", "tinygrad/tinygrad/pull/840", "padding that differs from side to side",
          "padding is the same on both sides"),
    Apart("quantize", "intel/auto-round/pull/1909", "a block of zeros in q6_k: a scale of NaN",
          "the gguf package encodes no q6_k"),
    Apart("quantize", "ggml-org/llama.cpp/pull/20460", "a block near 1e-11 in iq4_nl: NaN",
          "the gguf package encodes no iq4_nl"),
    Apart("cumsum", "IntelPython/dpnp/pull/3063", "rows of a million: batches overwrite each other", _LARGE),
    Apart("rope", "ggml-org/llama.cpp/pull/18306", "more rows than a launch has groups", _LARGE),
    Apart("softmax", "pytorch/pytorch/pull/192007", "rows near 2^31: an index of 32 bits", _LARGE),
    Apart("bmm", "pytorch/pytorch/issues/197636", "results past 2^32 elements: an index of 32 bits", _LARGE),
    Apart("argsort", "pytorch/pytorch/issues/183885", "three rows of 4,194,305 along the first axis", _LARGE),
    Apart("logcumsumexp", "pytorch/pytorch/issues/196705", "a JVP loses a term", "forward-mode derivatives"),
    Apart("adaptive_avg_pool2d", "pytorch/pytorch/issues/180956", "fused with a sum: a padded stride",
          "a fusion of several operators: opproof check, not run"),
    Apart("mul", "pytorch/pytorch/issues/188792", "the first call of several threads is less precise",
          "a race at start"),
]  # fmt: skip
