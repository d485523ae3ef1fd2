"""Rows that are one in memory share their errors: of such inputs only the elements' bounds count."""

import pytest
import torch

import opproof


def linear(x, weight):
    return x @ weight.T


class Shared(torch.autograd.Function):
    """linear whose first row of weight's gradient has one error of 24 roundoffs, within the bound of each element."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        gradient = g.T @ x
        first = (torch.arange(len(gradient)) == 0)[:, None]
        return g @ weight, gradient + 24 * 2**-24 * gradient.abs() * first


def test_an_error_that_a_row_shares():
    inputs = [(6, 9), (3, 9)]
    with pytest.raises(AssertionError, match="WRONG_GRADIENT"):
        opproof.check(Shared.apply, like=linear, inputs=inputs, only="as given")
    opproof.check(Shared.apply, like=linear, inputs=inputs, only="broadcast")
