"""Sums in an order of their own at every call: a failure, unless the backend declares that its bits vary."""

import shlex
import sys

import pytest
from _c_build import compiled, needs_cc

from opproof.cases import cases_of
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load, names

CASES = ("dot[a=768,;b=768,;f32]", "dot[a=1031,;b=1031,;f32]", "dot[a=16385,;b=16385,;f32]")
HINT = 'each answer is right: where the order of its sums is left open, declare it (bits -> "vary")'

#: In an order that the number of the call decides; DEED may spoil it.
BACKEND = """
import numpy as np

calls, last = [0], []


def forward(op, inputs, params):
    calls[0] += 1
    terms = np.random.default_rng(calls[0]).permutation(inputs[0] * inputs[1])
    DEED
    return np.cumsum(terms, dtype=np.float32)[-1]


def bits(op, dtype, mode):
    return WORD
"""
HONEST = "pass"
DEEDS = {
    "drops a term now and then": "terms = terms[1:] if calls[0] % 3 == 0 else terms",
    "drops a term of the first call alone": "terms = terms[1:] if calls[0] == 1 else terms",
    "keeps the answer before": "last.append(terms); terms = last[-2] if len(last) > 1 else terms",
}


def judged(folder, deed=HONEST, word="vary", cases=CASES, **more):
    path = folder / "sums.py"
    path.write_text(BACKEND.replace("DEED", deed).replace("WORD", repr(word)), encoding="utf-8")
    with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
        return {r.case: r for r in pool.run([Task(str(path), case, "forward", **more) for case in cases])}


def test_undeclared_it_fails_and_is_told_what_to_declare(tmp_path):
    found = judged(tmp_path, word=None)
    assert {r.verdict for r in found.values()} == {"NOT_REPEATABLE"}
    assert all(r.message.endswith(HINT) for r in found.values())


@pytest.mark.parametrize("repeat", [1, 5])
def test_declared_it_passes(tmp_path, repeat):
    assert {r.verdict for r in judged(tmp_path, repeat=repeat).values()} == {"PASS"}


@pytest.mark.parametrize("deed", DEEDS)
def test_every_answer_has_to_be_right(tmp_path, deed):
    found = judged(tmp_path, DEEDS[deed], cases=CASES[:1])[CASES[0]]
    assert found.verdict in ("NOT_REPEATABLE", "WRONG_VALUE")
    if found.verdict == "NOT_REPEATABLE" and "as declared" in found.message:
        assert "the same call gave a wrong answer another time: " in found.message


def test_repeated_calls_are_judged(tmp_path):
    """One wrong answer of eight, in a call that a plain run does not make."""
    late = "terms = terms[1:] if calls[0] == 8 else terms"
    assert {r.verdict for r in judged(tmp_path, late, cases=CASES[:1]).values()} == {"PASS"}
    (found,) = judged(tmp_path, late, cases=CASES[:1], repeat=8).values()
    assert found.verdict == "NOT_REPEATABLE"
    assert found.message.startswith(
        "its bits may vary, as declared, but the same call gave a wrong answer another time"
    )


def test_a_word_that_means_nothing(tmp_path):
    found = judged(tmp_path, word="differ", cases=CASES[:1])[CASES[0]]
    assert (found.verdict, found.message) == ("ERROR", "it declares the bits 'differ'; expected None or 'vary'")


def test_no_hint_where_an_answer_is_wrong(tmp_path):
    found = judged(tmp_path, DEEDS["drops a term now and then"], word=None)
    assert {r.verdict for r in found.values()} == {"NOT_REPEATABLE"}
    assert not any(HINT in r.message for r in found.values())


C_DOT = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
const char *opproof_bits(const char *op, const char *dtype, const char *mode) {
  return strcmp(op, "dot") == 0 && strcmp(dtype, "f32") == 0 && strcmp(mode, "forward") == 0 ? "vary" : NULL;
}
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) {
  static int64_t calls = 0;
  const DLTensor *a = call->inputs[0], *b = call->inputs[1];
  const float *x = (const float *)((const char *)a->data + a->byte_offset);
  const float *y = (const float *)((const char *)b->data + b->byte_offset);
  int64_t n = a->shape[0], start = 37 * ++calls;
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[(i + start) % n] * y[(i + start) % n];
  *(float *)((char *)outputs[0]->data + outputs[0]->byte_offset) = sum;
  (void)message; (void)message_size; (void)n_outputs;
  return OPPROOF_OK;
}
"""


@needs_cc
@pytest.mark.parametrize(("symbol", "verdict"), [("opproof_bits", "PASS"), ("opproof_other", "NOT_REPEATABLE")])
def test_in_c(tmp_path, symbol, verdict):
    text = C_DOT.replace("opproof_bits", symbol)
    library = str(compiled(tmp_path, text))
    for backend in (library, f"exec:{shlex.join([sys.executable, '-m', 'opproof.backends.worker', library])}"):
        with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
            assert {r.verdict for r in pool.run([Task(backend, c, "forward") for c in CASES])} == {verdict}, backend


#: Terms that are added where an index names a place twice, in an order of their own at every call.
SCATTERED = """
import numpy as np

calls = [0]


def forward(op, inputs, params):
    calls[0] += 1
    x, index, src = inputs
    order = np.random.default_rng(calls[0]).permutation(index.size)
    y, places = x.copy(), list(np.indices(index.shape).reshape(index.ndim, -1))
    places[params["dim"]] = index.reshape(-1)
    np.add.at(y, tuple(p[order] for p in places), src.reshape(-1)[order])
    return y
"""


def test_an_order_of_additions_shows_where_their_sums_round(tmp_path):
    """Numbers on one grid add up without an error in whatever order: numbers of many sizes do not."""
    path = tmp_path / "indexed.py"
    path.write_text(SCATTERED, encoding="utf-8")
    plain = "scatter_add[x=2x3;index=65x3;src=65x3;dim=0;f32;fill=signs;layout=x:transposed]"
    spread = "scatter_add[x=2x3;index=65x3;src=65x3;dim=0;f32;fill=spread]"
    with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
        found = {r.case: r.verdict for r in pool.run([Task(str(path), case, "forward") for case in (plain, spread)])}
    assert found == {plain: "PASS", spread: "NOT_REPEATABLE"}


#: Who weighs what is added rounds each term before.
WEIGHED = {"grid_sample", "roi_align", "paged_attention"}


@pytest.mark.parametrize("op", [name for name in names() if load(name).facts["REPEATS"] and name not in WEIGHED])
def test_who_adds_where_indices_repeat_is_asked_with_sums_that_round(op):
    assert [case for case in cases_of(op) if case.fill == "spread" and case.dtype == "f32"]
