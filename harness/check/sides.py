"""The two sides of a check: the reference, and the candidate as it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from opproof.harness.check.call import Reply, Request, flat, perform
from opproof.harness.check.subject import Arguments, as_call, in_dtype, in_float64
from opproof.harness.check.tensors import KINDS, Tensor

#: How a candidate is asked: in this process, or in its own.
Ask = Callable[[Request], Reply]


class Native(Protocol):
    """What gives an answer in the dtypes of a request."""

    def native(self, request: Request) -> Reply:
        """The answer."""
        ...


@dataclass(frozen=True)
class Reference:
    """A function or module of PyTorch, and the arguments that it takes beside tensors."""

    subject: Any
    arguments: Arguments
    count: int  # of the tensors that are inputs; parameters follow
    names: tuple[str, ...]  # of the parameters
    differentiable: tuple[bool, ...] = ()

    def native(self, request: Request) -> Reply:
        """What it gives in the dtypes of the request; where PyTorch has it in float32 alone, in that."""
        subject = in_dtype(self.subject, request.tensors)
        reply = perform(as_call(subject, self.arguments, self.count, self.names), request)
        narrow = {t.dtype for t in request.tensors if t.kind in ("f16", "bf16")}
        if not reply.error or not narrow:
            return reply
        wide = tuple(replace(t, dtype="float32") if t.dtype in narrow else t for t in request.tensors)
        subject = in_dtype(self.subject, wide)
        again = perform(as_call(subject, self.arguments, self.count, self.names), replace(request, tensors=wide))
        named = min(narrow)
        outputs = tuple(replace(y, dtype=named) if y.dtype == "float32" else y for y in again.outputs)
        return replace(again, outputs=outputs)

    def outputs(self, after: Sequence[int]) -> Callable[..., Sequence[Any]]:
        """The reference as a function of float64 tensors that gives all outputs, updated tensors among them."""
        call = in_float64(self.subject, self.arguments, self.count, self.names)

        def outputs(*tensors: Any) -> Sequence[Any]:
            given = [t.clone() for t in tensors]
            return [*flat(call(*given)), *(given[i] for i in after)]

        return outputs


def kinds(tensors: Sequence[Tensor]) -> tuple[str, ...]:
    """Our names of the float dtypes of tensors, "" of those that hold none."""
    return tuple(t.kind for t in tensors)


def kind_of(dtype: str) -> str:
    """Our name of a float dtype, "" for others."""
    return KINDS.get(dtype, "")
