"""What operators are called elsewhere: docstrings and lists, matched; the lists against the libraries installed."""

import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from opproof.cases import cases_of
from opproof.harness.reference.data import fill_parameters, inputs_of, list_arguments
from opproof.reference_ops import load, names
from opproof.reference_ops._elsewhere import named_in, names_by_operator, read_lists

ROOT = Path(__file__).parents[2]
#: ATen's functions that only lay out, name or read what another one computes.
LAYS_OUT = {"_local_scalar_dense", "_reshape_alias", "_unsafe_view", "alias", "as_strided", "clone", "detach", "expand",
            "lift_fresh", "permute", "select", "slice", "squeeze", "t", "transpose", "unfold",
            "unsqueeze", "view"}  # fmt: skip


@pytest.fixture(scope="module")
def ops():
    return [load(name) for name in names()]


@pytest.fixture(scope="module")
def lists(ops):
    return {found.title: found for found in read_lists(ops)}


def read_one(folder, text, ops):
    (folder / "theirs.txt").write_text(text, encoding="utf-8")
    (found,) = read_lists(ops, folder)
    return found


@pytest.mark.parametrize(
    ("sentence", "library", "expected"),
    [
        ("torch.relu", "PyTorch", ["torch.relu"]),
        ("torch.i0, torch.special.i0", "PyTorch", ["torch.i0", "torch.special.i0"]),
        ("none (torch.nn.functional.linear and cross_entropy)", "PyTorch", []),
        ("torch.Tensor.index_add (at the places of the view)", "PyTorch", ["torch.Tensor.index_add"]),
        ("MatMulInteger, then Mul", "ONNX", []),
        ("DequantizeLinear (block_size), then MatMul; com.microsoft's MatMulNBits", "ONNX", ["MatMulNBits"]),
        ("RoiAlign (avg)", "ONNX", ["RoiAlign"]),
        ("Clip (0, 6)", "ONNX", ["Clip"]),
        ("ggml_pool_1d (GGML_OP_POOL_MAX) (no indices)", "ggml", ["ggml_pool_1d"]),
        ("none of its own now (ggml_soft_max_ext with max_bias; formerly ggml_alibi)", "ggml", []),
    ],
)
def test_names_of_a_sentence(sentence, library, expected):
    assert list(named_in(sentence, library)) == expected


def test_a_name_is_ours_whatever_its_namespace(tmp_path, ops):
    text = "# OpInfo: here\nnn.functional.relu\nlinalg.cholesky\nmasked.softmax\ntorch._scaled_mm\ntorch.relu.default\n"
    found = read_one(tmp_path, text, ops)
    assert (found.title, found.source) == ("OpInfo", "here")
    assert found.names["nn.functional.relu"] == found.names["torch.relu.default"] == ("relu",)
    assert found.names["linalg.cholesky"] == ("cholesky",)
    assert found.names["torch._scaled_mm"] == ("scaled_mm",)
    assert found.missing == ("masked.softmax",)


def test_the_line_of_a_name_wins(tmp_path, ops):
    found = read_one(tmp_path, "# theirs: here\nunfold = as_strided\nrelu = clamp\nFFT\nGLU\n", ops)
    assert found.names == {"unfold": ("as_strided",), "relu": ("clamp",), "FFT": ("fft",), "GLU": ()}


def test_a_docstring_counts_for_its_own_library_alone(tmp_path, ops):
    assert read_one(tmp_path, "# ONNX: here\nRoiAlign\n", ops).names == {"RoiAlign": ("roi_align",)}
    assert read_one(tmp_path, "# TOSA: here\nRoiAlign\n", ops).missing == ("RoiAlign",)


def test_a_list_that_names_no_operator_of_ours_is_refused(tmp_path, ops):
    with pytest.raises(ValueError, match=r"theirs.txt names operators that we have not: glu_of_old"):
        read_one(tmp_path, "# theirs: here\nFFT = fft\nGLU = glu_of_old\n", ops)


@pytest.mark.parametrize(
    ("title", "name", "ours"),
    [
        ("OpInfo", "nn.functional.relu", "relu"),
        ("OpInfo", "nn.functional.linear_cross_entropy", "linear_cross_entropy"),
        ("OpInfo", "native_layer_norm", "layer_norm"),
        ("OpInfo", "native_group_norm", "group_norm"),
        ("OpInfo", "native_batch_norm", "batch_norm"),
        ("OpInfo", "constant_pad_nd", "pad"),
        ("OpInfo", "grid_sampler_2d", "grid_sample"),
        ("OpInfo", "to", "cast"),
        ("OpInfo", "triangular_solve", "solve_triangular"),
        ("OpInfo", "torch._scaled_mm", "scaled_mm"),
        ("OpInfo", "linalg.cholesky_ex", "cholesky"),
        ("array API", "linalg.cholesky", "cholesky"),
        ("ONNX", "RoiAlign", "roi_align"),
        ("core ATen", "native_layer_norm", "layer_norm"),
        ("StableHLO", "uniform_quantize", "quantize_linear"),
        ("TOSA", "identity", "contiguous"),
        ("ggml ops", "COL2IM_1D", "col2im"),
    ],
)
def test_what_exists_is_not_missing(lists, title, name, ours):
    assert ours in lists[title].names[name]


