"""Options that draws have apart, and no draw has together: they are put together where the reference takes it."""

from __future__ import annotations

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.option_pairs import combine_options  # noqa: E402

judged = partial(opproof.check, raises=False, seconds=2)


def reference(x, weight=None, shift=0.0):
    y = torch.tanh(x) + shift
    return y if weight is None else y * weight


def wrong_together(x, weight=None, shift=0.0):
    return reference(x, weight, 0.0 if weight is not None else shift)


def inputs(seed):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(6, generator=generator) if seed % 2 else None
    return {"x": torch.randn(4, 6, generator=generator), "weight": weight, "shift": 0.0 if seed % 2 else 0.5}


def test_what_is_wrong_where_two_options_meet():
    report = judged(wrong_together, like=reference, inputs=inputs)
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} == {"seed 0 with weight of seed 1"}
    assert "--only" in str(report) or "only='seed 0 with weight of seed 1'" in str(report)
    alone = judged(wrong_together, like=reference, inputs=inputs, only="seed 0 with weight of seed 1")
    assert alone.tried == ("seed 0 with weight of seed 1",)
    assert alone.failures


def test_what_is_right_says_that_they_met():
    report = judged(reference, like=reference, inputs=inputs)
    assert report.ok
    assert "seed 0 with weight of seed 1" in report.tried
    assert "seed 1 with shift of seed 0" not in report.tried  # the same meeting


def test_what_the_reference_refuses_is_no_news():
    def either(x, weight=None, shift=0.0):
        assert weight is None or not shift
        return reference(x, weight, shift)

    report = judged(either, like=either, inputs=inputs)
    assert report.ok
    assert not any("seed 0 with weight of seed 1" in text for text in (*report.tried, *report.not_judged))


def met(draws, names=()):
    return [one.name for one in combine_options(lambda seed: draws[seed % len(draws)], 0, names)]


def test_meetings():
    x, y = torch.ones(2), torch.ones(3)
    assert met([[x, 1, "a"], [y, 2, "b"]], ["x", "n", "how"]) == [
        "seed 0 with n of seed 1",
        "seed 0 with how of seed 1",
    ]
    assert met([[x, 1], [y, 2]]) == []  # one option alone is tried as it is drawn
    assert met([[x, 1, "a"], [x, 2, "b"], [x, 1, "b"], [x, 2, "a"]]) == []  # they have met
    assert met([[x, 1], [x, 2, 3]]) == []
    assert met([{"x": [x], "n": {"k": 1}}, {"x": [x, x], "n": {"k": 2}}]) == [
        "seed 0 with x of seed 1",
        "seed 0 with n of seed 1",
    ]


def test_what_is_wrong_where_three_options_meet():
    def like(x, cap, window, slope):
        y = torch.tanh(x / cap) * cap if cap else x
        y = y - slope * torch.arange(x.shape[-1])
        return (
            y.cumsum(-1)
            if not window
            else y.cumsum(-1) - torch.nn.functional.pad(y, (window, 0))[:, :-window].cumsum(-1)
        )

    def kernel(x, cap, window, slope):
        return like(x, cap, window, slope) * (1.1 if cap and window and slope else 1)

    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        options = [(0.0, 0, 0.0), (5.0, 0, 0.0), (0.0, 4, 0.0), (0.0, 0, 0.25)][seed % 4]
        return {
            "x": torch.randn(4, 12, generator=generator),
            **dict(zip(("cap", "window", "slope"), options, strict=True)),
        }

    report = judged(kernel, like=like, inputs=inputs)
    wrong = {report.variants[r.case] for rs in report.failures.values() for r in rs}
    assert wrong == {"seed 0 with cap of seed 1 and window of seed 2 and slope of seed 3"}
    assert judged(like, like=like, inputs=inputs).ok


def test_who_refuses_options_that_no_draw_has_together_is_not_wrong():
    def either(x, weight=None, shift=0.0):
        if weight is not None and shift:
            raise ValueError("a shift goes with no weight")
        return reference(x, weight, shift)

    report = judged(either, like=reference, inputs=inputs)
    assert report.ok
    assert any("the candidate declines: ValueError: a shift goes with no weight" in text for text in report.not_judged)
