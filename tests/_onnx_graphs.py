"""ONNX's node cases of several nodes as graphs: which the language expresses, and what a backend answers.

`python tests/_onnx_graphs.py` writes docs/data/onnx-graphs.json.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from _onnx_cases import difference, node_cases
from onnx import TensorProto, numpy_helper

from opproof.backends.load import load_backend
from opproof.backends.loaded import resolve_members
from opproof.core.errors import UsageError
from opproof.core.text import dump_json
from opproof.core.verdicts import Mode
from opproof.harness.capture.captured import case_of_graph
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.data import list_arguments
from opproof.harness.reference.question import Question
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.task import Task
from opproof.reference_ops import load
from opproof.reference_ops._taped_graphs import NotExpressible, express_whole
from opproof.reference_ops.onnx.model import trace_nodes

FILE = Path(__file__).parent.parent / "docs" / "data" / "onnx-graphs.json"
BACKENDS = ("onnxruntime", "openvino", "torch", "jax")


#: What a backend answers wrong, and whose doing it is.
_LOWEST = "OpenVINO's largest of a row of -inf is the least finite number: the row is not seen to be masked whole."
EXPLAINED = {
    ("openvino", "attention_23_boolmask_fullymasked_row_nan_robustness_expanded"): _LOWEST,
    ("openvino", "attention_23_fullymasked_qk_matmul_output_mode3_zero_expanded"): _LOWEST,
    ("openvino", "attention_4d_causal_nonpad_negative_offset_structural_empty_expanded"): _LOWEST,
    ("openvino", "mish_expanded"): "OpenVINO's softplus is the logarithm of 1 + exp(x), not log1p.",
}


@dataclass(frozen=True)
class GraphCase:
    """One case of several nodes: its graph and tensors, or why it is none; whether the reference has ONNX's values."""

    name: str
    nodes: tuple[str, ...]
    case: object = None
    tensors: object = None
    why: str = ""
    differs: str = ""


def graph_cases():
    """Every node case of several nodes."""
    return [express(given) for given in node_cases() if len(given.model.graph.node) > 1]


def express(given):
    """The case as a graph."""
    name, nodes = given.name.removeprefix("test_"), tuple(sorted({n.op_type for n in given.model.graph.node}))
    inputs, outputs = next(iter(given.data_sets))
    try:
        arrays, wanted = list(map(_to_array, inputs)), list(map(_to_array, outputs))
        graph = express_whole(trace_nodes(given.model, arrays, name))
    except UsageError as error:
        return GraphCase(name, nodes, why=_shorten(str(error)))
    except NotExpressible as reason:
        return GraphCase(name, nodes, why=_shorten(str(reason)))
    with np.errstate(all="ignore"):
        found = load(graph.text).forward(*(_to_wide(t) for t in graph.tensors.values()))
    results, wanted = found if isinstance(found, list) else [found], [y for y in wanted if y.dtype.kind == "f"]
    if len(results) != len(wanted):
        return GraphCase(name, nodes, why="an output that its inputs do not change")
    said = "; ".join(filter(None, map(difference, results, wanted)))
    return GraphCase(name, nodes, case_of_graph(graph), graph.tensors, differs=said)


def _to_array(value):
    if not isinstance(value, TensorProto | np.ndarray | np.generic | float | int):
        raise NotExpressible("sequences and optionals")
    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise NotExpressible("strings, and dtypes that NumPy has not")
    return array


def _to_wide(tensor):
    return np.array(tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy())


def _shorten(reason):
    """The reason without the names of one case."""
    if "is computed neither" in reason:
        return "a node that neither our operators nor the onnx package compute"
    if "calls no operator" in reason:
        return "no operator of floats depends on its inputs"
    if "is no operator, nor does it move" in reason:
        return f"no operator of ours: {reason.split()[0]}"
    return reason.partition(": ")[2] if reason.startswith("'graph:") else reason


@cache
def _host_of(backend):
    return InProcessHost(resolve_members(load_backend(backend), backend))


def judge(one, backend):
    """What a backend makes of the graph, by the tensors of the case."""

    def pose(case, op, mode, memory=0, other_mode=None):
        drawn = make_fitting_question(case, op, mode)
        names = tuple(list_arguments(case, op))
        given = tuple(_to_wide(one.tensors[n]) for n in names)
        asked = Question(case, op, mode, names, given, (), tuple(True for _ in names))
        return replace(drawn, case_data=asked, room=None)

    task = Task(backend, str(one.case), Mode.FORWARD)
    return run_task(_host_of(backend), task, load(one.case.op), math.inf, posing=pose)


def summarize(found, judged):
    """The counts, by backend and by reason."""
    reasons = Counter(one.why for one in found if one.why)
    return {
        "version": version("onnx"),
        "cases": len(found),
        "graphs": sum(not one.why for one in found),
        "agree": sum(not one.why and not one.differs for one in found),
        "differ": [{"case": one.name, "seen": one.differs} for one in found if one.differs],
        "backends": [
            {
                "backend": backend,
                "version": _host_of(backend).about.version,
                "verdicts": dict(sorted(Counter(str(a.judgement.verdict) for _, a in attempts).items())),
                "others": [
                    {
                        "case": one.name,
                        "verdict": str(a.judgement.verdict),
                        "because": EXPLAINED.get((backend, one.name), "unexplained"),
                    }
                    for one, a in attempts
                    if a.judgement.verdict not in ("PASS", "UNSUPPORTED", "VACUOUS")
                ],
            }
            for backend, attempts in judged.items()
        ],
        "not graphs": [
            {
                "reason": reason,
                "cases": count,
                "examples": sorted(one.name for one in found if one.why == reason)[:3],
            }
            for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        ],
    }


if __name__ == "__main__":
    cases = graph_cases()
    expressed = [one for one in cases if not one.why]
    FILE.write_text(
        dump_json(summarize(cases, {b: [(one, judge(one, b)) for one in expressed] for b in BACKENDS})),
        encoding="utf-8",
    )
