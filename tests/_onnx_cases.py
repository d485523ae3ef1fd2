"""The node cases of pip `onnx`: its test data made, our references run, the two compared."""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from opproof.reference_ops import load as load_op
from opproof.reference_ops.onnx.shared import NotTranslatable, express
from opproof.reference_ops.onnx.table import MAP

#: Relative and absolute error allowed, by the dtype of the expected output, which ONNX's own reference rounded so.
TOLERANCE = {"float64": (1e-10, 1e-12), "float32": (1e-5, 1e-6), "float16": (2e-3, 1e-4), "bfloat16": (2e-2, 1e-3)}
FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)


#: Every case that differs, and whose doing it is.
EXPLAINED = {
    "averagepool_2d_ceil_last_window_starts_on_pad": "ONNX's expected values are written by hand with four digits; "
    "PyTorch agrees with ours to the last.",
    "roialign_aligned_false": "ONNX's expected values are written by hand with four digits.",
    "roialign_aligned_true": "ONNX's expected values are written by hand with four digits.",
    "top_k_uint64": "Unsigned integers, a dtype that opproof has not; ours orders by the negative.",
}


@dataclass(frozen=True)
class Verdict:
    """One node case: "agrees", "differs" or "not ours"; the operators of ours that ran; why."""

    case: str
    node: str
    verdict: str
    ops: tuple[str, ...] = ()
    why: str = ""


def node_cases():
    """ONNX's node cases by name. Its wheels hold the programs that make them, from 1.23 on not the files made."""
    with np.errstate(all="ignore"):
        return sorted(collect_testcases(""), key=attrgetter("name"))


def run(given):
    """The verdict on one case."""
    case, model = given.name.removeprefix("test_"), given.model
    nodes = model.graph.node
    if len(nodes) != 1:
        return Verdict(case, "graph", "not ours", why="a graph of several nodes (the same operator, spelled out)")
    node = nodes[0]
    if node.op_type not in MAP:
        return Verdict(case, node.op_type, "not ours", why="no such operator in our suite")
    used = []
    try:
        found = _outputs(node, *_data(given), used)
    except NotTranslatable as reason:
        return Verdict(case, node.op_type, "not ours", tuple(dict.fromkeys(used)), str(reason))
    except ValueError as error:
        return Verdict(case, node.op_type, "differs", tuple(dict.fromkeys(used)), f"ours raises ValueError: {error}")
    compared = sum(got is not None for got, _ in found)
    ops = tuple(dict.fromkeys(used))
    exact = all(load_op(name).is_exact("forward") for name in ops)
    wrong = [w for w in (difference(got, want, exact=exact) for got, want in found) if w]
    if not compared or not ops:
        return Verdict(case, node.op_type, "not ours", ops, "no output of ours")
    return Verdict(case, node.op_type, "differs" if wrong else "agrees", ops, "; ".join(wrong))


def _data(given):
    """Inputs by name, and outputs in order."""
    values, graph = {}, given.model.graph
    for kind, infos, data in zip(
        ("input", "output"), (graph.input, graph.output), next(iter(given.data_sets)), strict=True
    ):
        for info, value in zip(infos, data, strict=True):
            if not info.type.HasField("tensor_type"):
                raise NotTranslatable("sequences and optionals")
            if info.type.tensor_type.elem_type == TensorProto.STRING:
                raise NotTranslatable("strings")
            values[kind, info.name] = numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
    return values, [info.name for info in graph.output]


def _outputs(node, values, names, used):
    """Pairs of ours and theirs, one for each output of the graph."""

    def ref(name, *tensors, **params):
        used.append(name)
        if load_op(name).drawn_from and len(names) > 1:  # theirs is as good a draw
            tensors = load_op(name).drawn([values["output", n] for n in names], *tensors, **params)
        with np.errstate(all="ignore"):
            return load_op(name).forward(*tensors, **params)

    entry = MAP[node.op_type]
    inputs = [_widened(values["input", n]) if n else None for n in node.input]
    attributes = {a.name: _plain(helper.get_attribute_value(a)) for a in node.attribute}
    result = express(entry, ref, inputs, attributes, len(node.output))
    results = result if isinstance(result, tuple | list) else [result]
    by_name = dict(zip(node.output, results, strict=False))
    return [(by_name[n], values["output", n]) for n in names]


def _widened(x):
    """Floats in float64; integers, booleans and codes of 8 bits as they are."""
    wide = x.dtype.kind == "f" and x.dtype.itemsize > 1
    return x.astype(np.float64) if wide or x.dtype.name == "bfloat16" else x


def _plain(value):
    if isinstance(value, bytes):
        return value.decode()
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def difference(got, want, *, exact=False):
    """What is wrong with `got`, in words; empty where nothing is, or where it is no output of ours."""
    if got is None:
        return ""
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, ONNX has {want.shape}"
    if want.dtype.name not in TOLERANCE:
        same = np.array_equal(got, want)
        return "" if same else f"{np.sum(got != want)} of {want.size} elements differ"
    relative, absolute = (0.0, 0.0) if exact else TOLERANCE[want.dtype.name]
    wide = want.astype(np.float64)
    with np.errstate(all="ignore"):
        close = np.isclose(got, wide, rtol=relative, atol=absolute, equal_nan=True)
    if close.all():
        return ""
    where = tuple(int(i) for i in np.argwhere(~close)[0])
    values = f"ours is {got[where]:.9g}, ONNX's {wide[where]:.9g}"
    return f"{np.sum(~close)} of {close.size} elements differ; at {where} {values}"
