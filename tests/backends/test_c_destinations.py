"""C libraries that write in place and with strides: three operators wrong only there are each found."""

import pytest
from _ask import judged
from _c_build import compiled, needs_cc, refusal

from opproof.backends.c.library import load
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load as load_op

pytestmark = needs_cc

#: f32 only; element i of a tensor that lies row by row, or with strides.
SOURCE = r"""
#include <math.h>
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_alignment(void) { return 4; }

static float *at(const DLTensor *t, int64_t i) {
  int64_t place = 0;
  for (int32_t k = t->ndim - 1; k >= 0; k--) {
    place += i % t->shape[k] * t->strides[k];
    i /= t->shape[k];
  }
  return (float *)((char *)t->data + t->byte_offset) + place;
}

static int64_t size(const DLTensor *t) {
  int64_t n = 1;
  for (int32_t k = 0; k < t->ndim; k++) n *= t->shape[k];
  return n;
}

static void subtract(const DLTensor *a, const DLTensor *b, DLTensor *y) {
  for (int64_t i = 0; i < size(y); i++) *at(y, i) = *at(a, i) - *at(b, i);
}

static void softmax(const DLTensor *x, DLTensor *y) {
  int64_t n = x->shape[x->ndim - 1];
  for (int64_t row = 0; row < size(x); row += n) {
    float top = -INFINITY, sum = 0;
    for (int64_t i = row; i < row + n; i++) top = fmaxf(top, *at(x, i));
    for (int64_t i = row; i < row + n; i++) sum += expf(*at(x, i) - top);
    for (int64_t i = row; i < row + n; i++) *at(y, i) = expf(*at(x, i) - top) / sum;
  }
}

static void negate(const DLTensor *x, DLTensor *y) {
  for (int64_t i = 0; i < size(x); i++) *at(y, i) = -*at(x, i);
}

/* Right where y has memory of its own. */
static void subtract_wrong(const DLTensor *a, const DLTensor *b, DLTensor *y) {
  for (int64_t i = 0; i < size(y); i++) *at(y, i) = *at(a, i);
  for (int64_t i = 0; i < size(y); i++) *at(y, i) -= *at(b, i); /* b holds a by now, where y is b */
}

static void softmax_wrong(const DLTensor *x, DLTensor *y) {
  int64_t n = x->shape[x->ndim - 1];
  for (int64_t row = 0; row < size(x); row += n) {
    float sum = 0;
    for (int64_t i = row; i < row + n; i++) {
      float top = -INFINITY; /* of elements some of which are written already, where y is x */
      for (int64_t j = row; j < row + n; j++) top = fmaxf(top, *at(x, j));
      sum += *at(y, i) = expf(*at(x, i) - top);
    }
    for (int64_t i = row; i < row + n; i++) *at(y, i) /= sum;
  }
}

static void negate_wrong(const DLTensor *x, DLTensor *y) {
  for (int64_t i = 0; i < size(x) && x->data != y->data; i++) *at(y, i) = -*at(x, i); /* nothing to be copied there */
}

int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *const *in = call->inputs;
  if (in[0]->dtype.bits != 32) return OPPROOF_UNSUPPORTED;
  if (!strcmp(call->op, "sub")) SUBTRACT(in[0], in[1], outputs[0]);
  else if (!strcmp(call->op, "softmax")) SOFTMAX(in[0], outputs[0]);
  else if (!strcmp(call->op, "neg")) NEGATE(in[0], outputs[0]);
  else return OPPROOF_UNSUPPORTED;
  return OPPROOF_OK;
}
"""

DECLARED = "int32_t opproof_destinations(void) { return %s; }\n"
BOTH = DECLARED % "OPPROOF_IN_PLACE | OPPROOF_STRIDED"
GOOD = "#define SUBTRACT subtract\n#define SOFTMAX softmax\n#define NEGATE negate\n"
BAD = "#define SUBTRACT subtract_wrong\n#define SOFTMAX softmax_wrong\n#define NEGATE negate_wrong\n"

APART = ["sub[a=5x9;b=5x9;f32]", "softmax[x=7x33;dim=-1;f32]", "neg[x=5x9;f32]"]
STRIDED = [f"{case[:-1]};into={layout}]" for case in APART for layout in ("transposed", "gapped", "sliced", "offset")]
IN_PLACE = [
    "sub[a=5x9;b=5x9;f32;inplace=b]",
    "softmax[x=7x33;dim=-1;f32;inplace=x]",
    "neg[x=5x9;f32;inplace=x]",
]
OF_STRIDES = ["sub[a=5x9;b=5x9;f32;layout=b:gapped;inplace=b]", "neg[x=5x9;f32;layout=transposed;inplace=x]"]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("destinations")
    return {
        "good": compiled(folder, BOTH + GOOD + SOURCE, "libgood.so"),
        "bad": compiled(folder, BOTH + BAD + SOURCE, "libbad.so"),
        "silent": compiled(folder, GOOD + SOURCE, "libsilent.so"),
    }


@pytest.mark.parametrize("case", APART + STRIDED + IN_PLACE + OF_STRIDES)
def test_a_right_library_passes(libraries, case):
    assert judged(load(libraries["good"]), case).verdict == "PASS"


