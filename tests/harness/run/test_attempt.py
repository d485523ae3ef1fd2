"""One case in this process: what is settled before the numbers are looked at."""

from dataclasses import replace

import numpy as np
import pytest
from _ask import attempted, judged

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.numpy import NumPy
from opproof.core.verdicts import Verdict
from opproof.harness.run.attempt import as_told_by_itself
from opproof.harness.run.calls import arrange_calls
from opproof.harness.run.task import Task
from opproof.reference_ops import load

RELU = "relu[x=7x33;f32]"


def judgement(backend, text=RELU, mode="forward", op=None):
    return judged(backend, text, mode, op)


def verdict(backend, text=RELU, mode="forward", op=None):
    return judged(backend, text, mode, op).verdict


class Into:
    """Writes into the caller's memory, `alter` it afterwards."""

    def __init__(self, alter=lambda outputs: None):
        self.alter = alter

    def forward_into(self, op, inputs, params, outputs):
        for y, right in zip(outputs, NumPy().forward(op, inputs, params), strict=True):
            y[...] = right
        self.alter(outputs)

    def vjp_into(self, op, inputs, params, cotangents, gradients):
        needs = [d is not None for d in gradients]
        for d, right in zip(gradients, NumPy().vjp(op, inputs, params, cotangents, needs), strict=True):
            if d is not None:
                d[...] = right
        self.alter(gradients)


def test_what_is_absent_is_none():
    """Optional inputs at the end keep their places; an output of integers has no cotangent."""
    asked = []

    class Listener(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs):
            asked[:] = [[x is not None for x in group] for group in (inputs, cotangents)] + [list(needs)]
            return super().vjp(op, inputs, params, cotangents, needs)

    norm = "batch_norm[x=4x3;running_mean=3,;running_var=3,;bias=3,;training=false;f32]"
    assert verdict(Listener(), norm, "gradient") == "PASS"
    assert asked == [[True, True, True, False, True], [True], [True, False, False, False, True]]
    assert verdict(Listener(), "linear[x=4x3;weight=5x3;f32]", "gradient") == "PASS"
    assert asked == [[True, True, False], [True], [True, True, False]]
    assert verdict(Listener(), "sort[x=4x3;f32]", "gradient") == "PASS"
    assert asked == [[True], [True, False], [True]]
    assert verdict(Into(), "sort[x=4x3;f32]", "gradient") == "PASS"


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_memory_of_the_caller(mode, dtype):
    assert verdict(Into(), f"mul[a=7x33;b=33,;{dtype}]", mode) == "PASS"


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_not_written(dtype):
    """Elements that still hold the poison; NaN left in an accumulator is a wrong value instead."""
    from opproof.harness.run.memory import POISON

    def forget(outputs):
        (y,) = outputs
        y.view(f"u{y.itemsize}")[3:, 30:] = POISON[y.dtype.name]

    found = judgement(Into(forget), f"relu[x=7x33;{dtype}]")
    assert found.verdict == "NOT_WRITTEN"
    assert found.message == "output y: 12 of 231 elements were not written, the first at (3, 30)"
    assert verdict(Into(lambda outputs: outputs[0].fill(np.nan)), f"relu[x=7x33;{dtype}]") == "WRONG_VALUE"


def test_gradients_not_asked_for_have_no_memory():
    seen = []
    backend = Into(seen.append)
    assert verdict(backend, "mul[a=7x33;b=7x33;f32;needs=b]", "gradient") == "PASS"
    assert [[d is None for d in gradients] for gradients in seen] == [[True, False]] * 3


class Watching(NumPy):
    """Notes what it was called with."""

    def __init__(self):
        self.calls = []

    def forward(self, op, inputs, params):
        self.calls.append([x.copy() for x in inputs if x is not None])
        self.flags = [x.strides for x in inputs if x is not None]
        return super().forward(op, inputs, params)


def _plain():
    """A case that is asked three times."""
    plans = {c: arrange_calls(Task("x", c, "forward")) for c in (f"relu[x={n}x33;f32]" for n in range(7, 99))}
    return next(c for c, plan in plans.items() if not plan.leads and not plan.stays)


def test_three_calls_of_which_the_middle_is_judged():
    backend = Watching()
    found = attempted(backend, _plain())
    first, second, third = (c[0] for c in backend.calls)
    np.testing.assert_array_equal(first, third)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, found.posed.inputs[0])
    np.testing.assert_array_equal(found.answer.arrays[0], np.maximum(second, 0))


def test_the_judged_call_cannot_be_told_from_the_others():
    """Among many cases its buffers end at a guard in half, and it is made first too in an eighth."""
    drawn = [arrange_calls(Task("x", f"relu[x={n};f32]", "forward")) for n in range(1, 2001)]
    assert 900 < sum(d.at_end for d in drawn) < 1100
    assert 200 < sum(d.leads for d in drawn) < 300
    assert 200 < sum(d.stays for d in drawn) < 300
    assert 80 < sum(d.at_end and d.leads for d in drawn) < 170


