"""Measuring with a clock of the tests': intervals, turns, budgets, clocks that lie, slow-downs found and not found."""

import math
import random

import numpy as np
import pytest

from opproof.backends.worker.timing import StoredArray, shift_storage
from opproof.cases import Case, cases_of
from opproof.core.verdicts import Mode
from opproof.harness.bench.bench import _explain_impossible, facts_of
from opproof.harness.bench.measure import Effort, interval_of, measure
from opproof.harness.bench.process import Blocks, Clocks, Fault, draw_unseen, find_disagreement
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.request import wanted_of
from opproof.reports.bench.compare import compare_benches, format_changes
from opproof.reports.bench.record import Bench, Caches, Interval, Roofline, Time

#: One clock of the tests' is as good at once as later.
AT_ONCE = Effort(visits=1)
ROOF = Roofline(1e10, 1e11, 1e11)
CASE = "relu[x=7x33;f32]"


class Machine:
    """Kernels on a machine that drifts, is disturbed now and then, and never twice alike; it has a clock of its own."""

    def __init__(self, seed):
        self.random, self.speed, self.log = random.Random(seed), 1.0, []

    def kernel(self, name, seconds):
        def block(calls):
            self.log.append(name)
            self.speed = math.exp(0.9 * math.log(self.speed) + self.random.gauss(0, 0.005))  # within some 3 %
            noise = abs(self.random.gauss(0, 0.03)) + (self.random.random() < 0.1) * self.random.expovariate(2)
            return calls * seconds * self.speed * (1 + noise)

        return block


def bench_of(**intervals):
    times = (Time(CASE, "relu", "f32", "forward", name, Caches.WARM, interval=i) for name, i in intervals.items())
    return Bench("0", "2026-01-01", {}, ROOF, tuple(times))


@pytest.mark.parametrize("seed", range(20))
def test_a_kernel_1_3_times_slower_is_found_and_an_equal_one_is_not(seed):
    """Between two benches on a machine that drifts by 3 % and is disturbed in a tenth of the blocks."""
    machine = Machine(seed)
    before = measure({"same": machine.kernel("same", 1e-4), "slow": machine.kernel("slow", 1e-4)}, AT_ONCE)
    machine.speed = 1 + random.Random(seed).uniform(-0.03, 0.03)
    after = measure({"same": machine.kernel("same", 1e-4), "slow": machine.kernel("slow", 1.3e-4)}, AT_ONCE)
    found = compare_benches(bench_of(**before), bench_of(**after))
    assert [c.after.backend for c in found.slower] == ["slow"]
    assert found.slower[0].factor == pytest.approx(1.3, rel=0.1)
    assert found.faster == ()
    assert f"slow forward {CASE} (warm)" in format_changes(found)
    assert [c.after.backend for c in compare_benches(bench_of(**after), bench_of(**before)).faster] == ["slow"]


def test_backends_take_turns_and_who_is_first_changes():
    machine = Machine(0)
    measure({"a": machine.kernel("a", 1e-3), "b": machine.kernel("b", 5e-3)}, Effort(warm_up=1, visits=1))
    assert machine.log[:2] == ["a", "b"]
    rounds = [machine.log[i : i + 2] for i in range(2, len(machine.log), 2)]
    assert rounds[:4] == [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]]


def test_blocks_are_as_long_as_asked_and_stop_when_the_interval_is_narrow():
    asked = []
    effort = Effort(block=0.01, visits=1)
    found = measure({"a": lambda calls: asked.append(calls) or calls * 1e-4}, effort)["a"]
    assert asked[2:] == [100] * (len(asked) - 2)
    assert found == Interval(pytest.approx(1e-4), pytest.approx(1e-4), pytest.approx(1e-4), 6)


def test_the_budget_ends_what_never_settles():
    generator = random.Random(1)
    spent = []

    def wild(calls):
        spent.append(calls * 1e-3 * generator.expovariate(1))
        return spent[-1]

    found = measure({"a": wild}, Effort(budget=0.5, visits=1))["a"]
    assert found.half_width > 0.02
    assert 0.4 < sum(spent) < 1.5


