"""What PyTorch twins share, and the one call of autograd. torch is handed in, never imported."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from opproof.core.tuples import tuple_of


def widened(torch: Any, *xs: Any) -> list[Any]:
    """Float tensors in float32 at least, in which kernels compute on 16-bit data; others and None as they are."""
    return [
        x if x is None or not x.is_floating_point() else x.to(torch.promote_types(x.dtype, torch.float32)) for x in xs
    ]


def gradient(torch: Any, f: Any, x: Any, g: Any) -> Any:
    """Autograd's gradient of f at x for the cotangent g, itself differentiable where x or g asks for it."""
    with torch.enable_grad():
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        (found,) = _grad(torch, (f(leaf),), (leaf,), (g,), again=x.requires_grad or g.requires_grad)
    return found


def autograd(
    torch: Any, f: Callable[..., Any], tensors: Sequence[Any], needs: Sequence[bool], cotangents: Sequence[Any]
) -> list[Any]:
    """Autograd's gradient of sum(g f(*tensors)) for every tensor that needs one, None for the others.

    Zeros where no output depends on it. `cotangents` holds None for an output of integers or booleans.
    """
    leaves = [t.detach().requires_grad_() if n else t for t, n in zip(tensors, needs, strict=True)]
    wanted = [t for t, n in zip(leaves, needs, strict=True) if n]
    outputs = zip(tuple_of(f(*leaves)), cotangents, strict=True)
    pairs = [(y, g) for y, g in outputs if g is not None and y.requires_grad]
    if pairs:
        ys, gs = zip(*pairs, strict=True)
        found = iter(_grad(torch, ys, wanted, gs))
    else:
        found = iter([None] * len(wanted))
    given = [next(found) if n else None for n in needs]
    return [torch.zeros_like(t) if n and d is None else d for t, n, d in zip(tensors, needs, given, strict=True)]


def _grad(
    torch: Any, ys: tuple[Any, ...], wanted: Sequence[Any], gs: tuple[Any, ...], *, again: bool = False
) -> Sequence[Any]:
    """torch.autograd.grad, None where no output depends on a tensor; itself differentiable where `again`.

    It compares shapes as symbols, for which it imports SymPy: 0.3 s in each process, and 15 % of the time of a small
    gradient. Where they are alike the engine is called as it calls it.
    """
    engine = getattr(torch.autograd.graph, "_engine_run_backward", None)
    if engine is None or any(y.shape != g.shape for y, g in zip(ys, gs, strict=True)):
        return torch.autograd.grad(ys, wanted, gs, create_graph=again, allow_unused=True)  # type: ignore[no-any-return]
    return engine(ys, gs, again, again, tuple(wanted), True, accumulate_grad=False)  # type: ignore[no-any-return]


def stepped(
    torch: Any, optimizer: Any, wide: Sequence[Any], states: Sequence[str], dtype: Any, step: int = 1, **given: Any
) -> tuple[Any, ...]:
    """The parameter and its states after a step of `optimizer`, a class of torch.optim, for each gradient.

    `wide` are the parameter, its gradients and the states in the order of their names; steps are counted from `step`.
    """
    parameter = torch.nn.Parameter(wide[0].detach().clone())
    own = optimizer([parameter], **given)
    state = {name: value.clone() for name, value in zip(states, wide[2:], strict=True)}
    state["step"] = torch.tensor(float(step - 1))
    own.state[parameter] = state
    for grad in wide[1]:
        parameter.grad = grad
        step_once(torch, own)
    return parameter.detach().to(dtype), *(state[name].to(dtype) for name in states)


def step_once(torch: Any, optimizer: Any) -> None:
    """A step of an optimizer, without what is wrapped round it: to be kept from PyTorch's compiler it imports that.

    Measured with PyTorch 2.13: 0.7 to 1.0 s of CPU in each process.
    """
    with torch.no_grad():
        inspect.unwrap(type(optimizer).step)(optimizer)
