"""Judge the kernels of this folder: all, or those that are named. Exit status 1 where one is not what it should be.

python examples/fused/judge.py swiglu adamw
"""

import importlib
import sys

import opproof

NAMES = (
    "add_rms_norm", "swiglu", "rope_attention", "linear_cross_entropy", "int4_matmul", "topk_gating", "selective_scan",
    "adamw",
)  # fmt: skip


def main(names):
    expected = True
    for name in names or NAMES:
        module = importlib.import_module(name)
        for kernel in ("right", "broken"):
            report = opproof.check(
                getattr(module, kernel),
                like=module.reference,
                inputs=module.inputs,
                vjp=getattr(module, f"{kernel}_vjp", None),
                neighbours=False,
                raises=False,
                **getattr(module, "options", {}),
            )
            expected &= report.ok == (kernel == "right")
            verdicts = " ".join(f"{r.mode} {r.verdict}" for r in report.results)
            print(f"{name:20} {kernel:6} {verdicts}", flush=True)
            if report.failures:
                print(f"{'':27} {report.worst.diagnosis or where(report.worst.worst)}", flush=True)
    return 0 if expected else 1


def where(element):
    at = ", ".join(map(str, element.index))
    return f"{element.tensor}[{at}]: got {element.got:.6g}, expected {element.expected:.6g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
