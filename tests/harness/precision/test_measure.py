"""What needs a declaration, from records judged both ways; precision.toml before and after."""

import numpy as np
import pytest
from _ask import attempted
from _rounding_backend import Kernels, rounded, truncated

from opproof.backends import precision
from opproof.backends.precision import Precision, render_text
from opproof.core.dtypes import Declaration
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Judgement
from opproof.harness.precision.measure import Measured, Measurement, Twice, judge_twice, make_rows, merge_measured
from opproof.reports.precision import Need, PrecisionRow, render_table

NORM = "rms_norm[x=33x65;weight=65,;bf16]"
STORAGE = Declaration("storage")


class Composite(Kernels):
    """rms_norm in steps, each of which stores its result."""

    def forward(self, op, inputs, params):
        x, weight = (v.astype("float32") for v in inputs)
        root = rounded((x * x).mean(axis=-1, keepdims=True) + params["eps"]).astype("float32")
        y = rounded(x / rounded(root**0.5).astype("float32")).astype("float32")
        return [self.store(y * weight)]


class Accumulating(Kernels):
    """A sum, each addition of which is cut off to the dtype."""

    def forward(self, op, inputs, params):
        total = np.zeros(inputs[0].shape[0], np.float32)
        for term in inputs[0].astype(np.float32).T:
            total = truncated(total + term).astype(np.float32)
        return [rounded(total)]


def record(backend, case=NORM):
    return judge_twice(attempted(backend, case, single_call=True))


def test_honest_arithmetic_needs_nothing():
    found = record(Kernels(rounded))
    assert (found.fails, found.mended) == (False, False)


@pytest.mark.parametrize("declared", [None, "storage"])
def test_a_composite_needs_storage(declared):
    found = record(Composite(rounded, compute=declared))
    assert (found.mended, found.by) == (True, STORAGE)
    assert found.without.verdict == "WRONG_VALUE"
    assert found.passing[STORAGE].units < found.without.units


def test_a_sum_in_the_dtype_needs_that_dtype():
    found = record(Accumulating(rounded), "sum[x=9x97;dim=-1;bf16]")
    assert (found.mended, list(found.passing)) == (True, [Declaration("bf16")])


def test_a_truncating_store_needs_its_rounding_alone():
    assert record(Kernels(truncated)).by == Declaration(rounding="truncate")


def test_too_small_on_average_is_not_truncated():
    assert record(Kernels(lambda y: rounded(y * np.float32(0.9985)))).by.rounding is None


def test_infinity_for_a_number_is_no_ground():
    def overflowing(y):
        y[0, 0] = np.inf
        return rounded(y)

    lenient = Twice(record(Kernels(overflowing)).without, {STORAGE: Judgement(Verdict.PASS)})
    assert (lenient.mended, lenient.is_ground) == (True, False)


def test_a_declared_rounding_is_no_excuse_for_a_composite():
    assert record(Composite(rounded, declared="truncate")).by == STORAGE
    assert record(Kernels(truncated, "truncate")).by == Declaration(rounding="truncate")


def test_a_defect_fails_either_way():
    found = record(Kernels(lambda y: rounded(1.2 * y), compute="storage"))
    assert (found.fails, found.mended) == (True, False)


def test_what_came_to_no_numbers_is_left_out():
    def refuse(y):
        raise NotImplementedError("none here")

    assert record(Kernels(refuse)) is None


def row(need=None, declared=None, op="exp", mode="forward", dtype="bf16", **more):
    fields = {"records": 3, "failing_without": 1, "failing_with": 0, "units_without": 30.0, "units_with": 1.25}
    declared, needed = declared or Declaration(), need or Declaration()
    return PrecisionRow(
        op=op, mode=mode, dtype=dtype, declared=declared, needed=needed, **{**fields, "worst": "", **more}
    )


def test_rows():
    def of(backend, case):
        return Measured("rms_norm", "forward", "bf16", case, Declaration(), record(backend, case))

    cases = [NORM, "rms_norm[x=7x31;weight=31,;bf16]"]
    (found,) = make_rows([of(Composite(rounded), c) for c in cases] + [of(Kernels(lambda y: rounded(1.2 * y)), NORM)])
    assert (found.records, found.failing_without, found.failing_with) == (3, 3, 1)
    assert (found.needed, found.need, found.worst) == (STORAGE, Need.MISSING, NORM)
    assert found.units_with < found.units_without < 40  # of those that pass by it: not the defect's


