"""A backend as it was loaded: what is optional in the protocol, settled once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from opproof.backends.c.device import DeviceMemory
from opproof.backends.protocol import AN_ALIGNMENT, is_alignment
from opproof.core.dtypes import DECLARED, DTYPES, FLOATS, Declaration
from opproof.core.errors import BackendError
from opproof.core.verdicts import Destination


@dataclass(frozen=True)
class Loaded:
    """The members of a backend; those that it does not have are None."""

    name: str
    version: str
    device: str
    alignment: int  # bytes
    forward: Callable[..., Any] | None
    vjp: Callable[..., Any] | None
    forward_into: Callable[..., None] | None
    vjp_into: Callable[..., None] | None
    supports: Callable[..., Any] | None
    with_shapes: bool  # whether `supports` takes the shapes of the inputs too
    compute: Callable[..., str | None] | None
    rounding: Callable[..., str | None] | None
    bits: Callable[..., str | None] | None
    device_memory: DeviceMemory | None
    impl: Callable[[], str]  # what computed the last answer; empty where it does not say
    set_threads: Callable[[int], object] | None
    dtypes: frozenset[str]  # that it has beside those that every backend is asked for
    mixed: bool  # whether it takes floats of several dtypes in one call
    destinations: frozenset[Destination]  # where it can write results beside memory of their own, row by row
    capabilities: Mapping[str, Mapping[str, str]]  # vector capabilities, each with the variables that tell the library

    @property
    def differentiates(self) -> bool:
        """Whether it has gradients at all."""
        return self.vjp is not None or self.vjp_into is not None

    def writes(self, gradient: bool) -> bool:
        """Whether it writes results into memory that it is given."""
        return (self.vjp_into if gradient else self.forward_into) is not None

    def declared(self, op: str, dtype: str, mode: str) -> Declaration:
        """What it says of its results beforehand.

        `dtype` is that of results, with others after a "+": of f32+f16 the answer for that counts before that for f32.
        """
        return Declaration(**{f.name: _find_first(self, f.name, op, dtype, mode) for f in fields(Declaration)})

    def declines(
        self, op: str, dtypes: Sequence[str], params: Mapping[str, Any], shapes: Sequence[Sequence[int] | None]
    ) -> str:
        """The reason why it does not have this call; empty where it does, as far as it tells beforehand."""
        if self.supports is None:
            return ""
        given: dict[str, Any] = {"shapes": shapes} if self.with_shapes else {}
        answer = self.supports(op, dtypes, params, **given)
        if answer is True:
            return ""
        if answer is None:
            return "its supports() returned None; expected True, or a str: the reason why not"
        return str(answer) if answer else "declined without a reason"


def _find_first(backend: Loaded, name: str, op: str, dtype: str, mode: str) -> str | None:
    """What is declared of the dtypes together, else of that of results. Raises BackendError where it raises."""
    function: Callable[..., str | None] | None = getattr(backend, name)
    if function is None:
        return None
    try:
        answers = [function(op, asked, mode) for asked in dict.fromkeys((dtype, dtype.partition("+")[0]))]
    except Exception as error:
        if not _is_declaration(function):
            return None
        raise BackendError(
            f"its {name}({op!r}, {dtype!r}, {mode!r}) raised {type(error).__name__}: {error}; by this function a "
            "backend declares something of its results (opproof.backends.protocol): one of another purpose needs "
            "another name."
        ) from error
    if not all(answer is None or isinstance(answer, str) for answer in answers) and not _is_declaration(function):
        return None
    return next((answer for answer in answers if answer is not None), None)


def _is_declaration(function: Callable[..., Any]) -> bool:
    """Whether its parameters are called as those of a declaration are: `compute(op, inputs, params)` computes."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return True
    return {name.strip("_") for name in names} <= {"op", "dtype", "mode", "args", "kwargs"}