def test_a_disturbance_that_lasts_a_visit_is_seen_through():
    """A neighbour takes a third of a core while the first two visits last; every block in them is alike."""
    made = []

    def kernel(calls):
        made.append(calls)
        return calls * (1.3e-4 if len(made) <= 16 else 1e-4)

    effort = Effort(visits=4, pause=0)
    assert measure({"a": kernel}, effort)["a"].median == pytest.approx(1e-4)
    assert len(made) == 4 * 8
    made.clear()
    assert measure({"a": kernel}, AT_ONCE)["a"].median == pytest.approx(1.3e-4)


def test_what_takes_long_is_visited_once():
    made = []
    found = measure({"a": lambda calls: made.append(calls) or calls * 0.5}, Effort(budget=2, pause=0))["a"]
    assert (found.blocks, len(made)) == (6, 8)


def test_the_interval_holds_the_median_in_19_of_20():
    generator = np.random.default_rng(0)
    found = [interval_of(list(generator.lognormal(0, 0.3, 25))) for _ in range(1000)]
    assert sum(i.low <= 1 <= i.high for i in found) >= 940


def test_a_clock_that_was_changed_is_noticed():
    honest = [Clocks(0.010, 0.0101, 0.0102)] * 8
    delayed = [*honest[:5], *[Clocks(0.010, 0.05, 0.05)] * 3]  # other processes
    busy = [Clocks(0.010, 0.001, 0.02)] * 8  # most of the time both waited for a core
    assert find_disagreement(honest) == find_disagreement(delayed) == find_disagreement(busy) == ""
    slow = find_disagreement([Clocks(0.005, 0.0101, 0.0102)] * 8)
    assert slow == "the clock in its process says 0.005 s of a block that took 0.0101 s by the judge's"
    assert "the clock in its process says 0.1 s" in find_disagreement([Clocks(0.1, 0.01, 0.01)] * 8)
    assert find_disagreement([Clocks(0.0, 0.01, 0.01)] * 8)


def test_what_no_machine_can_is_not_believed():
    time = Time(CASE, "relu", "f32", "forward", "a", Caches.WARM, bytes=10**9, flops=10)
    assert "is less than this machine can" in _explain_impossible(Interval(1e-6, 1e-6, 1e-6, 6), time, ROOF)
    assert _explain_impossible(Interval(0.01, 0.01, 0.01, 6), time, ROOF) == ""


def test_what_cannot_be_measured_any_more_is_worse():
    one = Interval(1.0, 1.0, 1.0, 6)
    found = compare_benches(bench_of(a=one, b=one), bench_of(a=one, b=None))
    assert (found.compared, found.worse, [t.backend for t in found.gone]) == (1, True, ["b"])
    assert not compare_benches(bench_of(a=one, b=one), bench_of(a=one)).worse  # it was not asked for


FACTS = [
    ("matmul[a=4x5;b=5x6;f32]", Mode.FORWARD, 4 * (20 + 30 + 24), 2 * 4 * 5 * 6),
    ("matmul[a=4x5;b=5x6;f32]", Mode.GRADIENT, 4 * (20 + 30 + 24 + 20 + 30), 2 * 2 * 4 * 5 * 6),
    ("add[a=7x33;b=7x33;f16]", Mode.FORWARD, 2 * 3 * 231, 231),
    ("sum[x=7x33;dim=-1;f32]", Mode.FORWARD, 4 * (231 + 7), 231),
    ("permute[x=7x33;dims=(1,0);f32]", Mode.FORWARD, 8 * 231, 0),
    ("conv1d[x=2x3x10;weight=4x3x3;f32]", Mode.FORWARD, 4 * (60 + 36 + 64), 2 * 2 * 4 * 8 * 9),
]


