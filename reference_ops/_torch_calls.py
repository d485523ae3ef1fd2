"""A call of PyTorch as a call of one of our operators.

Arguments go by their names, tensors by their order. What our operator has no parameter for is left out: its PyTorch
twin is asked whether it computes the same (harness/capture/recorder.py).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opproof.core.arrays import is_number
from opproof.reference_ops._op import FOLDER, Op, names

#: Parameters of ours under other names of PyTorch.
_PARAMETERS = {"output_size": "size", "unbiased": "correction"}
_TWIN = re.compile(r"^PyTorch: ([^(]*?)\.?(?: ONNX:| \(|$)", re.MULTILINE)


@dataclass(frozen=True)
class OperatorCall:
    """A call of one of our operators, with PyTorch's tensors."""

    op: Op
    tensors: Mapping[str, Any]  # in the operator's order; of one that takes any number of them a, b, c ...
    params: Mapping[str, Any]  # those that are not at their defaults
    unread: tuple[str, ...] = ()  # PyTorch's arguments, not at their defaults, that the operator has no place for

    def twin(self) -> Any:
        """What the operator's PyTorch twin makes of it."""
        import torch

        given = [*self.tensors.values()] if self.op.variadic else [self.tensors.get(n) for n in self.op.tensors]
        defaults = {n: d for n, d in self.op.params.items() if d is not inspect.Parameter.empty}
        assert self.op.torch is not None
        return self.op.torch(torch, *given, **(defaults | dict(self.params)))


@dataclass(frozen=True)
class TorchFunction:
    """What a function of PyTorch is by its name; `operator` is empty where we have none of that name."""

    name: str
    operator: str
    reversed: bool = False  # rsub(a, b) is b - a


@functools.cache
def _load_operators() -> Mapping[str, str]:
    """Our operators by the names of PyTorch's functions, which their files state; of several none."""
    stated: dict[str, list[str]] = {}
    for name in names():
        line = _TWIN.search((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        for function in re.findall(r"torch\.[\w.]*\w", line.group(1) if line else ""):
            stated.setdefault(function.rpartition(".")[2], []).append(name)
    return {f: few[0] for f, few in stated.items() if len(few) == 1} | {n: n for n in names()}


def find_operator(func: Callable[..., Any]) -> TorchFunction:
    """Which operator `func` would be, and whether its operands change places."""
    full = str(getattr(func, "__name__", ""))
    name = full.strip("_") if full.startswith("__") else full.rstrip("_")
    for plain, turned in ((name, False), (name.removesuffix("2d"), False), (name.removeprefix("r"), True)):
        if plain in _load_operators():
            return TorchFunction(name, _load_operators()[plain], turned)
    return TorchFunction(name, "")


def is_in_place(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the call writes its result into its first tensor: x.relu_(), x[0] = y, F.relu(x, inplace=True)."""
    name = str(getattr(func, "__name__", ""))
    if name == "__setitem__" or (name.endswith("_") and not name.startswith("_")):
        return True
    try:
        return bool(inspect.signature(func).bind(*args, **kwargs).arguments.get("inplace"))
    except (TypeError, ValueError):  # what has no signature has no such argument
        return False


def read_calls(
    func: Callable[..., Any], op: Op, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[OperatorCall]:
    """Every way to read the arguments as those of `op`: PyTorch has overloads."""
    if find_operator(func).reversed:
        args = [*reversed(args[:2]), *args[2:]]
    for signature in _signatures_of(func):
        try:
            known = {n: v for n, v in kwargs.items() if n in signature.parameters or v}  # return_indices=False
            bound = signature.bind(*args, **known).arguments
        except TypeError:
            continue
        given = {n: v for n, v in bound.items() if not _is_same(v, signature.parameters[n].default)}
        if (call := _call(op, given)) is not None:
            yield call


def _signatures_of(func: Callable[..., Any]) -> list[inspect.Signature]:
    """A Python function's own; of what is none those of PyTorch's overloads."""
    import torch
    from torch.fx.operator_schemas import get_signature_for_torch_op

    with contextlib.suppress(ValueError):
        return [inspect.signature(func)]
    name = find_operator(func).name
    packet = getattr(torch.ops.aten, name, None)
    overloads = [getattr(packet, o) for o in packet.overloads()] if packet is not None else []
    for targets in ([func], [getattr(torch, name, None)], [getattr(torch.nn.functional, name, None)], overloads):
        of_each = [get_signature_for_torch_op(t) for t in targets if t is not None]
        if signatures := [s for found in of_each for s in found or ()]:
            return signatures
    return []


def _is_same(value: Any, default: Any) -> bool:
    if _is_tensor(value) or default is inspect.Parameter.empty:
        return False
    alike = type(value) is type(default) or (is_number(value) and is_number(default))
    return value is default or (alike and bool(value == default))


def _call(op: Op, given: Mapping[str, Any]) -> OperatorCall | None:
    """The arguments as those of `op`; None where it cannot be called so."""
    tensors: dict[str, Any] = {}
    params: dict[str, Any] = {}
    unread: list[str] = []
    for name, value in given.items():
        free = [n for n in op.tensors if n not in tensors and n not in given]
        ours = name if name in op.params else _PARAMETERS.get(name, name)
        if _is_tensor(value):
            slot = name if name in op.tensors else next(iter(free), "")
            if not slot:
                return None
            tensors["keep" if slot in op.optional and "keep" in free and not value.is_floating_point() else slot] = (
                value
            )
        elif op.variadic and isinstance(value, list | tuple) and all(map(_is_tensor, value)):
            tensors |= {chr(ord("a") + i): t for i, t in enumerate(value)}
        elif ours in op.params:
            params[ours] = to_plain(value, op.params[ours])
        elif is_number(value) and free and free[0] not in op.optional:
            tensors[free[0]] = _number_like(value, given)
        else:
            unread.append(name)
    required = [n for n, d in op.params.items() if d is inspect.Parameter.empty]
    complete = bool(tensors) if op.variadic else all(n in tensors for n in op.tensors if n not in op.optional)
    if not complete or any(n not in params for n in required):
        return None
    ordered = tensors if op.variadic else {n: tensors[n] for n in op.tensors if n in tensors}
    changed = {n: params[n] for n in op.params if n in params and params[n] != op.params[n]}
    return OperatorCall(op, ordered, changed, tuple(unread))


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _number_like(value: float, given: Mapping[str, Any]) -> Any:
    """A tensor without axes that holds a number, of the dtype of the floats beside it."""
    import torch

    floats = [v.dtype for v in given.values() if _is_tensor(v) and v.is_floating_point()]
    return torch.tensor(value, dtype=floats[0] if floats else None)


def to_plain(value: Any, default: Any) -> Any:
    """A parameter as a case holds it; one number where all along the axes are equal."""
    if isinstance(value, list | tuple):
        whole = tuple(int(v) if isinstance(v, int) else v for v in value)
        if isinstance(default, int) and len(set(whole)) == 1:
            return whole[0]
        return whole or None
    return float(value) if isinstance(default, float) and is_number(value) else value


#: The names of floats in cases by PyTorch's.
DTYPE_NAMES = {"torch.float64": "f64", "torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}


@dataclass
class CallCounts:
    """How often something was called, and what it cost."""

    calls: int = 0
    flops: int = 0
