"""Right for inputs of whole numbers whose highest bit is no sign, or whose sign is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.harness.diagnose.whole import is_whole, stored
from opproof.harness.diagnose.wrong import Wrong


def misread(w: Wrong) -> str | None:
    """An input, or all that have a sign, taken as unsigned or without their sign."""
    kind = DTYPES[w.case.dtype]
    if not is_whole(w) or kind.kind is not Kind.SIGNED:
        return None
    signed = [i for i, v in enumerate(w.inputs) if v is not None and v.dtype.kind == "f" and (v < 0).any()]
    for which in dict.fromkeys([*((i,) for i in signed), tuple(signed)]) if signed else ():
        names = " and ".join(str(w.names[i]) for i in which)
        for how, said in _readings(int(2 * (kind.max + 1))):
            read = w.again(inputs=[how(v) if i in which and v is not None else v for i, v in enumerate(w.inputs)])
            if read is not None and w.fits(stored(w, read)):
                return f"{w.what} is right for {said.format(names)}"
    return None


def _readings(whole: int) -> Iterator[tuple[Callable[[Array], Array], str]]:
    yield lambda v: v % whole, f"{{}} taken as unsigned: -1 is {whole - 1}"
    yield np.abs, "the absolute values of {}"
