"""Gating of a mixture of experts in Triton: the two best of the softmax, scaled to add up to 1, a program per row.

Broken: the softmax is of all experts, and the two are not scaled.
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")  # read when a kernel is defined; leave it out on a GPU

import torch
import triton
import triton.language as tl


def reference(logits):
    shares, experts = logits.softmax(-1).topk(2, -1)
    return shares / shares.sum(-1, keepdim=True), experts


inputs = [(7, 12)]
options = {"gradients": False}  # the router's kernel for inference


@triton.jit
def kernel(logits, shares, experts, n, SCALED: tl.constexpr, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(logits + row * n + j, mask=j < n, other=-float("inf"))
    most = tl.max(x, 0)
    first = tl.argmax(x, 0)
    rest = tl.where(j == first, -float("inf"), x)
    second = tl.argmax(rest, 0)
    other = tl.exp(tl.max(rest, 0) - most)
    total = 1 + other if SCALED else tl.sum(tl.exp(x - most), 0)
    tl.store(shares + 2 * row, 1 / total)
    tl.store(shares + 2 * row + 1, other / total)
    tl.store(experts + 2 * row, first.to(tl.int64))
    tl.store(experts + 2 * row + 1, second.to(tl.int64))


def right(logits, scaled=True):
    rows, n = logits.shape
    shares, experts = logits.new_empty(rows, 2), torch.empty(rows, 2, dtype=torch.int64)
    block = triton.next_power_of_2(n)
    kernel[(rows,)](logits.contiguous(), shares, experts, n, SCALED=scaled, BLOCK=block)
    return shares, experts


def broken(logits):
    return right(logits, scaled=False)
