"""What inputs seldom are is tried where a test asks for it: it is most of every check, and of the tests of checks."""

from __future__ import annotations

import math

#: Files, and single tests, whose subject it is.
_ASKING = frozenset(
    (
        "test_rare_values",
        "test_rows_of_zeros",
        "test_rare_whole_numbers",
        "test_decided_otherwise",
        "test_nothing",
        "test_one_tensor_far_off",
        "test_optional_tensors",
        "test_two_conditions",
        "test_singular",
        "test_heads_of_queries_twice_those_of_keys",
        "test_ends_of_sequences_and_permutations_and_sizes_that_are_named_are_left",
    )
)
#: Files, and single tests, whose subject is what larger sizes show.
_ASKING_SIZES = frozenset(
    (
        "sizes",
        "test_decided_otherwise",
        "test_one_tensor_far_off",
        "test_optional_tensors",
        "test_two_conditions",
        "test_singular",
        "test_heads_of_queries_twice_those_of_keys",
        "test_ends_of_sequences_and_permutations_and_sizes_that_are_named_are_left",
        "test_a_kernel_for_rows_of_one_block",
        "test_what_is_off_by_little_where_inputs_seldom_are",
        "test_a_kernel_for_rows_of_a_large_block",
        "test_a_kernel_of_one_tile_each_way",
        "test_a_variant_that_takes_too_long_is_ended",
        "test_an_axis_that_is_told_by_its_size",
        "test_a_row_that_is_shorter_than_a_window",
        "test_a_row_that_is_one_longer_than_the_window",
        "test_a_size_of_one_tensor_alone_is_told_and_is_no_failure",
        "test_a_size_that_several_tensors_share_is_told_where_two_of_them_have_another",
    )
)
_ASKING_FOR_NAN = frozenset(
    (
        "test_other_callers",
        "test_other_circumstances",
        "test_what_calls_share",
        "test_blocks_run_with_all_that_is_tried",
        "test_blocks_run[calls]",
        "test_later_calls",
        "test_wrong_calls",
    )
)
#: Whose subject is in what circumstances a right function is called again, and what is said of a wrong one.
_ASKING_AGAIN = _ASKING_FOR_NAN | {
    "test_callers",
    "test_evaluation_mode",
    "test_without_gradients",
}
_ASKING_WHY = frozenset(
    (
        "test_callers",
        "test_checked",
        "test_blocks_run_with_all_that_is_tried",
        "test_named_numbers",
        "test_rare_values",
        "test_what_a_check_says",
        "test_what_a_reference_keeps",
        "test_wild",
    )
)
#: Whose subject is what two threads find of each other: each question is asked as often as a processor can.
_ASKING_TWO_THREADS = frozenset(("test_what_calls_share", "test_blocks_run_with_all_that_is_tried"))
#: Whose subject is how a program calls that is not opproof; each starts one, which imports PyTorch.
_ASKING_ALONE = frozenset(("test_where_nobody_judges", "test_blocks_run_with_all_that_is_tried"))
#: An odd size, 1, none and another in place of each.
_USUAL = (lambda n: n + 1 if n % 2 == 0 else n + 2, lambda _: 1, lambda _: 0, lambda n: 3 * n // 2 + 1)


def meet_briefly(monkeypatch):
    """Of calls in which threads may meet, one each for a hundredth of a second: a check has twenty, of 50 ms."""
    monkeypatch.setattr("opproof.harness.check.judge.final_pass._MEETING_CALLS", 2)
    monkeypatch.setattr("opproof.harness.check.call.other_calls._SEARCH_SECONDS", 0.01)


def leave_out(names, monkeypatch):
    """No zeros, floors, NaN, other integers, larger sizes, later draws, sizes one by one, but where asked for.

    And few calls after another. `names`: of the test that asks, and of its file.
    """
    if not names & _ASKING_FOR_NAN:
        monkeypatch.setattr("opproof.harness.check.judge.final_pass.find_advisories", lambda *_, **__: ())
    if "test_time_of_a_check" not in names:  # of all others something else is the subject than when a check ends
        monkeypatch.setattr("opproof.harness.check.options._CALLS_TIME_FACTOR", math.inf)
        monkeypatch.setattr("opproof.harness.check.run_variant._PARTS_TIME_SHARE", math.inf)
    if not names & _ASKING_AGAIN:
        monkeypatch.setattr("opproof.harness.check.judge.final_pass.FinalPass._list_questions", lambda *_, **__: ())
    if not names & _ASKING_TWO_THREADS:
        meet_briefly(monkeypatch)
    if not names & _ASKING_ALONE:
        monkeypatch.setattr("opproof.harness.check.judge.final_pass.by_script", lambda made, _: made)
    if not names & _ASKING_WHY:
        monkeypatch.setattr("opproof.harness.check.summary.MAX_DIAGNOSED", 0)
    if "test_later_calls" not in names:
        for most in ("HELD", "_MAX_EXTRA_FORWARDS"):
            monkeypatch.setattr(f"opproof.harness.check.call.perform.{most}", 40)
    if names & {"test_array", "test_last_tiles_under_a_flag", "test_one_by_one", "test_vast"}:
        if "test_a_derivative_that_another_option_leaves_out" not in names:
            monkeypatch.setattr("opproof.harness.check.search.variants_of", lambda *_: ())
            monkeypatch.setattr("opproof.harness.check.run.generate_judged_draws", lambda *_: ())
        return
    monkeypatch.setattr("opproof.harness.check.search.find_differing", lambda *_: ())
    if not names & _ASKING_SIZES:
        leave_out_sizes(monkeypatch)
    if names & _ASKING:
        return
    monkeypatch.setattr("opproof.harness.check.variants.generate.generate_rare_fills", lambda *_: ())
    monkeypatch.setattr("opproof.harness.check.variants.generate.generate_missing_labels", lambda *_: ())
    monkeypatch.setattr("opproof.harness.check.variants.generate.generate_empty_groups", lambda *_: ())
    monkeypatch.setattr("opproof.harness.check.variants.generate.round_to_blocks", lambda *_: ())
    monkeypatch.setattr("opproof.harness.check.run.generate_judged_draws", lambda *_: ())


def leave_out_sizes(monkeypatch):
    """No larger sizes: of rows of a thousand each answer is judged in as many elements."""
    monkeypatch.setattr("opproof.harness.check.variants.sizes.LARGER", ())
    monkeypatch.setattr("opproof.harness.check.variants.sizes._MAX_SIZES_OF_A_KIND", 0)
    monkeypatch.setattr("opproof.harness.check.variants.sizes._LARGER_ALONE", ())
    monkeypatch.setattr("opproof.harness.check.variants.sizes._list_larger", lambda *_: [])
    monkeypatch.setattr("opproof.harness.check.variants.variant._NEW", _USUAL)
    for place in ("sizes", "variant"):
        monkeypatch.setattr(f"opproof.harness.check.variants.{place}.SIZES_BELOW_WINDOWS", ())
        monkeypatch.setattr(f"opproof.harness.check.variants.{place}.make_alike_sizes", lambda _: [])
    monkeypatch.setattr("opproof.harness.check.variants.sizes._list_about_named", lambda *_: [])
