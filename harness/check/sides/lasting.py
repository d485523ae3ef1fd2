"""A candidate that is called again and again: a module stays the one it was, with what it keeps from call to call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from opproof.harness.check.sides.call import Call
from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.subject import Form, as_call, dtype_of, in_dtype


@dataclass
class Lasting:
    """A candidate; `lasts`: whether a module stays from call to call, and does not begin each anew, as a reference."""

    candidate: Any
    form: Form
    lasts: bool
    copies: dict[str, Any] = field(default_factory=dict)  # by dtype

    def call_for(self, request: Request) -> Call:
        """How it is called for a request: in its dtypes, with what it gives beside tensors."""
        dtype = dtype_of(request.tensors)
        if not self.lasts or dtype not in self.copies:
            self.copies[dtype] = in_dtype(self.candidate, request.tensors)
        return as_call(self.copies[dtype], self.form.with_rest(request.rest))
