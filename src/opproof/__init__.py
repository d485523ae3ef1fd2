"""opproof: is my kernel right? Values and gradients of tensor operators against a measured bound.

    import opproof

    opproof.check(my_softmax, "softmax")
    opproof.check(my_kernel, like=reference, inputs=[(64, 1024), (1024,)], dtype="bf16")
    opproof.bound(reference, *tensors)
    opproof.assert_close(actual, like=reference, inputs=tensors)
    with opproof.capture("cases.toml"): ...
    with opproof.dispatch("aten::_softmax", my_softmax): ...

Importing it imports neither PyTorch nor NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opproof.harness import __version__
    from opproof.harness.capture.captured import CapturedCalls
    from opproof.harness.check.api import Bound
    from opproof.harness.check.hooks import Accuracy, DispatchedCalls
    from opproof.reports.check import Report

__all__ = ["__version__", "accuracy", "assert_close", "bound", "capture", "check", "dispatch"]


def __getattr__(name: str) -> str:
    """The version, when it is asked for: a host that loads a backend loads nothing of the judge's."""
    if name == "__version__":
        from opproof.harness import __version__

        return __version__
    raise AttributeError(f"module 'opproof' has no attribute {name!r}")


def check(
    candidate: Any,
    op: str | None = None,
    *,
    like: Any = None,
    inputs: Any = None,
    dtype: str | None = None,
    vjp: Callable[..., Any] | None = None,
    raises: bool = True,
    seconds: float = 20.0,
    isolate: bool | None = None,
    gradients: bool = True,
    compute: str | None = None,
    device: str | None = None,
    neighbours: bool = True,
    only: str | None = None,
    seed: int = 0,
    modes: Sequence[str] = (),
    reuses_outputs: bool = False,
    bits: str | None = None,
    beyond: bool = False,
    advise: bool = False,
    time: bool = False,
    inplace: Sequence[str] = (),
    overwrites: Sequence[str] = (),
    backwards: int | None = None,
    multiple_of: Mapping[str, int] | None = None,
    sizes: Mapping[str, Sequence[int]] | None = None,
    signature: str | None = None,
    grads: Mapping[str, None] | None = None,
    properties: Callable[..., Mapping[str, Any]] | None = None,
    tolerance: float | None = None,
    probabilities: Callable[..., Any] | None = None,
) -> Report:
    """Judge `candidate` against an operator of opproof's, or against any PyTorch function or module.

    A candidate is a function of tensors or of arrays of NumPy, JAX or MLX, a module, a torch.autograd.Function, an
    operator of torch.library, a symbol of C ("c:./libmine.so:my_kernel", or a ctypes function); with `op` also a
    backend.

    With `op`, `candidate(*tensors, **params)` is judged by the operator's standard cases. With `like`, by what that
    function or module computes in float64, for `inputs`: a list of shapes (tuples of integers, drawn normally in
    `dtype`), of tensors and other arguments, or a function `make(seed, dtype)` that returns such a list. The bound is
    measured: the reference is evaluated under noise, values and gradients. Of modules, parameters are inputs.

    dtype: f32 (of shapes, where none is given), f16, bf16 or f64. vjp: `vjp(g, *tensors)` gives the gradients, where
    autograd does not see through the candidate; `gradients=False` asks for none. compute: a declared lower precision
    ("storage", "tf32", "f16", "bf16"). neighbours: beside the inputs given, other values, layouts and sizes are tried
    for `seconds` of processors; where most were left then, the report's `complete` is False. `only` tries one of them
    alone, by the name that the report has. isolate: True for a process of the candidate's own, a function of a file;
    False for this process. By default what calls Triton, C or compiled modules is called in a copy of this process.
    device: where the candidate gets its tensors; by default where its parameters, or the tensors given, are. modes:
    "jvp" (forward mode) and "double" (the gradient of the gradient) are judged too, where they are named.
    reuses_outputs: a declaration that the next call overwrites what this one returned, as where a CUDA graph is
    replayed; else that fails. bits: "vary" declares that the same call may give other bits, as where atomic additions
    make a sum; then each of several answers has to be right. beyond: what is wrong is a
    failure too where an input leaves the range of all that were given, as below 0 of one that is positive in each
    draw; else the report has it in `beyond`. advise: say too where the candidate answers otherwise and
    is not wrong, as for NaN; the report keeps it in `advisories`. time: the inputs as given are timed too, beside eager
    and compiled PyTorch, with the error of each: the report's `times`.

    A contract says what the candidate promises otherwise than PyTorch's functional operators, and is tested as said.
    inplace: the named arguments hold the results afterwards, in the order of outputs, and nothing else changes.
    overwrites: these may hold anything afterwards, "grad" standing for the gradient that a backward is given.
    backwards: 1 where only the first backward of a forward counts. multiple_of, sizes: the sizes that are answered,
    as {"x.-1": 1024} and {"head_dim": (64, 128)}, by argument and axis or by a name of `signature`, as
    "(batch,head_dim),(head_dim)"; no others are asked. grads: {"cos": None} for what never gets a gradient.

    like="qr", "svd", "eigh", "lu", "topk" or "sort": an answer that is not unique is judged by what must hold of it,
    on matrices of several conditions. properties: `properties(inputs, outputs)` names what should be zero of an answer;
    its bound is measured by `like`, an honest function, else by the candidate itself in float64, or is `tolerance`.

    like="sampling": the candidate draws, and `probabilities`, a function of the same inputs, gives the probabilities of
    each row along a last axis, or the values of outcomes and these. Counts of draws are tested exactly.

    Raises AssertionError that explains the failures, unless `raises` is False; UsageError for a wrong call; OpError
    where the reference uses an operation that has no rule under noise.
    """
    from opproof.harness.check.api import judge_candidate

    report = judge_candidate(
        candidate, op, like=like, inputs=inputs, dtype=dtype, vjp=vjp, seconds=seconds, isolate=isolate,
        gradients=gradients, compute=compute, device=device, neighbours=neighbours, only=only, seed=seed,
        modes=modes, reuses_outputs=reuses_outputs, bits=bits, beyond=beyond, advise=advise, time=time,
        inplace=inplace or None, overwrites=overwrites or None, backwards=backwards, multiple_of=multiple_of,
        sizes=sizes, signature=signature, grads=grads, properties=properties, tolerance=tolerance,
        probabilities=probabilities,
    )  # fmt: skip
    if raises and not report.ok:
        raise AssertionError(repr(report))
    return report