def resolve_members(backend: Any, name: str) -> Loaded:
    """`backend`, a module or an object, with its optional members looked up. Raises BackendError without a forward."""
    members: dict[str, Any] = {m: getattr(backend, m, None) for m in Loaded.__dataclass_fields__}
    declarations = [field.name for field in fields(Declaration)]
    for member in ("forward", "vjp", "forward_into", "vjp_into", "supports", *declarations, "set_threads"):
        if members[member] is not None and not callable(members[member]):
            raise BackendError(f"backend {name}: its {member} is {members[member]!r}; expected a function.")
    if members["forward"] is None and members["forward_into"] is None:
        raise BackendError(
            f"backend {name} has no function forward(op, inputs, params); see opproof.backends.protocol."
        )
    alignment = members["alignment"]
    if alignment is not None and not is_alignment(alignment):
        raise BackendError(f"backend {name}: its alignment is {alignment!r}; expected {AN_ALIGNMENT}.")
    members |= {
        "name": str(members["name"]) if members["name"] is not None else name,
        "version": "" if members["version"] is None else str(members["version"]),
        "device": "cpu" if members["device"] is None else str(members["device"]),
        "impl": lambda: str(getattr(backend, "impl", None) or ""),  # of every call anew
        "alignment": 64 if alignment is None else int(alignment),
        "dtypes": _check_dtypes(members["dtypes"], name),
        "mixed": _check_mixed(members["mixed"], name),
        "destinations": _check_destinations(members, name),
        "capabilities": _check_capabilities(members["capabilities"], name),
        "with_shapes": members["supports"] is not None and _takes(members["supports"], "shapes"),
    }
    return Loaded(**members)


def _check_dtypes(declared: Any, name: str) -> frozenset[str]:
    """The dtypes that a backend declares. Raises BackendError for what is none."""
    if declared is None:
        return frozenset()
    words = declared
    if isinstance(words, str) or not isinstance(words, Collection) or any(w not in DTYPES for w in words):
        raise BackendError(
            f"backend {name}: its dtypes are {declared!r}; expected a tuple of words: {', '.join(map(repr, DECLARED))}."
        )
    return frozenset(words).difference(FLOATS)


def _check_mixed(declared: Any, name: str) -> bool:
    """Whether it takes floats of several dtypes in one call. Raises BackendError for what is neither yes nor no."""
    if declared is not None and not isinstance(declared, bool):
        raise BackendError(f"backend {name}: its mixed is {declared!r}; expected True, or False.")
    return bool(declared)


def _check_capabilities(declared: Any, name: str) -> dict[str, dict[str, str]]:
    """The vector capabilities that a backend states. Raises BackendError for what states none."""
    if declared is None:
        return {}
    if not isinstance(declared, Mapping) or not all(_is_capability(*pair) for pair in declared.items()):
        raise BackendError(
            f"backend {name}: its capabilities are {declared!r}; expected names and variables, such as "
            '{"avx2": {"MINE_MAX_ISA": "avx2"}}.'
        )
    return {capability: dict(variables) for capability, variables in declared.items()}


def _is_capability(name: Any, variables: Any) -> bool:
    if not isinstance(name, str) or not name or name == "all" or any(c.isspace() or c in ",=" for c in name):
        return False
    return isinstance(variables, Mapping) and all(
        isinstance(text, str) and "\0" not in text for pair in variables.items() for text in pair
    )


def _check_destinations(members: Mapping[str, Any], name: str) -> frozenset[Destination]:
    """The destinations that a backend declares, where its functions can be told of them. Raises BackendError."""
    declared = members["destinations"]
    if declared is None:
        return frozenset()
    words = declared
    if isinstance(words, str) or not isinstance(words, Collection) or any(w not in list(Destination) for w in words):
        known = ", ".join(repr(str(word)) for word in Destination)
        raise BackendError(f"backend {name}: its destinations are {declared!r}; expected a tuple of words: {known}.")
    returning = [f for f in ("forward", "vjp") if members[f] is not None and members[f"{f}_into"] is None]
    if not all(_takes(members[function], "out") for function in returning):
        return frozenset()  # of a class that another was made of, whose functions were replaced
    return frozenset(map(Destination, words))


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether it can be given an argument of that name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)
