"""The kill rates as a table, and as docs/mutation.md and docs/mutation-typed.md; and a page where much survives."""

from __future__ import annotations

from collections import Counter

from opproof.harness.prove.mutation.report import Score, Sorted
from opproof.harness.prove.mutation.trials import JUDGED, Fate
from opproof.reference_ops import load

_INTRODUCTION = """# Mutation

Written by `opproof mutate --markdown docs/mutation.md`; do not edit.

Each mutant is the reference backend with one defect of a kind that real libraries had; the families stand in
`harness/prove/mutation/`. A kernel for bf16 is a kernel of its own, so a mutant is killed *in a dtype*: the operator's
own cases of that dtype run, smoke rows first, until one is judged wrong.
A mutant whose answers are the honest ones bit for bit in every case of a dtype, and need not differ, is no defect there
and is not counted; how many those are stands in the last column.
"""

_SURVIVORS = """Survivors. Where no case shows one, a row is missing. The others are gradients in 16 bits from an output
that is saved by row or by matrix: it was rounded once, all gradients of the row share that error, and what is off by a
unit is no further off; and in float32 times 1 + 2^-20 behind long sums, within the RMS that an honest sum may have.
"""


_TYPED = """# Mutation, in other dtypes

Written by `opproof mutate --dtype i8,i16,i32,u8,f8e4m3,f8e5m2 --markdown docs/mutation-typed.md`; do not edit.

The mutants of [mutation.md](mutation.md), and some that only whole numbers have (`harness/prove/mutation/whole.py`), in
the dtypes beside floats: values alone, of the operators that have a meaning in them. Their rows are few and take turns,
so that a mutant of a size or a layout need not show in each dtype: those that no row of a dtype shows are not counted
as mutants there, but in the last column. Data fit, with all that a kernel passes through on its way to a result, and so
no mutant of an accumulation that overflows in the dtype itself could show: what is tried is one in fewer bits.
"""

_DECLARED = """# Mutation, where storage is declared

Written by `opproof mutate --declared {declared} --markdown FILE`.

Mutants of the reference backend in 16 bits, judged as the answers of a backend that declares *{declared}* for
every operator: bounds have room for intermediates that are stored in 16 bits, and what is as small as that passes. The
second table counts, of mutants that are no equivalents there, the kinds of which some survive, the largest first; *of*
counts all of that kind, also those that are killed.
"""


def _cells(score: Score) -> list[str]:
    if not score.mutants:
        return ["", ""]
    of = score.mutants - score.equivalent
    return [f"{score.killed} of {of}", score.rate]


def _heads(result: Sorted) -> list[str]:
    return ["operator", *(f"{dtype} {column}" for dtype in result.dtypes for column in ("killed", "rate"))]


def _rows(result: Sorted) -> list[list[str]]:
    return [[op, *(cell for d in result.dtypes for cell in _cells(result.score(op, d)))] for op in result.ops]


def table(result: Sorted) -> str:
    """The kill rate per operator and dtype, for the terminal."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    heads = _heads(result)
    align = ("left", *("right",) * (len(heads) - 1))
    return str(tabulate(_rows(result), heads, tablefmt="simple", colalign=align, disable_numparse=True))


def markdown_page(result: Sorted) -> str:
    """docs/mutation.md."""
    lines = [_TYPED if set(result.dtypes).isdisjoint(JUDGED) else _INTRODUCTION, *_scores(result)]
    lines += ["", *_equivalents(result)]
    if result.survivors:
        lines += ["", _SURVIVORS]
        lines += [f"- {f.op}, {f.dtype}, {f.name}: {f.why_alive}" for f in result.survivors]
    heads = _heads(result)
    lines += ["", f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in _rows(result)]
    return "\n".join(lines) + "\n"


def declared_page(result: Sorted, declared: str) -> str:
    """What survives by its kind, since it is much."""
    lines = [_DECLARED.format(declared=declared), *_scores(result), ""]
    lines += ["| dtype | mutant | survive | of |", "| --- | --- | ---: | ---: |"]
    alive = Counter((f.dtype, _kind(f)) for f in result.survivors)
    every = alive + Counter((f.dtype, _kind(f)) for f in result.killed)
    for (dtype, kind), count in sorted(alive.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {dtype} | {kind} | {count} | {every[dtype, kind]} |")
    return "\n".join(lines) + "\n"


def _kind(fate: Fate) -> str:
    """What a mutant does, without the names of the operator's own tensors and parameters."""
    op = load(fate.op)
    words = fate.mutant.split()
    named = {*op.tensors, *op.params}
    return f"{fate.mode}: " + " ".join("…" if word in named else word for word in words).replace("*", "\\*")


def _scores(result: Sorted) -> list[str]:
    lines = ["| dtype | mutants | killed | equivalent | survive | killed of the others | without effect |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for dtype in result.dtypes:
        s = result.score(dtype=dtype)
        counts = f"{s.mutants:,} | {s.killed:,} | {s.equivalent} | {s.survivors} | {s.rate} | {s.without_effect:,}"
        lines.append(f"| {dtype} | {counts} |")
    return lines


def _equivalents(result: Sorted) -> list[str]:
    lines = ["Equivalent mutants, whose every answer is right (`harness/prove/mutation/equivalent.toml`):", ""]
    lines += ["| operators | mutant | dtypes | mutants | reason |", "| --- | --- | --- | ---: | --- |"]
    for entry in dict.fromkeys(e for _, e in result.equivalent):
        count = sum(e == entry for _, e in result.equivalent)
        name, dtypes = entry.mutant.replace("*", "\\*"), ", ".join(entry.dtypes) or "every"
        lines.append(f"| {', '.join(entry.op)} | {name} | {dtypes} | {count} | {entry.reason} |")
    return lines