def test_one_declaration_for_all_where_there_is_one():
    truncate, passed = Declaration(rounding="truncate"), Judgement(Verdict.PASS, units=1.5)
    wrong = record(Composite(rounded)).without

    def needed(*ways):
        measured = [
            Measured("exp", "forward", "bf16", "", Declaration(), Twice(wrong, dict.fromkeys(w, passed))) for w in ways
        ]
        return make_rows(measured)[0].needed

    assert needed((truncate, STORAGE)) == truncate
    assert needed((truncate, STORAGE), (STORAGE,)) == STORAGE
    assert needed((truncate,), (STORAGE,)) == Declaration("storage", "truncate")


def test_a_few_long_sums_are_no_reason_for_less_than_storage():
    wrong, passed = record(Composite(rounded)).without, Judgement(Verdict.PASS, units=1.5)
    sums, both = {Declaration("bf16"): passed}, {STORAGE: passed, Declaration("bf16"): passed}

    def row_of(*ways):
        measured = [Measured("sum", "forward", "bf16", NORM, Declaration(), Twice(wrong, way)) for way in ways]
        return make_rows(measured)[0]

    few, many = row_of(both, both, both, sums), row_of(both, both, sums, sums)
    assert (few.needed, few.failing_with, few.worst) == (STORAGE, 1, NORM)
    assert (many.needed, many.failing_with, many.worst) == (Declaration("bf16"), 0, "")


@pytest.mark.parametrize(
    ("needed", "declared", "said"),
    [
        (STORAGE, STORAGE, "needed"),
        (STORAGE, None, "needed, not declared"),
        (None, STORAGE, "declared, not needed"),
        (None, None, ""),
        (STORAGE, Declaration("bf16"), "needed, not declared"),
    ],
)
def test_needs(needed, declared, said):
    assert row(needed, declared).need == said
    assert said in render_table([row(needed, declared)])


def test_table_tells_defects():
    said = render_table([row(failing_with=1, worst="exp[x=3,;bf16]"), row(op="sin", failing_without=0)])
    assert "fails either way: exp[x=3,;bf16] forward" in said
    assert "sin" not in said
    assert said.endswith("6 records of 2 operators, modes and dtypes: 0 need a declaration, 1 fail either way")


def entry(op="exp", dtypes=("f16", "bf16"), compute="storage", **more):
    return Precision(op=op, mode=Mode.FORWARD, dtypes=dtypes, compute=compute, **more)


OLD = [entry(), entry("sin"), entry("cos", backends=("mine", "mine:fast")), entry("tan", backends=("mine:fast",))]


def written(spec, *measured, old=OLD):
    return {
        (e.op, d, e.backends): e.compute for e in merge_measured(old, Measurement(spec, measured)) for d in e.dtypes
    }


def test_what_was_not_measured_stays():
    assert merge_measured(OLD, Measurement("mine", [])) == sorted(OLD, key=lambda e: e.op)


def test_what_is_not_needed_goes():
    found = written("mine", row(dtype="bf16"), row(op="cos", dtype="f16"), row(op="tan", dtype="f16"))
    assert ("exp", "bf16", ()) not in found
    assert found["exp", "f16", ()] == "storage"
    assert found["cos", "f16", ("mine:fast",)] == "storage"
    assert found["tan", "f16", ("mine:fast",)] == "storage"


def test_a_variant_leaves_what_holds_for_all():
    found = written("mine:fast", row(), row(STORAGE, op="sin"), row(STORAGE, op="log"), row(op="tan", dtype="f16"))
    assert found["exp", "bf16", ()] == "storage"
    assert ("sin", "bf16", ("mine:fast",)) not in found
    assert found["log", "bf16", ("mine:fast",)] == "storage"
    assert ("tan", "f16", ("mine:fast",)) not in found


def test_dtypes_are_joined_and_units_are_the_largest(tmp_path):
    measured = [row(STORAGE, dtype="bf16"), row(STORAGE, dtype="f16", units_without=float("inf"), units_with=0.51234)]
    path = tmp_path / "precision.toml"
    path.write_text(render_text(merge_measured([], Measurement("mine", measured))), encoding="utf-8")
    (found,) = precision.read(path)
    assert (found.dtypes, found.compute, found.rounding) == (("f16", "bf16"), "storage", None)
    assert (found.units_without, found.units_with) == (float("inf"), 1.25)


def test_the_text_is_what_is_read(tmp_path):
    entries = merge_measured(
        [*OLD, entry("log", compute=None, rounding="truncate", units_with=2.0)], Measurement("mine", [])
    )
    path = tmp_path / "precision.toml"
    path.write_text(render_text(entries), encoding="utf-8")
    assert list(precision.read(path)) == entries