def test_names_by_operator(ops):
    found = names_by_operator(ops)["cast"]
    assert found["PyTorch"] == ["torch.Tensor.to"]
    assert found["ONNX"] == ["Cast", "CastLike"]
    assert found["core ATen"] == ["_to_copy"]
    assert found["array API"] == ["astype"]
    assert (found["StableHLO"], found["TOSA"]) == (["convert", "reduce_precision"], ["cast"])
    assert names_by_operator(ops)["linear_cross_entropy"]["PyTorch"] == []


def called_alone(op, watch, torch):
    """The ATen functions that the operator's twin calls with nothing beside that computes, over its first cases."""
    cases = [c for c in cases_of(op.name, "smoke") if not c.mixed]
    for case in cases[:2]:
        values = inputs_of(case, op)
        given = [None if n is None else torch.from_numpy(np.array(values[n])) for n in list_arguments(case, op)]
        with watch() as seen:
            op.torch(torch, *given, **fill_parameters(case, op))
        if len(computing := set(seen.names) - LAYS_OUT) == 1:
            yield from computing


def test_what_a_twin_calls_alone_is_not_missing_of_core_aten(ops, lists):
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.names.append(function._schema.name.removeprefix("aten::"))
            return function(*args, **(kwargs or {}))

    missing, tried = set(lists["core ATen"].missing), 0
    for op in ops:
        if op.torch is not None:
            alone = set(called_alone(op, Watch, torch))
            tried += bool(alone)
            assert not alone & missing, f"{op.name} computes {alone & missing}: reference_ops/lists/aten.txt"
    assert tried > 100


def test_core_aten_is_that_of_torch(lists):
    torch = pytest.importorskip("torch")
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")]
    core = set()
    for schema in schemas:
        name = schema.name.removeprefix("aten::")
        overload = getattr(getattr(torch.ops.aten, name, None), schema.overload_name or "default", None)
        if overload is not None and torch.Tag.core in overload.tags:
            core.add(name)
    assert core == set(lists["core ATen"].names)


def test_the_onnx_list_is_that_of_the_pin(lists):
    onnx = pytest.importorskip("onnx")
    pin = re.search(r"^onnx==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert lists["ONNX"].source.startswith(f"onnx {pin},")
    if version("onnx") == pin:
        schemas = {s.name for s in onnx.defs.get_all_schemas() if not s.domain}
        assert schemas == set(lists["ONNX"].names)


def test_the_stablehlo_list_has_what_jaxlib_has(lists):
    path = pytest.importorskip("jaxlib").__path__[0]
    text = (Path(path) / "mlir" / "dialects" / "_stablehlo_ops_gen.py").read_text(encoding="utf-8")
    found = {n.removeprefix("stablehlo.") for n in re.findall(r'OPERATION_NAME = "(.*)"', text)}
    assert len(found) > 100
    assert found <= set(lists["StableHLO"].names)


def test_what_is_missing_of_standards_has_its_reason(lists):
    page = (ROOT / "docs" / "reference" / "operators.md").read_text(encoding="utf-8")
    table = page.partition("## Names outside")[2].partition("<!--")[0]
    titles = {"ONNX": "ONNX", "StableHLO": "StableHLO", "TOSA": "TOSA", "ggml": "ggml ops"}
    given: dict[str, set[str]] = {title: set() for title in titles.values()}
    for names_, title, why in re.findall(r"^\| (`.*?) \| (\w+) \| (.*) \|$", table, re.MULTILINE):
        assert why
        given[titles[title]] |= set(re.findall(r"`([^`]+)`", names_))
    assert given == {title: set(lists[title].missing) for title in given}


@pytest.mark.parametrize(
    ("title", "least"), [("ggml ops", 124), ("ONNX", 185), ("StableHLO", 95), ("TOSA", 70), ("core ATen", 150)]
)
def test_so_much_of_the_standards_is_covered(lists, title, least):
    found = lists[title]
    assert len(found.names) - len(found.missing) >= least