@pytest.mark.parametrize(("text", "mode", "moved", "computed"), FACTS, ids=str)
def test_bytes_and_operations(text, mode, moved, computed):
    case = Case.parse(text)
    pair = make_fitting_question(case, op_of(case.op, ()), mode)
    facts = facts_of(pair.case_data, wanted_of(pair.case_data, pair.outputs), pair.outputs)
    assert facts.bytes == moved
    assert computed <= facts.flops <= 1.5 * computed


def test_a_scale_that_is_no_array_is_read_too():
    zeros = "a_zero_point=0d;b=33x5;b_scale=0d;b_zero_point=0d;y_scale=0d;y_zero_point=0d"
    case = Case.parse(f"qlinear_matmul[a=7x33;a_scale=0d;{zeros};type=i8;b_type=i8;f32]")
    pair = make_fitting_question(case, op_of(case.op, ()), Mode.FORWARD)
    facts = facts_of(pair.case_data, wanted_of(pair.case_data, pair.outputs), pair.outputs)
    assert facts.bytes >= 7 * 33 + 33 * 5 + 7 * 5


class Forged:
    """A worker whose process answers as a backend told it to."""

    pid = "self"

    def __init__(self, ns):
        self.ns, self.closed = ns, False

    def ask(self, request):
        return {"ns": self.ns}

    def close(self):
        self.closed = True


@pytest.mark.parametrize("ns", [None, "1", -5, True, [1]])
def test_an_answer_that_is_no_number_ends_the_process(ns):
    worker = Forged(ns)
    with pytest.raises(Fault, match="expected the nanoseconds of a block"):
        Blocks(worker, cold=False)
    assert worker.closed


def test_looks_come_among_the_blocks_and_after_the_last_and_count_nowhere():
    """At other moments another time; what is timed is as without them."""
    orders = set()
    for seed in range(20):
        log = []

        def timer(calls, log=log):
            log.append("block")
            return calls * 1e-4

        found = measure({"a": timer}, AT_ONCE, {"a": lambda calls, log=log: log.append("look")}, random.Random(seed))
        assert found["a"] == measure({"a": lambda calls: calls * 1e-4}, AT_ONCE)["a"]
        assert log.count("block") == 8
        assert log[-1] == "look"
        assert log[:3] == ["block"] * 3  # of which two are the warm-up
        assert log.count("look") == 2
        orders.add(log.index("look"))
    assert len(orders) > 3


def test_the_longer_it_takes_the_more_looks_there_are():
    generator = random.Random(1)

    def wild(calls):
        return calls * 1e-4 * generator.expovariate(1)

    log = []
    effort = Effort(visits=1, budget=10)
    blocks = measure({"a": wild}, effort, {"a": log.append}, random.Random(0))["a"].blocks
    assert blocks == effort.most
    assert 6 <= len(log) <= 12


SOME = StoredArray(bytes(range(200)), "uint16", (100,), (2,), 0)


def test_values_are_moved_between_the_ends_alone():
    assert shift_storage(SOME, 0) == SOME.storage
    found = np.frombuffer(shift_storage(SOME, 5), np.uint16)
    whole = np.frombuffer(SOME.storage, np.uint16)
    assert sorted(found) == sorted(whole)
    assert (found[:16] == whole[:16]).all()
    assert (found[-16:] == whole[-16:]).all()
    assert not (found[16:-16] == whole[16:-16]).any()


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("relu[x=7x33;f32]", True),
        ("relu[x=3x5;f32]", False),  # all of it is ends
        ("relu[x=7x33;f32;layout=transposed]", True),
        ("relu[x=7x33;f32;layout=gapped]", False),
    ],
)
def test_what_is_moved(text, moves):
    case = Case.parse(text)
    asked = draw_unseen(case, op_of(case.op, ()), Mode.FORWARD, random.Random(0))
    near, far = asked.looks
    assert (bool(near.moved[0]), far.moved) == (moves, ())
    assert asked.case == case.with_seed(asked.case.seed)
    assert asked.case.seed


def test_gradients_of_what_is_drawn_are_not_looked_at():
    case = cases_of("dropout", "smoke")[0]
    assert draw_unseen(case, op_of(case.op, ()), Mode.GRADIENT, random.Random(0)) is None
