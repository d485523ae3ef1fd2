"""A heap that a C library has corrupted: it is noticed by whoever frees next, who is innocent."""

import pytest
from _attacker import passed
from _c_build import compiled, needs_cc

from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

pytestmark = needs_cc

# neg writes a little behind a block, where the allocator keeps the size of the next one: looked at when that is freed.
HEAP = """
#include <stdlib.h>

static char *block;

int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) {
  const DLTensor *x = call->inputs[0];
  float *from = (float *)((char *)x->data + x->byte_offset);
  float *to = (float *)((char *)outputs[0]->data + outputs[0]->byte_offset);
  int neg = strcmp(call->op, "neg") == 0;
  for (int64_t i = 0; i < x->shape[0] * x->shape[1]; ++i) to[i] = neg ? -from[i] : from[i] > 0 ? from[i] : 0;
  if (neg) {
    block = malloc(60000);
    memset(block - 8, 0xff, 8);
  }
  if (FREES) {
    free(block);
    block = 0;
  }
  (void)message; (void)message_size; (void)n_outputs;
  return OPPROOF_OK;
}
"""
CASES = ("relu[x=2x33;f32]", "relu[x=3x33;f32]", "neg[x=4x33;f32]", "relu[x=5x33;f32]", "relu[x=6x33;f32]")


@pytest.mark.parametrize(
    ("frees", "message"),
    [
        ("block && neg", "the process died of SIGABRT; it said: "),
        ("block && !neg", "after the call had returned, the process died of SIGABRT; it said: "),
    ],
    ids=["in the call", "in the next case"],
)
def test_a_corrupted_heap_is_charged_to_its_cause(tmp_path, frees, message):
    library = str(compiled(tmp_path, HEAP.replace("FREES", frees)))
    with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
        last = {r.case: r for r in pool.run([Task(library, case, "forward") for case in CASES])}
    verdicts = {case: str(r.verdict) for case, r in last.items()}
    assert verdicts == {**passed(*CASES), CASES[2]: "CRASH"}, [r.message for r in last.values()]
    assert last[CASES[2]].message.startswith(message)
