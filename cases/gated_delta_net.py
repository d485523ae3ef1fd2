"""Cases of gated_delta_net: a gate per head and one per channel, heads that share keys, states that are not zero."""

from opproof.cases._rows.reasons import RECURRENCE
from opproof.cases._rows.recurrences import aligned_recurrence, long_recurrence, rows, short, vectors

_HEAD = (
    "q={n}x{t}x{g}x{d};k={n}x{t}x{g}x{d};v={n}x{t}x{h}x{d};gate={n}x{t}x{h}x1;beta={n}x{t}x{h}x1;state={n}x{h}x{d}x{d}"
)
_CHANNEL = f"{vectors('q', 'k', 'v', 'gate')};beta={{n}}x{{t}}x{{h}}x1;state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_HEAD.format(n=2, t=4, h=4, g=2, d=5), _CHANNEL.format(n=2, t=4, h=3, d=5)]
STANDARD = [
    *rows(_CHANNEL, "q"),
    *(
        f"{_HEAD.format(n=n, t=t, h=h, g=g, d=d)}{rest}"
        for n, t, h, g, d, rest in (
            (1, 3, 2, 2, 9, ""),
            (2, 5, 6, 2, 8, ";layout=permuted"),
            (2, 3, 6, 3, 33, ";layout=k:transposed"),
            (3, 4, 4, 1, 7, ";fill=wide"),
            (3, 4, 4, 2, 7, ";layout=k:broadcast,v:broadcast,beta:broadcast"),
            (2, 4, 4, 2, 6, ";needs=gate,beta;layout=gate:broadcast"),
        )
    ),
]
LAID = [
    *(f"{_CHANNEL.format(n=2, t=4, h=3, d=5)};layout=cropped", f"{_CHANNEL.format(n=1, t=1, h=1, d=1)};layout=offset")
]
ALIGNED = aligned_recurrence(_CHANNEL)
LONG, LONGEST = long_recurrence(_CHANNEL)
SHORT = short("q k v gate beta")
FULL = [_HEAD.format(n=1, t=130, h=2, g=1, d=4), _CHANNEL.format(n=1, t=2, h=1031, d=2)]
WITHOUT = RECURRENCE
