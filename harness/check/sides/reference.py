"""The reference of a check: a PyTorch function or module, asked in the dtypes of a request or in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.harness.check.sides.call import perform
from opproof.harness.check.sides.exchange import Reply, Request
from opproof.harness.check.sides.leaves import flat
from opproof.harness.check.sides.patience import NoEnd, within
from opproof.harness.check.sides.remembered import forgetting
from opproof.harness.check.sides.subject import Form, as_call, call_for, in_dtype, in_float64
from opproof.harness.check.tensors import PARTS, Tensor, by_parts
from opproof.harness.reference.torch import dtype_leaks
from opproof.harness.reference.torch.dispatch import TAKES_FUNCTIONS
from opproof.harness.reference.torch.random_draws import recorded

#: How a candidate is asked: in this process, or in its own.
Ask = Callable[[Request], Reply]


#: What PyTorch's compiler raises where it meets another one who looks at every operation.
_UNTRACED = ("Unsupported:", "InternalTorchDynamoError:")


class Native(Protocol):
    """What gives an answer in the dtypes of a request."""

    def native(self, request: Request) -> Reply:
        """The answer."""
        ...


@dataclass(frozen=True)
class Reference:
    """A function or module of PyTorch, and what its tensors are.

    `patience`: seconds after which a call in the dtypes of a request is given up.
    """

    subject: Any
    form: Form
    patience: float = math.inf

    def native(self, request: Request) -> Reply:
        """What it gives in the dtypes of the request; where PyTorch has it in float32 alone, in that.

        Raises OpError where the reference has PyTorch's compiler look at the steps of a function, as the judge does.
        """
        reply = self._performed(request)
        narrow = {t.dtype for t in request.tensors if t.kind in ("f16", "bf16")}
        if not reply.error or not narrow:
            return reply
        wide = tuple(replace(t, dtype="float32") if t.dtype in narrow else t for t in request.tensors)
        again = self._performed(replace(request, tensors=wide))
        named = min(narrow)
        outputs = tuple(replace(y, dtype=named) if y.dtype == "float32" else y for y in again.outputs)
        return replace(again, outputs=outputs)

    def _performed(self, request: Request) -> Reply:
        call, given = call_for(self.subject, self.form, request), set[int]()

        def noted(tensors: Sequence[Any]) -> Any:
            given.update(t.untyped_storage().data_ptr() for t in tensors if not t.is_sparse)
            with within(self.patience):
                return call(tensors)

        with forgetting(self.subject), recorded() as draws, dtype_leaks.recorded(given) as cast:
            reply = perform(noted, request)
        if reply.error.startswith(_UNTRACED):
            raise OpError(TAKES_FUNCTIONS.format("what the reference calls (flex_attention, cond, while_loop)"))
        error = reply.error.removeprefix(f"{NoEnd.__name__}: ")
        return replace(reply, error=error, draws=tuple(draws), casts=tuple(cast.items()))

    def keeps(self, request: Request) -> bool:
        """Whether a call leaves something in it that was not there, as a table or a count, beside its buffers."""
        subject = in_dtype(self.subject, request.tensors)
        with forgetting(subject) as changed:
            perform(as_call(subject, self.form.with_rest(request.rest)), request)
            return changed()

    def outputs(self, request: Request) -> Callable[..., Sequence[Any]]:
        """The reference as a function of float64 tensors that gives all outputs, updated tensors among them.

        Complex tensors are given, and come, by their parts.
        """
        import torch

        subject = in_float64(self.subject)
        call = as_call(subject, self.form.with_rest(request.rest))
        own = [t.dtype if not t.kind and t.dtype != "bool" else "" for t in request.tensors]
        whole = [t.dtype in PARTS for t in request.tensors]

        def outputs(*tensors: Any) -> Sequence[Any]:
            given = [torch.view_as_complex(t.clone()) if c else t.clone() for t, c in zip(tensors, whole, strict=True)]
            given = [t.to(getattr(torch, d)) if d else t for t, d in zip(given, own, strict=True)]
            with forgetting(subject):
                found = flat(call(given))
            return [by_parts(y) for y in (*found, *(given[i] for i in request.after))]

        return outputs


def kinds(tensors: Sequence[Tensor]) -> tuple[str, ...]:
    """Our names of the float dtypes of tensors, "" of those that hold none; of one number, that in which it is used.

    A number of float64 beside tensors of a smaller dtype widens nothing: PyTorch computes in theirs, its gradient too.
    """
    widest = max((t.kind for t in tensors if t.kind and t.shape), key=lambda k: DTYPES[k].digits, default="")
    return tuple(widest if widest and t.kind == "f64" and not t.shape else t.kind for t in tensors)
