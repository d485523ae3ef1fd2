"""The false-alarm study: judged records by library, at other constants, and what is above the constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from parts.tables import listed, read, table

#: Columns of the distributions.
QUANTILES = ("median", "90 %", "99 %", "99.9 %", "largest")
#: Tables of docs/data/false-alarms.json.
OTHERS = ("other seeds", "unexplained", "later libraries", "classes", "other ways")


def summary(data: Any = None) -> str:
    """Return how many records were judged, and the rate of false alarms."""
    data = data or read("soak")
    records, false = (sum(one[key] for one in data["libraries"]) for key in ("records", "false_alarms"))
    open_ = sum(one["not_classified"] for one in data["libraries"])
    constants = ", ".join(f"{name} = {value:g}" for name, value in data["constants"].items())
    return (
        f"{records:,} records of {data['operators']} operators are judged with the constants {constants}. False "
        f"alarms: {false} of {records:,}, {_rate(false, records)}." + (f" {open_} are not classified." if open_ else "")
    )


def libraries(data: Any = None) -> str:
    """Return what was judged of each library, and what is above the constants."""
    heads = (
        "library",
        "seeds",
        ">judged records",
        ">above the constants",
        ">defects",
        ">false alarms",
        ">not classified",
    )
    figures = ("records", "above", "defects", "false_alarms", "not_classified")
    rows = (
        (f"{one['library']} {one['version']}", _seeds(one["seeds"]), *(one[key] for key in figures))
        for one in (data or read("soak"))["libraries"]
    )
    return table(heads, rows)


def candidates(data: Any = None) -> str:
    """Return how many records would fail at other constants."""
    data = data or read("soak")
    names = [one["library"] for one in data["libraries"]]
    rows = (
        (f"{one['constant']} {one['value']:g}", *(one["failing"][name] for name in names), sum(one["failing"].values()))
        for one in data["candidates"]
    )
    return table(("constant", *(f">{name}" for name in (*names, "all"))), rows)


def distributions(data: Any = None) -> str:
    """Return the quantiles of what passes."""
    rows = (
        (*(one[key] for key in ("library", "dtype", "figure", "records")), *(f"{q:.2f}" for q in one["quantiles"]))
        for one in (data or read("soak"))["distributions"]
    )
    return table(("library", "dtype", "figure", ">records", *(f">{name}" for name in QUANTILES)), rows)


def above(data: Any = None) -> str:
    """Return what is above the constants: by library and class, its records, the largest error first."""
    return "\n".join(_groups((data or read("soak"))["above"])).rstrip()


def other(part: str) -> str:
    """Return a table of docs/data/false-alarms.json: what was judged apart from the table of libraries."""
    return listed(
        [{**one, "seeds": _seeds(one["seeds"])} if "seeds" in one else one for one in read("false-alarms")[part]]
    )


def _groups(groups: Sequence[dict[str, Any]]) -> Iterator[str]:
    for one in groups:
        heading = f"{one['kind']}: {one['sentence']}" if one["kind"] else "not classified"
        yield from (f"**{one['library']}, {heading}** ({len(one['records']):,})", "")
        yield from (f"- {_figures(record[:-2])}, {record[-2]}, `{record[-1]}`" for record in one["records"])
        yield ""


def _figures(figures: Sequence[Any]) -> str:
    """Say how far off a record is: of its units and their limit, with or without RMS and bias; or so many elements."""
    if len(figures) == 1:
        return f"{figures[0]} not finite"
    units, limit, *whole = map(float, figures)
    return f"{units:.3g} units of {limit:.3g}" + (f", RMS {whole[0]:.2f}, bias {whole[1]:+.2f}" if whole else "")


def _rate(count: int, total: int) -> str:
    """Return the rate, and where there is none, below what it is with 95 % confidence."""
    if not total:
        return "of nothing"
    return f"{count / total:.1e} a record" if count else f"below {3 / total:.0e} a record (95 % confidence)"


def _seeds(seeds: Sequence[int]) -> str:
    together = len(seeds) > 1 and all(b == a + 1 for a, b in pairwise(seeds))
    return f"{seeds[0]}–{seeds[-1]}" if together else ", ".join(map(str, seeds))
