"""One case in this process: what is settled before the numbers are looked at."""

import numpy as np
import pytest

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.run.execute import execute
from opproof.reference_ops import load

RELU = "relu[x=7x33;f32]"


def outcome(backend, text=RELU, mode="forward", op=None):
    case = Case.parse(text)
    return execute(backend, case, load(case.op) if op is None else op, mode)


def verdict(backend, text=RELU, mode="forward", op=None):
    case = Case.parse(text)
    op = load(case.op) if op is None else op
    found = execute(backend, case, op, mode)
    return found.verdict or judge(case, op, mode, found, Rules()).verdict


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

    found = outcome(Into(forget), f"relu[x=7x33;{dtype}]")
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


def test_three_calls_of_which_the_middle_is_judged():
    backend = Watching()
    found = outcome(backend)
    first, second, third = (c[0] for c in backend.calls)
    np.testing.assert_array_equal(first, third)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, found.inputs[0])
    np.testing.assert_array_equal(found.arrays[0], np.maximum(second, 0))


def test_inputs_have_the_case_s_layout_and_dtype():
    backend = Watching()
    outcome(backend, "add[a=5x7;b=5x7;f16;layout=b:transposed]")
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

    found = outcome(Scribbles(), mode="gradient")
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

    found = outcome(Raises())
    assert (found.verdict, found.message) == expected


@pytest.mark.parametrize(("says", "message"), [("no f32", "no f32"), (False, "declined without a reason"), ("", None)])
def test_supports(says, message):
    class Picky(NumPy):
        def supports(self, op, dtypes, params):
            assert (op, dtypes, params) == ("relu", ["f32"], {})
            return says

    found = outcome(Picky())
    assert found.verdict == "UNSUPPORTED"
    assert found.message == ("declined without a reason" if message is None else message)


def test_no_answer_is_expected_before_the_backend_has_given_its_own():
    """The reference of the judged data is not evaluated while the backend runs."""
    found = outcome(NumPy())
    assert set(found.__dataclass_fields__) == {
        *("verdict", "message", "arrays", "stale", "inputs", "cotangents", "needs", "seconds"),
    }


def test_outputs_may_be_an_array_a_tuple_or_anything_like_one():
    class Bare(NumPy):
        def forward(self, op, inputs, params):
            return super().forward(op, inputs, params)[0]

    class Tupled(NumPy):
        def forward(self, op, inputs, params):
            return tuple(super().forward(op, inputs, params))

    assert verdict(Bare()) == verdict(Tupled()) == "PASS"
    assert verdict(type("Text", (), {"forward": lambda self, *_: "seven"})()) == "WRONG_SHAPE"
    assert verdict(type("None_", (), {"forward": lambda self, *_: None})()) == "WRONG_SHAPE"
