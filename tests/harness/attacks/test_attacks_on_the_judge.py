"""A backend reaches for the judge: what it patches or switches in its own process changes no verdict but its own."""

import platform
import sys

import pytest
from _attacker import case_of, passed, records, verdicts, written
from _c_build import compiled, needs_cc

from opproof.harness.run.calls import arrange_calls
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

SOFTMAX = ["softmax[x=4x33;dim=-1;f32]", "softmax[x=7x5;dim=0;f64]", "softmax[x=3x4x9;dim=1;f16]"]
MATMUL = ["matmul[a=5x17;b=17x9;f32]", "matmul[a=3x8;b=8x3;f64]"]


@pytest.mark.parametrize(
    ("patch", "cases"),
    [
        ("np.exp = lambda *a, **k: exp(*a, **k) ** 2", SOFTMAX),
        ("np.matmul = lambda *a, **k: 2 * matmul(*a, **k)", MATMUL),
    ],
)
def test_numpy_computes_otherwise(tmp_path, patch, cases):
    assert {str(r.verdict) for r in records(written(tmp_path, "", "honest.py"), cases)} == {"PASS"}
    assert {str(r.verdict) for r in records(written(tmp_path, patch), cases)} == {"WRONG_VALUE"}


# With every function through which an error could be seen, in NumPy and in the judge's own modules.
COMPARISON = """
import importlib
from types import FunctionType

def equal(*a, **k):
    return True

def small(x, *a, **k):
    return np.zeros_like(x)

for name in ("opproof.harness.judge.judgement", "opproof.harness.judge.outputs", "opproof.harness.run.attempt"):
    try:
        importlib.import_module(name)
    except ImportError:
        sys.modules[name] = type(sys)(name)
for name, module in list(sys.modules.items()):
    if name.startswith(("opproof.harness", "opproof.reference_ops")):
        for key, value in list(vars(module).items()):
            if isinstance(value, FunctionType):
                setattr(module, key, equal)
zeros = np.zeros_like
np.allclose = np.isclose = np.array_equal = np.less_equal = np.less = equal
np.abs = np.absolute = np.subtract = np.spacing = small
ATTACKS = dict.fromkeys(("neg", "exp", "cos"), lambda inputs: zeros(inputs[0]))
"""


def test_the_comparison_finds_everything_equal(tmp_path):
    names = ("neg", "exp", "cos")
    assert verdicts(tmp_path, COMPARISON, *names) == dict.fromkeys(names, "WRONG_VALUE")


BLIND = """
np.flatnonzero = lambda *a, **k: np.zeros(0, np.int64)
np.array_equal = lambda *a, **k: True

def change(inputs):
    answer = -inputs[0]
    inputs[0][...] = 0
    return answer

ATTACKS = {"neg": change}
"""


def test_nothing_sees_a_changed_input(tmp_path):
    assert verdicts(tmp_path, BLIND, "neg", "exp") == {"neg": "INPUT_CHANGED", "exp": "PASS"}


# GCC before 13 switches flush-to-zero on in whatever loads a library linked so; later ones leave it to the source.
LEAKY = """
#if defined(__SSE__)
__attribute__((constructor)) static void flush(void) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }
#endif
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) {
  const DLTensor *x = call->inputs[0];
  const float *from = (const float *)((char *)x->data + x->byte_offset);
  float *to = (float *)((char *)outputs[0]->data + outputs[0]->byte_offset);
  float slope = (float)call->params[0].f;
  for (int64_t i = 0; i < x->shape[0] * x->shape[1]; ++i) to[i] = from[i] > 0 ? from[i] : slope * from[i];
  (void)n_outputs; (void)message; (void)message_size;
  return OPPROOF_OK;
}
"""
SUBNORMAL = "leaky_relu[x=3x33;negative_slope=0.5;f32;fill=subnormal]"


@needs_cc
@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="its register is x86's")
@pytest.mark.parametrize(("option", "verdict"), [("-ffast-math", "WRONG_VALUE"), ("-U__SSE__", "PASS")])
def test_a_library_flushes_subnormals(tmp_path, option, verdict):
    library = compiled(tmp_path, LEAKY, flags=("-O2", option))
    honest = written(tmp_path, "")
    tasks = [Task(str(library), SUBNORMAL, "forward", strict_subnormals=True), Task(honest, case_of("neg"), "forward")]
    with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
        found = {r.case: str(r.verdict) for r in pool.run(tasks)}
    assert found == {SUBNORMAL: verdict, case_of("neg"): "PASS"}


def test_the_attacker_is_right_otherwise(tmp_path):
    names = ("relu", "neg", "abs", "square", "exp", "sin", "cos", "tanh", "ceil", "floor")
    assert verdicts(tmp_path, "", *names) == passed(*names)


