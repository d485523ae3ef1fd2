"""What operators that call functions may be told to call, by name, and a state that goes through such a function."""

from types import ModuleType

from opproof.core.arrays import Array
from opproof.core.graph import store_between
from opproof.reference_ops import add, addcmul, logaddexp, mul, sub, tanh

#: By how many tensors they take.
FUNCTIONS: dict[int, dict[str, ModuleType]] = {
    1: {"tanh": tanh},
    2: {"add": add, "sub": sub, "mul": mul, "logaddexp": logaddexp},
    3: {"addcmul": addcmul},
}


def function_of(name: str, count: int) -> ModuleType:
    """The operator `name` of `count` tensors. Raises ValueError where there is none."""
    if name not in FUNCTIONS.get(count, {}):
        raise ValueError(f"{name} is none of {', '.join(FUNCTIONS.get(count, {}))}, which take {count} tensors")
    return FUNCTIONS[count][name]


def advance(state: Array, steps: list[Array], name: str) -> list[Array]:
    """The state at first, and after each step, as the function makes it of the one before and it is then stored."""
    function, found = function_of(name, 2), [state]
    for x in steps:
        found.append(store_between(function.forward(found[-1], x)))
    return found


def pull_back(gs: list[Array | None], states: list[Array], steps: list[Array], name: str) -> tuple[Array, list[Array]]:
    """The gradients of the first state and of what came at each step, from those of every state after it."""
    function, found = function_of(name, 2), []
    g = gs[-1]
    for t in reversed(range(len(steps))):
        g, dx = map(store_between, function.vjp(g, states[t + 1], states[t], steps[t]))
        found.append(dx)
        more = gs[t]
        g = g if more is None else g + more
    assert g is not None
    return g, found[::-1]
