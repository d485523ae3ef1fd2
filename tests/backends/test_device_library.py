"""A C library whose tensors lie on a device: guard zones instead of guard pages, found by a made-up device in C."""

from pathlib import Path

import pytest
from _adapters import results
from _c_build import compiled, needs_cc, refusal

from opproof.backends.c.library import load
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits

pytestmark = needs_cc

SOURCE = Path(__file__).parents[1].joinpath("device_library.c").read_text(encoding="utf-8")
SMALL = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) { return 0; }
"""

CASE = "relu[x=7x33;f32]"

#: Each defect, and what is said of it.
DEFECTS = {
    "overrun": ("OUT_OF_BOUNDS", "output y: 4 bytes past its end were written, the nearest 0 bytes away"),
    "underrun": ("OUT_OF_BOUNDS", "output y: 4 bytes before its beginning were written, the nearest 8 bytes away"),
    "far": ("OUT_OF_BOUNDS", "output y: 4 bytes past its end were written, the nearest 16000 bytes away"),
    "unwritten": ("NOT_WRITTEN", "output y: 1 of 231 elements were not written, the first at (6, 32)"),
    "scribble": ("INPUT_CHANGED", "input x: "),
    "no_offset": ("OUT_OF_BOUNDS", "output y: 924 bytes before its beginning were written"),
    "twice": ("WRONG_VALUE", ""),
    "full": ("OUT_OF_MEMORY", "MemoryError opproof_alloc returned 2: no memory left"),
    "lost": (
        "CRASH",
        "the process lost its device; it said: opproof_copy returned 2: an illegal memory access was encountered",
    ),
}


def device(folder, defect="", numbers=0):
    """The library, with a planted fault, with handles that are pointers or numbers."""
    return compiled(folder, f'#define DEFECT "{defect}"\n#define NUMBERS {numbers}\n{SOURCE}', "libdevice.so")


@pytest.mark.parametrize("numbers", [0, 1])
def test_every_case_passes(tmp_path, numbers):
    level = "smoke" if numbers else "standard"
    records = results(str(device(tmp_path, numbers=numbers)), ops=("relu",), level=level, dtypes=("f32",))
    judged = [r for r in records if "destination" not in r.message]  # which the library does not declare
    assert {r.verdict for r in judged} == {"PASS"}, [r for r in judged if r.verdict != "PASS"][:3]
    assert {r.mode for r in records} == {"forward", "gradient"}
    assert numbers or len({r.case for r in records if "layout" in r.case}) >= 5


def test_what_is_declined_is_declined(tmp_path):
    (record,) = results(str(device(tmp_path)), cases=("exp[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "only relu of float32")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Records of one case by defect and mode, all of one run."""
    folders = {defect: tmp_path_factory.mktemp(defect) for defect in DEFECTS}
    libraries = {str(device(folder, defect)): defect for defect, folder in folders.items()}
    selected = Selection(cases=(CASE,))
    with Pool(HostLimits(jobs=1, timeout=120.0, memory=4 * 2**30)) as pool:
        records = list(pool.run(make_tasks(list(libraries), select_cases(selected), selected)))
    return {(libraries[r.backend], r.mode): r for r in records}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect(found, defect):
    verdict, said = DEFECTS[defect]
    record = found[defect, "forward"]
    assert record.verdict == verdict, record
    assert record.message.startswith(said)
    assert found[defect, "gradient"].verdict == verdict.replace("VALUE", "GRADIENT")


def test_a_lost_device_costs_one_case_each(tmp_path):
    """The next case meets a device that works."""
    records = results(
        str(device(tmp_path, "lost")), cases=(CASE, "exp[x=7x33;f32]", "relu[x=1,;f32]"), modes=("forward",)
    )
    assert sorted((r.op, r.verdict) for r in records) == [
        ("exp", "UNSUPPORTED"), ("relu", "CRASH"), ("relu", "CRASH"),
    ]  # fmt: skip


# What cannot be loaded


def test_missing_functions(tmp_path):
    path = compiled(tmp_path, SMALL + "int32_t opproof_device_type(void) { return kDLCUDA; }\n")
    assert "a device of type 2 and exports no opproof_alloc and no opproof_free and no opproof_copy" in refusal(path)


def test_no_device_type(tmp_path):
    path = compiled(tmp_path, SMALL + "int32_t opproof_device_type(void) { return -1; }\n")
    assert "returned -1: expected a DLPack code" in refusal(path)


def test_a_copy_that_changes_bytes(tmp_path):
    assert "changes what it copies: 1 of 4099 bytes came back" in refusal(device(tmp_path, "copy"))


def test_no_memory_at_all(tmp_path):
    assert "cannot be used: opproof_alloc returned 2: no memory left" in refusal(
        device(tmp_path, "full from the start")
    )


def test_the_cpu_is_no_device(tmp_path):
    for code in ("", "int32_t opproof_device_type(void) { return kDLCPU; }\n"):
        backend = load(compiled(tmp_path, SMALL + code, f"lib{len(code)}.so"))
        assert not hasattr(backend, "device_memory")
        backend.forward_into("relu", [], {}, [])