def _leads(case):
    plan = arrange_calls(Task("x", case, "forward"))
    return plan.leads and not plan.stays


def test_a_case_whose_data_come_first_too_is_judged_by_the_third_call():
    case = next(c for n in range(7, 99) if _leads(c := f"relu[x={n}x33;f32]"))
    backend = Watching()
    found = attempted(backend, case)
    before, first, second, third = (c[0] for c in backend.calls)
    np.testing.assert_array_equal(before, second)
    np.testing.assert_array_equal(first, third)
    np.testing.assert_array_equal(found.answer.arrays[0], np.maximum(second, 0))
    assert found.judgement.verdict is Verdict.PASS


class Counting(NumPy):
    """Right in the second call of three, nothing in the others."""

    def __init__(self):
        self.calls = 0

    def forward(self, op, inputs, params):
        self.calls += 1
        right = super().forward(op, inputs, params)
        return right if self.calls % 3 == 2 else [0 * y for y in right]


def test_a_backend_that_computes_in_the_second_call_alone_is_caught_in_two_eighths_of_the_cases():
    cases = [f"relu[x={n}x33;f32]" for n in range(7, 47)]
    caught = [c for c in cases if attempted(Counting(), c).judgement.verdict is not Verdict.PASS]
    plans = {c: arrange_calls(Task("x", c, "forward")) for c in cases}
    assert caught == [c for c in cases if plans[c].leads or plans[c].stays]
    assert len(caught) > 2


def test_inputs_have_the_case_s_layout_and_dtype():
    backend = Watching()
    attempted(backend, "add[a=5x7;b=5x7;f16;layout=b:transposed]")
    assert backend.flags == [(14, 2), (2, 10)]
    assert backend.calls[0][0].dtype == np.float16


def test_one_tensor_given_twice_is_one_array():
    class Same(NumPy):
        def forward(self, op, inputs, params):
            assert inputs[0] is inputs[1]
            return super().forward(op, inputs, params)

    assert verdict(Same(), "add[a=5x17;b=@a;f32]") == "PASS"


def test_answers_are_copied_before_the_next_call():
    class Reuses(NumPy):
        def forward(self, op, inputs, params):
            right = super().forward(op, inputs, params)[0]
            if not hasattr(self, "buffer"):
                self.buffer = np.empty_like(right)
            self.buffer[...] = right
            return self.buffer

    assert verdict(Reuses()) == "PASS"


@pytest.mark.parametrize("which", ["input x", "cotangent 0"])
def test_inputs_and_cotangents_must_not_change(which):
    class Scribbles(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs):
            right = super().vjp(op, inputs, params, cotangents, needs)
            (inputs if which == "input x" else cotangents)[0][0, 0] += 1
            return right

    found = judgement(Scribbles(), mode="gradient")
    assert found.verdict == "INPUT_CHANGED"
    assert found.message.startswith(f"{which}: ")


def test_poison_between_elements_must_not_change_either():
    class Dense(NumPy):
        def forward(self, op, inputs, params):
            right = super().forward(op, inputs, params)
            np.lib.stride_tricks.as_strided(inputs[0], (7, 66), (264, 4))[0, 1] = 0
            return right

    assert verdict(Dense(), "relu[x=7x33;f32;layout=sliced]") == "INPUT_CHANGED"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Unsupported("too new"), ("UNSUPPORTED", "too new")),
        (NotImplementedError("not yet"), ("UNSUPPORTED", "not yet")),
        (BackendFailed("status 7"), ("ERROR", "status 7")),
        (MemoryError(), ("OUT_OF_MEMORY", "MemoryError")),
    ],
)
def test_what_a_backend_raises(answer, expected):
    class Raises:
        def forward(self, op, inputs, params):
            raise answer

    found = judgement(Raises())
    assert (found.verdict, found.message) == expected


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ("no f32", "no f32"),
        (False, "declined without a reason"),
        ("", "declined without a reason"),
        (None, "its supports() returned None; expected True, or a str: the reason why not"),
    ],
)
def test_supports(says, message):
    class Picky(NumPy):
        def supports(self, op, dtypes, params):
            assert (op, dtypes, params) == ("relu", ["f32"], {})
            return says

    found = judgement(Picky())
    assert found.verdict == "UNSUPPORTED"
    assert found.message == message