def bound(reference: Callable[..., Any], *tensors: Any, dtype: str | None = None, compute: str | None = None) -> Bound:
    """Expected outputs of `reference(*tensors)`, and how far each element may be off: float64 arrays in their shapes.

    A record with `values` and `bound`, a tuple of an array for every output, or the one array where there is one.
    """
    from opproof.harness.check.api import bound_of

    return bound_of(reference, tensors, dtype, compute)


def assert_close(actual: Any, *, like: Callable[..., Any], inputs: Sequence[Any], compute: str | None = None) -> None:
    """Assert that `actual` is `like(*inputs)` up to honest rounding: torch.testing.assert_close without atol and rtol.

    `actual`: a tensor, or several in any nesting, in the dtype that is claimed. Raises AssertionError that names the
    worst element.
    """
    __tracebackhide__ = True
    from opproof.harness.check.api import evaluate_outputs, explain_difference

    if text := explain_difference(actual, evaluate_outputs(like, inputs, compute=compute)):
        raise AssertionError(text)


def accuracy(reference: Callable[..., Any], *, compute: str | None = None) -> Accuracy:
    """Make the accuracy check of an autotuner, which judges every configuration without a tolerance.

    Helion takes it as `autotune_baseline_accuracy_check_fn=judge` beside `autotune_baseline_fn=judge.baseline`. In a
    loop of your own call `judge.baseline(*inputs)` once, then `judge(answer)` of each candidate.
    """
    from opproof.harness.check.hooks import Accuracy

    return Accuracy(reference, compute)


def dispatch(
    name: str, kernel: Callable[..., Any], *, compute: str | None = None, raises: bool = True
) -> AbstractContextManager[DispatchedCalls]:
    """A block in which `kernel` answers each call of an operator of PyTorch, each judged by its own inputs.

    name: as PyTorch's dispatcher has it, below autograd: "aten::_softmax", "aten::add.Tensor", or an operator of
    torch.library. The kernel has its arguments. The block's value holds `calls` and `failures`; at its end an
    AssertionError tells the failures, unless `raises` is False. Raises UsageError where the operator is not called.
    """
    from opproof.harness.check.hooks import replace_operator

    return replace_operator(name, kernel, compute, raises=raises)


def capture(path: str | Path, *, data: bool = False) -> AbstractContextManager[CapturedCalls]:
    """A block whose calls of PyTorch become cases in the file at `path`, for `opproof run --cases`.

    Its value holds the cases, each with how often it was called, and the functions that are no operator of opproof.
    With `data` each case has that of its first call, in a .safetensors beside the file. Raises UsageError where the
    file cannot be written.
    """
    from opproof.harness.capture.program import capture_calls

    return capture_calls(Path(path), Path(path).stem, data=data)
