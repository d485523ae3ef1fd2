"""What headers say of the machine: processor, vector extensions, cores, variables, versions."""

import platform

import numpy as np

from opproof.core import system as machine
from opproof.core.system import count_cores

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R)  Platinum 8480+
flags\t\t: fpu sse2 sse4_2 avx f16c fma avx2 avx512f avx512bw avx512_bf16 amx_tile amx_bf16 avx512_vnni hypervisor
bugs\t\t: spectre_v1

processor\t: 1
model name\t: another
flags\t\t: fpu
"""
OLD = "model name\t: Opteron\nflags\t\t: fpu sse2 sse4_2\n"
ARM = """processor\t: 0
Features\t: fp asimd aes asimdhp asimddp sve i8mm bf16
CPU implementer\t: 0x41
CPU part\t: 0xd40
"""


def test_a_processor_is_its_model_and_a_short_list_of_what_code_is_chosen_by():
    assert machine.parse_cpuinfo(X86) == (
        "Intel(R) Xeon(R) Platinum 8480+",
        "f16c fma avx2 avx512f avx512_vnni avx512_bf16 amx_bf16",
    )
    assert machine.parse_cpuinfo(OLD) == ("Opteron", "sse4_2")
    assert machine.parse_cpuinfo(ARM) == ("implementer 0x41, part 0xd40", "neon neon_fp16 dotprod bf16 i8mm sve")
    assert machine.parse_cpuinfo("") == ("", "")


def test_variables_that_choose_code_are_told_where_set():
    asked = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "COMPATIBLE", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
    assert machine.select_variables({**asked, "HOME": "/root", "PASSWORD": "x"}) == asked
    ours = dict.fromkeys(machine.THREADS, "1")  # as the judges have it
    assert machine.select_variables(ours) == {"OMP_NUM_THREADS": "1"}
    assert machine.select_variables({**ours, "OPENBLAS_NUM_THREADS": "4"}) == {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "4",
    }


def test_the_host_at_hand(monkeypatch):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    facts = machine.describe_host()
    assert facts["ONEDNN_MAX_CPU_ISA"] == "AVX2"
    assert (facts["python"], facts["numpy"]) == (platform.python_version(), np.__version__)
    assert facts["cores"] == str(count_cores())
    assert all(facts.values())
    monkeypatch.setattr(machine, "_CPUINFO", machine._CPUINFO / "not here")
    assert machine.describe_host().keys() <= {*facts, "processor"}