@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_no_answer_is_expected_before_the_backend_has_given_its_own(mode):
    """The reference of the judged data is not evaluated while the backend runs."""
    square = load("square")
    evaluated, asked = [], []

    def forward(x):
        evaluated.append(np.array(getattr(x, "exact", x)))
        return square.forward(x)

    class Listener(NumPy):
        def forward(self, op, inputs, params):
            asked.append((inputs[0].copy(), len(evaluated)))
            return super().forward(op, inputs, params)

        def vjp(self, op, inputs, params, cotangents, needs):
            asked.append((inputs[0].copy(), len(evaluated)))
            return super().vjp(op, inputs, params, cotangents, needs)

    made = attempted(Listener(), "square[x=7x33;f32]", mode, replace(square, forward=forward))
    assert made.judgement.verdict == "PASS"
    judged_data, before = asked[1][0], max(count for _, count in asked)
    assert not any(np.array_equal(x, judged_data) for x in evaluated[:before])
    assert any(np.array_equal(x, judged_data) for x in evaluated[before:])


def test_outputs_may_be_an_array_a_tuple_or_anything_like_one():
    class Bare(NumPy):
        def forward(self, op, inputs, params):
            return super().forward(op, inputs, params)[0]

    class Tupled(NumPy):
        def forward(self, op, inputs, params):
            return tuple(super().forward(op, inputs, params))

    assert verdict(Bare()) == verdict(Tupled()) == "PASS"
    assert verdict(type("None_", (), {"forward": lambda self, *_: None})()) == "WRONG_SHAPE"


class Lazy(np.ndarray):
    """What computes when it is looked at."""


class Dressed:
    """What becomes an array when it is asked for one."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("nobody may ask")


@pytest.mark.parametrize(
    ("returned", "name"),
    [
        ("seven", "builtins.str"),
        (Dressed(), f"{__name__}.Dressed"),
        (np.zeros((7, 33), np.float32).view(Lazy), f"{__name__}.Lazy"),
        (np.ma.zeros((7, 33), np.float32), "numpy.ma.MaskedArray"),
        ({"y": 1}, "builtins.dict"),
    ],
)
def test_results_that_are_no_numpy_arrays_are_refused(returned, name):
    found = judgement(type("Odd", (), {"forward": lambda self, *_: returned})())
    assert found.verdict == "ERROR"
    assert found.message.startswith(
        f"TypeError: the backend returned {name}; expected a NumPy array, such as np.array("
    )


def test_not_implemented_declines():
    """As Python's own operators do it."""
    found = judgement(type("Odd", (), {"forward": lambda self, *_: NotImplemented})())
    assert (found.verdict, found.message) == ("UNSUPPORTED", "the backend returned NotImplemented")


def test_big_endian_results():
    """The message tells the two apart, which NumPy calls by one name."""

    class Swapped(NumPy):
        def forward(self, op, inputs, params):
            return [y.astype(">f4") for y in super().forward(op, inputs, params)]

    found = judgement(Swapped())
    assert (found.verdict, found.message) == (
        "WRONG_DTYPE",
        "output y has dtype big-endian float32, expected float32",
    )


TILES = "matmul[a={0}x32;b=32x48;f32]"


def test_supports_may_take_shapes():
    """A kernel that wants multiples of 16 says so before anything is drawn."""

    class Tiled(NumPy):
        def supports(self, op, dtypes, params, shapes):
            sizes = [n for shape in shapes if shape is not None for n in shape]
            return True if all(n % 16 == 0 for n in sizes) else f"{sizes} are no multiples of 16"

        def forward(self, op, inputs, params):
            assert all(n % 16 == 0 for x in inputs if x is not None for n in x.shape)
            return super().forward(op, inputs, params)

    assert verdict(Tiled(), TILES.format(16)) == "PASS"
    found = judgement(Tiled(), TILES.format(17))
    assert (found.verdict, found.message) == ("UNSUPPORTED", "[17, 32, 32, 48] are no multiples of 16")
    assert verdict(Tiled(), "linear[x=16x32;weight=48x32;f32]") == "PASS"  # its bias is absent


def test_supports_that_fails_is_the_backends_error():
    class Broken(NumPy):
        def supports(self, op, dtypes, params):
            raise KeyError(op)

    found = judgement(Broken())
    assert found.verdict == "ERROR"
    assert found.message.startswith("KeyError: 'relu' (")


@pytest.mark.parametrize(("constant", "expected"), [(False, "NOT_REPEATABLE"), (True, "WRONG_VALUE")])
def test_an_answer_that_ignores_the_data_in_this_process(constant, expected):
    """What was kept from the call before cannot be told from what is always so, unless it is one number."""

    class Ignores(NumPy):
        def forward(self, op, inputs, params):
            if not hasattr(self, "kept"):
                self.kept = [y * (not constant) for y in super().forward(op, inputs, params)]
            return self.kept

    made = attempted(Ignores(), "argsort[x=7x33;dim=-1;f32]")
    assert made.judgement.verdict == "WRONG_VALUE"
    assert made.judgement.stale
    assert as_told_by_itself(made).judgement.verdict == expected
