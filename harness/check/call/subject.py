"""What is compared, a function of tensors or a module, whose parameters are inputs too; and arguments of a call."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opproof.core.errors import UsageError
from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.call.perform import Call
from opproof.harness.check.tensors import KINDS, CallTensor, take_tensor

#: How far parameters are moved from where they begin: of ones and zeros, a weight that is ignored shows in nothing.
_PERTURBATION_SHARE = 0.25
#: Buffers that PyTorch's norms begin with zeros and ones, and update.
_STATISTICS = ("running_mean", "running_var")
#: And so many batches they are of, where nothing is forgotten.
_BATCHES = "num_batches_tracked"


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call: tensors by position, all else as it is; `keywords`: names of all, given by name."""

    rest: tuple[Any, ...]  # leaves; None at the places of tensors
    places: tuple[int, ...]  # of the tensors among the leaves
    spec: Any  # of the tree
    keywords: tuple[str, ...] = ()

    def filled(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with these tensors."""
        from torch.utils._pytree import tree_unflatten

        leaves = [restore_generator(v) for v in self.rest]
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        return tuple(tree_unflatten(leaves, self.spec))

    def labels(self, names: Sequence[str]) -> list[str]:
        """What the leaves are called: as the argument, and the places where they lie in it (`params.gate.weight`).

        Empty where `names` of the arguments are too few, or two leaves would be called alike.
        """
        from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

        arguments = tree_unflatten([object()] * len(self.rest), self.spec)
        if len(names) < len(arguments) or not all(n.isidentifier() for n in names):
            return []
        paths = [path for path, _ in tree_flatten_with_path(arguments)[0]]
        labels = [".".join([names[path[0].idx], *map(_format_step, path[1:])]) for path in paths]
        plain = all(re.fullmatch(r"\w+(\.\w+)*", label) for label in labels)
        return labels if plain and len(set(labels)) == len(labels) else []

    def split(self, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with these tensors: those given by position, and those by name."""
        filled = self.filled(tensors)
        return ((), dict(zip(self.keywords, filled, strict=True))) if self.keywords else (filled, {})

    def call(self, subject: Any, tensors: Sequence[Any]) -> Any:
        """What comes of a call with these tensors."""
        given, named = self.split(tensors)
        return subject(*given, **named)


def _format_step(key: Any) -> str:
    """A step into a nesting of arguments: a key, a field or a position."""
    return str(next(getattr(key, name) for name in ("key", "name", "idx") if hasattr(key, name)))


@dataclass(frozen=True)
class Form:
    """What the tensors of a call are: `count` inputs among the arguments, then parameters and buffers by name."""

    arguments: Arguments
    count: int
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()

    def with_rest(self, rest: tuple[Any, ...] | None) -> Form:
        """The same with other arguments beside tensors; None: as given."""
        return self if rest is None else replace(self, arguments=replace(self.arguments, rest=rest))


def is_module(subject: Any) -> bool:
    """Whether it is a torch.nn.Module."""
    return hasattr(subject, "named_parameters") and hasattr(subject, "forward")


def name_of(subject: Any) -> str:
    """What it is called, in letters that a case id may hold."""
    overload = getattr(subject, "_opoverload", subject)  # of an operator of torch.library
    name = str(getattr(overload, "__name__", None) or type(subject).__name__).removesuffix(".default")
    kept = "".join(c if c.isalnum() else "_" for c in name).strip("_")
    return kept if kept and not kept[0].isdigit() else f"f_{kept}"


def state_of(module: Any, dtype: str | None, seed: int) -> tuple[CallTensor, ...]:
    """A module's parameters and statistics, moved from where they began, then other buffers; floats in `dtype`.

    The batches that were counted are `seed` more, all else is as it is.
    """
    rng = np.random.default_rng([seed, 2])
    some = (_perturb_parameter(t, rng) if _moves(t) else t for t in list_owned(module, dtype))
    return tuple(t.holding(t.values + seed) if t.name.endswith(_BATCHES) and t.buffer else t for t in some)


def list_owned(module: Any, dtype: str | None) -> tuple[CallTensor, ...]:
    """A module's parameters, then its buffers; floats in `dtype` where one is given."""
    return (
        *(take_tensor(_strip_wrapper(n), p, dtype, param=True) for n, p in module.named_parameters()),
        *(take_tensor(_strip_wrapper(n), b, dtype, param=True, buffer=True) for n, b in module.named_buffers()),
    )


def is_statistic(tensor: CallTensor) -> bool:
    """Whether it is one of those that a norm keeps of batches."""
    return tensor.buffer and tensor.name.endswith((*_STATISTICS, _BATCHES))


def _moves(tensor: CallTensor) -> bool:
    """Whether it has other values as well: parameters, and running statistics, not a table or a mask."""
    return bool(tensor.kind) and (not tensor.buffer or tensor.name.endswith(_STATISTICS))


def _perturb_parameter(tensor: CallTensor, rng: np.random.Generator) -> CallTensor:
    if tensor.name.endswith(_STATISTICS[1]) and tensor.buffer:
        return tensor.holding(tensor.values * (1 + _PERTURBATION_SHARE * rng.uniform(-1, 1, tensor.values.shape)))
    size = float(np.sqrt(np.mean(np.square(tensor.values)))) if tensor.values.size else 0.0
    return tensor.holding(
        tensor.values + _PERTURBATION_SHARE * (size or 0.5) * rng.standard_normal(tensor.values.shape)
    )


def _strip_wrapper(name: str) -> str:
    return name.replace("_orig_mod.", "")


def in_float64(subject: Any) -> Any:
    """The reference for float64 tensors: of a module a copy."""
    return copy.deepcopy(subject).double() if is_module(subject) else subject


def in_evaluation(module: Any) -> Any:
    """A copy of a module that is not in training mode."""
    return copy.deepcopy(module).eval()


def as_call(subject: Any, form: Form) -> Call:
    """A function, or a module with its parameters and buffers set, as it is called with tensors.

    What a module does to a buffer is done to the tensor that was given for it. Raises UsageError where a parameter is
    missing.
    """
    if not is_module(subject):
        return lambda tensors: form.arguments.call(subject, tensors)
    buffers = {_strip_wrapper(n): (n, b) for n, b in subject.named_buffers()}
    owned = {_strip_wrapper(n): n for n, _ in subject.named_parameters()} | {k: n for k, (n, _) in buffers.items()}
    if missing := [n for n in form.parameters if n not in owned]:
        raise UsageError(
            f"the candidate has no parameter {missing[0]!r}: expected those of the reference by name, "
            f"got {', '.join(owned) or 'none'}."
        )

    def call(tensors: Sequence[Any]) -> Any:
        state = {n: b.clone() for n, b in buffers.values()}
        given = []
        for name, t in zip((*form.parameters, *form.buffers), tensors[form.count :], strict=True):
            own = state.get(owned.get(name, ""))
            if own is not None and own.shape == t.shape:
                state[owned[name]] = t if own.dtype == t.dtype else t.to(own.dtype)
                given.append((owned[name], t))
            elif name in owned and name not in buffers:
                state[owned[name]] = t
        return _call_module(subject, state, form.arguments, tensors[: form.count], given)

    return call


def call_for(subject: Any, form: Form, request: CallRequest) -> Call:
    """How a subject is called for a request: in its dtypes, with what it gives beside tensors."""
    return as_call(in_dtype(subject, request.tensors), form.with_rest(request.rest))


def _call_module(
    module: Any, state: Mapping[str, Any], arguments: Arguments, tensors: Sequence[Any],
    given: Sequence[tuple[str, Any]],
) -> Any:  # fmt: skip
    """The module's answer with this state; a buffer that it sets anew is copied to the tensor `given` for it."""
    import torch

    class Held(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.held = module

        def forward(self, *tensors: Any) -> Any:
            y = arguments.call(module, tensors)
            now = dict(module.named_buffers())
            with torch.no_grad():
                for name, t in given:
                    if now.get(name) is not t and name in now:
                        t.copy_(now[name])
            return y

    held = Held().train(module.training)
    return torch.func.functional_call(held, {f"held.{n}": t for n, t in state.items()}, tuple(tensors))


def in_dtype(module: Any, tensors: Sequence[CallTensor]) -> Any:
    """A copy of a module in the float dtype of its parameters, or of its inputs where it has none."""
    dtype = dtype_of(tensors)
    if not is_module(module) or not dtype:
        return module
    import torch

    return copy.deepcopy(module).to(getattr(torch, dtype))


def dtype_of(tensors: Sequence[CallTensor]) -> str:
    """The float dtype of parameters, or of inputs where there are none; empty where nothing is of floats."""
    floats = [t for t in tensors if t.dtype in KINDS]
    return next((t.dtype for t in (*(t for t in floats if t.param), *floats)), "")


@dataclass(frozen=True)
class Generator:
    """A torch.Generator as it was given. One is as good as another: its state is no argument that tells calls apart."""

    device: str
    state: bytes = field(repr=False, compare=False)

    def made(self) -> Any:
        """A torch.Generator in this state."""
        import torch

        generator = torch.Generator(self.device)
        generator.set_state(torch.frombuffer(bytearray(self.state), dtype=torch.uint8))
        return generator


def replace_generator(value: Any) -> Any:
    """A value, in place of a torch.Generator what makes its like."""
    import torch

    if not isinstance(value, torch.Generator):
        return value
    return Generator(str(value.device), value.get_state().numpy().tobytes())


def restore_generator(value: Any) -> Any:
    """The value for one call."""
    return value.made() if isinstance(value, Generator) else value


@dataclass
class Lasting:
    """A candidate; `lasts`: whether a module stays from call to call, and does not begin each anew, as a reference."""

    candidate: Any
    form: Form
    lasts: bool
    copies: dict[str, Any] = field(default_factory=dict)  # by dtype

    def call_for(self, request: CallRequest) -> Call:
        """How it is called for a request: in its dtypes, with what it gives beside tensors."""
        dtype = dtype_of(request.tensors)
        if not self.lasts or dtype not in self.copies:
            self.copies[dtype] = in_dtype(self.candidate, request.tensors)
        return as_call(self.copies[dtype], self.form.with_rest(request.rest))