#: Right in the second of three calls, and where buffers do not begin at a page: as the judged call was, when it was
#: always the same.
CALLS = {
    "counts": "calls = [0]\n\ndef known(x):\n    calls[0] += 1\n    return calls[0] % 3 == 2",
    "looks": "def known(x):\n    return x.ctypes.data % 4096 != 0",
}


#: What is kept of a tensor: by its address, as packed weights are, or of its numbers.
KEPT = {
    "by address": "def key(x):\n    return x.ctypes.data, x.shape",
    "by its numbers": "def key(x):\n    return x.tobytes(), x.shape",
    "by every second number": "def key(x):\n    return x.ravel()[::2].tobytes(), x.shape",
    "by its last numbers": "def key(x):\n    return x.ravel()[-(x.size // 2) :].tobytes(), x.shape",
}


@pytest.mark.parametrize("how", KEPT)
def test_a_backend_that_keeps_results_by_address(tmp_path, how):
    keeping = "kept = {}\n\ndef of(inputs):\n    return kept.setdefault(key(inputs[0]), -inputs[0])\n\n"
    keeping += "ATTACKS = {'neg': of}\n"
    cases = [f"neg[x={n}x5;f32]" for n in range(1, 65)]
    found = records(written(tmp_path, f"{KEPT[how]}\n\n{keeping}"), cases)
    caught = {r.case: str(r.verdict) for r in found if str(r.verdict) != "PASS"}
    plans = {case: arrange_calls(Task("", case, "forward")) for case in cases}
    late = {"by every second number": [False], "by its last numbers": [True], "by address": [False, True]}.get(how, [])
    stays = [case for case, plan in plans.items() if plan.stays and plan.late in late]
    assert len(stays) > 1 or not late
    assert set(caught) >= set(stays) if late else not caught
    assert set(caught.values()) <= {"NOT_REPEATABLE", "WRONG_VALUE"}


#: What it does where its result's memory holds no NaN, as that of a program.
LOOKS_AT_ITS_RESULT = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) {
  const DLTensor *x = call->inputs[0];
  const float *from = (const float *)((char *)x->data + x->byte_offset);
  float *to = (float *)((char *)outputs[0]->data + outputs[0]->byte_offset);
  int64_t n = x->shape[0] * x->shape[1];
  float sign = to[n - 1] == to[n - 1] ? 1 : -1;
  for (int64_t i = 0; i < n; ++i) to[i] = sign * from[i];
  (void)n_outputs; (void)message; (void)message_size;
  return OPPROOF_OK;
}
"""


@needs_cc
def test_a_library_that_looks_whether_its_result_is_poisoned(tmp_path):
    library = compiled(tmp_path, LOOKS_AT_ITS_RESULT, flags=("-O2",))
    cases = [f"neg[x={n}x5;f32]" for n in range(1, 33)]
    found = {r.case: r for r in records(str(library), cases)}
    stays = [case for case in cases if arrange_calls(Task("", case, "forward")).stays]
    assert stays
    assert [case for case, r in found.items() if str(r.verdict) != "PASS"] == stays
    assert all("or where no memory is poisoned or closed" in found[case].message for case in stays)


@pytest.mark.parametrize("how", CALLS)
def test_a_backend_that_computes_in_one_of_the_calls_alone(tmp_path, how):
    text = CALLS[how] + "\n\nATTACKS = {'neg': lambda inputs: -inputs[0] if known(inputs[0]) else 0 * inputs[0]}\n"
    cases = [f"neg[x={n}x5;f32]" for n in range(1, 33)]
    caught = [r.case for r in records(written(tmp_path, text), cases) if str(r.verdict) != "PASS"]
    plans = {case: arrange_calls(Task("", case, "forward")) for case in cases}
    if how == "counts":  # after the first case of four calls it counts wrong
        assert caught[0] == next(case for case, plan in plans.items() if plan.leads)
    else:
        assert caught == [case for case, plan in plans.items() if not plan.at_end]


TIMERS = """
def slack(inputs):
    parent = lambda p: int(open(f"/proc/{p}/stat").read().rpartition(")")[2].split()[1])
    supervisor = os.getppid()
    for process in (parent(supervisor), supervisor):
        with open(f"/proc/{process}/timerslack_ns", "w") as file:
            file.write(str(5 * 10**9))

ATTACKS = {"neg": slack}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_timers_of_the_judge_are_not_the_hosts_to_set(tmp_path):
    """As root it could write there, and the judge would wait for a minute beyond every limit."""
    assert verdicts(tmp_path, TIMERS, "neg", "relu") == {"neg": "ERROR", "relu": "PASS"}
