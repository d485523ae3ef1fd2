"""Rows that the recurrences over tokens share: (n, tokens, heads, d) around vector widths, each layout, few tokens."""

from __future__ import annotations

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

#: n, tokens, heads, head size, rest of the row; FIRST stands for a tensor's name.
_ROWS = (
    (1, 1, 1, 1, ""),
    (1, 1, 2, 9, ""),
    (3, 4, 2, 5, "fill=wide"),
    (2, 5, 3, 8, "layout=permuted"),
    (1, 9, 2, 7, "layout=transposed"),
    (2, 3, 2, 31, "layout=sliced"),
    (2, 2, 3, 32, "layout=gapped"),
    (1, 4, 2, 33, "layout=offset"),
    (1, 3, 1, 63, ""),
    (2, 3, 2, 64, "layout=FIRST:transposed"),
    (1, 3, 2, 65, "layout=state:transposed"),
    (1, 2, 1, 66, "fill=positive"),
    (3, 4, 2, 6, "layout=FIRST:broadcast,state:broadcast"),
    (2, 6, 2, 4, "fill=small;f32,bf16"),
    (2, 6, 2, 4, "fill=offset"),
    (2, 6, 2, 4, "fill=zeros"),
    (2, 6, 2, 4, "needs=state"),
    (2, 6, 2, 4, "needs=FIRST,v"),
    (0, 3, 2, 4, ""),
    (5, 3, 7, 2, "fill=negative"),
    (1, 97, 2, 3, ""),
    (2, 5, 2, 4, "fill=brink"),
)


def rows(tensors: str, first: str, params: tuple[str, ...] = ("",)) -> list[str]:
    """STANDARD rows. `tensors` is a template with {n}, {t}, {h} and {d}; parameter sets are taken in turn."""
    found = []
    for i, (n, t, h, d, rest) in enumerate(_ROWS):
        parts = (tensors.format(n=n, t=t, h=h, d=d), params[i % len(params)], rest.replace("FIRST", first))
        found.append(";".join(p for p in parts if p))
    return found


def vectors(*names: str) -> str:
    """A template of tensors that all are (n, tokens, heads, d)."""
    return ";".join(f"{name}={{n}}x{{t}}x{{h}}x{{d}}" for name in names)


def aligned_recurrence(tensors: str, params: str = "") -> list[str]:
    """Rows of heads of 64, 32 and 16. `tensors` is a template as in `rows`."""
    sizes = ((1, 3, 2, 64), (1, 2, 2, 64), (1, 4, 2, 32), (2, 3, 2, 64), (2, 4, 3, 16), (1, 2, 1, 128), (2, 3, 2, 32))
    return aligned(*(join(tensors.format(n=n, t=t, h=h, d=d, g=h), params) for n, t, h, d in sizes))


def long_recurrence(tensors: str, params: str = "") -> tuple[list[str], list[str]]:
    """Rows of many sequences and many heads; of full level, 1025 tokens."""
    long = {"n": 1, "t": 1, "h": 1, "d": 1, "g": 1}
    templates = [join(tensors.format(**{**long, axis: "{n}"}), params) for axis in ("n", "h")]
    standard, full = lengths(*(template.replace("{g}", "{n}") for template in templates))
    tokens, _ = lengths(join(tensors.format(**{**long, "t": "{n}"}), params), upto=1025)
    return standard, [*full, *tokens]


#: The axis of tokens.
TOKENS = Limit(0, "the reference walks from token to token, which takes seconds for 1025")


def short(tokens: str, states: str = "state.2 state.3") -> dict[str, Limit]:
    """Axes that are not long: axes 1 and 3 of the tensors named in `tokens`, and `states`."""
    walked = dict.fromkeys((f"{name}.1" for name in tokens.split()), TOKENS)
    square = Limit(0, "the state of a head has as many rows as columns, and would be of 4 MB and more")
    return {**walked, **{f"{name}.3": square for name in tokens.split()}, **dict.fromkeys(states.split(), square)}