@pytest.mark.parametrize("case", [*APART, "sub[a=5x9;b=5x9;f32;inplace=a]"])
def test_what_is_wrong_in_place_only_passes_apart(libraries, case):
    assert judged(load(libraries["bad"]), case).verdict == "PASS"


@pytest.mark.parametrize("case", IN_PLACE + OF_STRIDES)
def test_what_is_wrong_in_place_only_is_found(libraries, case):
    assert judged(load(libraries["bad"]), case).verdict == "WRONG_VALUE"


@pytest.mark.parametrize("case", IN_PLACE + STRIDED)
def test_a_library_without_the_symbol_declines(libraries, case):
    judgement = judged(load(libraries["silent"]), case)
    assert judgement.verdict == "UNSUPPORTED"
    assert "does not declare the destination" in judgement.message


def test_in_a_process_of_its_own(libraries):
    host = start_host(str(libraries["bad"]), HostLimits(1, 30.0, 2**30))
    cases = [*APART, *IN_PLACE, *OF_STRIDES, STRIDED[0]]
    verdicts = [run_task(host, Task("c", case, "forward"), load_op(case.partition("[")[0]), 30.0) for case in cases]
    host.close()
    expected = ["PASS"] * 3 + ["WRONG_VALUE"] * 5 + ["PASS"]
    assert [a.judgement.verdict for a in verdicts] == expected


@pytest.mark.parametrize(
    ("flags", "words"), [("0", ()), ("1", ("in place",)), ("2", ("strided",)), ("3", ("in place", "strided"))]
)
def test_flags(tmp_path, flags, words):
    assert load(compiled(tmp_path, DECLARED % flags + GOOD + SOURCE)).destinations == words


@pytest.mark.parametrize("flags", ["4", "-1"])
def test_flags_that_are_none(tmp_path, flags):
    text = refusal(compiled(tmp_path, DECLARED % flags + GOOD + SOURCE))
    assert f"returned {flags}: expected a sum of OPPROOF_IN_PLACE (1) and OPPROOF_STRIDED (2), or 0" in text


# Outputs whose strides are ignored, and gradients

ROWS = r"""
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const float *x = call->inputs[0]->data;
  float *y = outputs[0]->data;
  for (int64_t i = 0; i < 45; i++) y[i] = -x[i];
  return OPPROOF_OK;
}
"""

#: mul of two tensors of 45 elements: what each mistake spoils, where gradients[0] is cotangents[0].
VJP = r"""
int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                    DLTensor *const *gradients, char *message, size_t message_size) {
  float *a = call->inputs[0]->data, *b = call->inputs[1]->data, *g = cotangents[0]->data;
  float *da = gradients[0]->data, *db = gradients[1]->data;
  for (int64_t i = 0; i < 45; i++) { %s }
  return OPPROOF_OK;
}
"""


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        ("neg[x=5x9;f32]", "PASS"),
        ("neg[x=5x9;f32;inplace=x]", "PASS"),
        ("neg[x=5x9;f32;into=gapped]", "OUT_OF_BOUNDS"),
        ("neg[x=5x9;f32;layout=gapped;inplace=x]", "OUT_OF_BOUNDS"),
        ("neg[x=5x9;f32;into=transposed]", "WRONG_VALUE"),
        ("neg[x=5x9;f32;into=sliced]", "OUT_OF_BOUNDS"),
    ],
)
def test_strides_that_are_ignored(tmp_path, case, verdict):
    assert judged(load(compiled(tmp_path, BOTH + ROWS)), case).verdict == verdict


@pytest.mark.parametrize(
    ("body", "verdict", "apart"),
    [
        ("float h = g[i]; da[i] = h * b[i]; db[i] = h * a[i];", "PASS", "PASS"),
        ("da[i] = g[i] * b[i]; db[i] = g[i] * a[i];", "WRONG_GRADIENT", "PASS"),
        ("float h = g[i]; da[i] = h * b[i]; db[i] = h * a[i]; if (da == g) a[i] *= b[i];", "INPUT_CHANGED", "PASS"),
        ("float h = g[i]; db[i] = h * a[i]; if (da != g) da[i] = h * b[i];", "WRONG_GRADIENT", "PASS"),
    ],
)
def test_gradients(tmp_path, body, verdict, apart):
    library = load(compiled(tmp_path, BOTH + ROWS + VJP % body))
    assert judged(library, "mul[a=5x9;b=5x9;f32;inplace=a]", "gradient").verdict == verdict
    assert judged(library, "mul[a=5x9;b=5x9;f32]", "gradient").verdict == apart


def test_what_a_library_is_given(tmp_path):
    """Data, strides and offset of a result in place are those of the input."""
    body = r"""
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs, char *message,
                        size_t message_size) {
  const DLTensor *x = call->inputs[0], *y = outputs[0];
  snprintf(message, message_size, "%d %d", x->data == y->data && x->byte_offset == y->byte_offset,
           (int)y->strides[0]);
  return OPPROOF_FAILED;
}
"""
    library = load(compiled(tmp_path, BOTH + body))
    assert judged(library, "neg[x=5x9;f32;layout=gapped;inplace=x]").message == "1 12"
    assert judged(library, "neg[x=5x9;f32;into=gapped]").message == "0 12"
    assert judged(library, "neg[x=5x9;f32]").message == "0 9"
