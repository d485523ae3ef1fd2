"""The loader of C libraries: what it refuses, what it passes, and the example library's numbers."""

import itertools
import platform

import ml_dtypes
import numpy as np
import pytest
from _ask import judged
from _c_build import compiled, example, needs_cc, refusal

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.c.library import load
from opproof.reference_ops import load as load_op

pytestmark = needs_cc

VERSION = "int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }\n"
FORWARD = """int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                                     char *message, size_t message_size) { %s }\n"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return load(example(tmp_path_factory.mktemp("good")))


# What cannot be loaded


def test_missing_file(tmp_path):
    assert "there is no file" in refusal(tmp_path / "libnone.so")


def test_folder(tmp_path):
    assert "is a folder" in refusal(tmp_path)


def test_no_shared_library(tmp_path):
    path = tmp_path / "libtext.so"
    path.write_text("this is no library, but long enough to hold an ELF header of sixty-four bytes")
    assert f"could not be loaded as a shared library for {platform.system()}" in refusal(path)


def test_undefined_symbol(tmp_path):
    path = compiled(tmp_path, "int elsewhere(void);\nint32_t opproof_abi_version(void) { return elsewhere(); }\n")
    assert "undefined symbol: elsewhere" in refusal(path)


def test_no_abi_version(tmp_path):
    assert "exports no opproof_abi_version" in refusal(compiled(tmp_path, "int something(void) { return 1; }\n"))


def test_other_abi_version(tmp_path):
    path = compiled(tmp_path, "int32_t opproof_abi_version(void) { return 7; }\n" + FORWARD % "return 0;")
    assert "was built for version 7" in refusal(path)


def test_no_forward(tmp_path):
    assert "no opproof_forward" in refusal(compiled(tmp_path, VERSION))


def test_init_fails(tmp_path):
    init = 'int32_t opproof_init(char *message, size_t size) { snprintf(message, size, "no device"); return 2; }\n'
    text = refusal(compiled(tmp_path, VERSION + init + FORWARD % "return 0;"))
    assert "opproof_init" in text
    assert "saying: no device" in text


def test_bad_alignment(tmp_path):
    path = compiled(tmp_path, VERSION + "int32_t opproof_alignment(void) { return 24; }\n" + FORWARD % "return 0;")
    assert "returned 24: expected a power of two" in refusal(path)


def test_alignment_that_is_too_large(tmp_path):
    declared = "int32_t opproof_alignment(void) { return 1 << 30; }\n"
    path = compiled(tmp_path, VERSION + declared + FORWARD % "return 0;")
    text = refusal(path)
    assert "returned 1073741824: expected a power of two from 1 to 1048576, in bytes, such as 64" in text
    assert str(path) in text


def test_unknown_defect(tmp_path, monkeypatch):
    monkeypatch.setenv("OPPROOF_DEFECT", "tail,typo")
    assert "OPPROOF_DEFECT names no defect: typo" in refusal(example(tmp_path, broken=True))


# What is optional


def test_only_what_is_required(tmp_path):
    backend = load(compiled(tmp_path, VERSION + FORWARD % "return 0;"))
    assert (backend.name, backend.version, backend.device, backend.alignment) == ("libsmall", "", "cpu", 64)
    assert not hasattr(backend, "vjp_into")


def test_what_the_library_says_of_itself(library):
    assert (library.name, library.version, library.device, library.alignment) == ("example", "1.0", "cpu", 1)
    assert hasattr(library, "vjp_into")


# What a call may answer


def answer(tmp_path, body):
    load(compiled(tmp_path, VERSION + FORWARD % body)).forward_into("relu", [], {}, [])


def test_unknown_code(tmp_path):
    with pytest.raises(BackendFailed, match=r"returned 7 for relu; expected 0 \(OK\), 1"):
        answer(tmp_path, "return 7;")


def test_message_that_is_no_text(tmp_path):
    with pytest.raises(BackendFailed, match=r"^bad \ufffd bytes$"):
        answer(tmp_path, r'strcpy(message, "bad \xff bytes"); return 2;')


def test_message_without_end(tmp_path):
    with pytest.raises(Unsupported) as caught:
        answer(tmp_path, "memset(message, 'x', message_size); return 1;")
    assert set(str(caught.value)) == {"x"}


@pytest.mark.parametrize(("code", "error"), [(1, Unsupported), (2, BackendFailed)])
def test_no_message(tmp_path, code, error):
    with pytest.raises(error, match="relu and gave no reason"):
        answer(tmp_path, f"return {code};")


def test_declines_with_a_reason(library):
    with pytest.raises(Unsupported, match="no operator exp"):
        library.forward_into("exp", [np.ones(3)], {}, [np.ones(3)])
    with pytest.raises(Unsupported, match="type code 0 of 64 bits"):
        library.forward_into("relu", [np.ones(3, np.int64)], {}, [np.ones(3, np.int64)])


# What a call receives

ECHO = r"""
  int n = 0;
#define SAY(...) n += snprintf(message + n, message_size - n, __VA_ARGS__)
  SAY("%s", call->op);
  for (int t = 0; t < call->n_inputs; ++t) {
    const DLTensor *x = call->inputs[t];
    if (x == NULL) { SAY(" NULL"); continue; }
    SAY(" %d.%d.%d@%p+%d[", x->dtype.code, x->dtype.bits, x->dtype.lanes, x->data, (int)x->byte_offset);
    for (int d = 0; d < x->ndim; ++d) SAY("%d:%d,", (int)x->shape[d], (int)x->strides[d]);
    SAY("]%s", x->strides == NULL || x->device.device_type != kDLCPU ? "?" : "");
  }
  for (int i = 0; i < call->n_params; ++i) {
    const opproof_param *p = &call->params[i];
    SAY(" %s:%d", p->name, p->type);
    if (p->type == OPPROOF_INT || p->type == OPPROOF_BOOL) SAY("=%" PRId64, p->i);
    if (p->type == OPPROOF_FLOAT) SAY("=%g", p->f);
    if (p->type == OPPROOF_STRING) SAY("=%s", p->s);
    for (int k = 0; k < p->count; ++k) {
      if (p->type == OPPROOF_INTS) SAY("=%" PRId64, p->ints[k]);
      if (p->type == OPPROOF_FLOATS) SAY("=%g", p->floats[k]);
    }
  }
  return 2;"""


def echoed(tmp_path, inputs, params):
    with pytest.raises(BackendFailed) as caught:
        load(compiled(tmp_path, VERSION + FORWARD % ECHO)).forward_into("relu", inputs, params, [])
    return str(caught.value)


def test_parameters(tmp_path):
    params = {
        "a": None,
        "b": -(2**40),
        "c": 0.5,
        "d": True,
        "e": "none",
        "f": (1, -2),
        "g": (0.5, 2),
        "h": (),
        "nested": ((1, 2), (3, 4)),
        "inf": float("inf"),
    }
    text = "a:0 b:1=-1099511627776 c:2=0.5 d:3=1 e:4=none f:5=1=-2 g:6=0.5=2 h:5 nested:5=1=2=3=4 inf:2=inf"
    assert echoed(tmp_path, [], params) == f"relu {text}"


def test_parameter_without_form(tmp_path):
    with pytest.raises(TypeError, match=r"parameter a=.* has no form in opproof\.h"):
        echoed(tmp_path, [], {"a": {1, 2}})


def test_tensors_are_borrowed_where_they_lie(tmp_path):
    base = np.zeros((4, 6), np.float32)
    arrays = [base[1:, ::-2], base.T, np.broadcast_to(base[:, :1], (4, 5)), np.zeros(()), np.zeros((0, 3), np.int64)]
    arrays += [np.zeros(2, ml_dtypes.bfloat16), np.zeros(2, np.float16)]
    at = [f"{a.ctypes.data:#x}" for a in arrays]
    said = echoed(tmp_path, [arrays[0], None, *arrays[1:]], {}).split()[1:]
    shown = ["3:6,3:-2,", "6:1,4:6,", "4:6,5:0,", "", None, "2:1,", "2:1,"]
    types = ["2.32.1", "2.32.1", "2.32.1", "2.64.1", "0.64.1", "4.16.1", "2.16.1"]
    assert said.pop(1) == "NULL"
    for text, address, strides, dtype in zip(said, at, shown, types, strict=True):
        assert text.startswith(f"{dtype}@{address}+0[")
        assert strides is None or text.endswith(f"[{strides}]")


def test_what_is_absent_is_null(tmp_path):
    """An optional input at the end, its gradient, and the cotangent of indices."""
    body = """
      int at = call->n_inputs - 1;
      snprintf(message, message_size, "%d inputs, %d outputs, NULL:%s%s%s", call->n_inputs, n_outputs,
               call->inputs[at] == NULL ? " input" : "", gradients[at] == NULL ? " gradient" : "",
               cotangents[n_outputs - 1] == NULL ? " cotangent" : "");
      return 2;"""
    vjp = f"""int32_t opproof_vjp(const opproof_call *call, int32_t n_outputs, const DLTensor *const *cotangents,
                                  DLTensor *const *gradients, char *message, size_t message_size) {{ {body} }}"""
    backend = load(compiled(tmp_path, VERSION + FORWARD % "return 0;" + vjp))

    def said(text):
        return judged(backend, text, "gradient").message

    assert said("linear[x=3x4;weight=5x4;f32]") == "3 inputs, 1 outputs, NULL: input gradient"
    assert said("linear[x=3x4;weight=5x4;bias=5,;f32]") == "3 inputs, 1 outputs, NULL:"
    assert said("sort[x=3x4;f32]") == "1 inputs, 2 outputs, NULL: cotangent"


def test_dtype_without_code(library):
    with pytest.raises(TypeError, match="no DLPack type"):
        library.forward_into("relu", [np.array(["a"])], {}, [np.ones(1)])


# The example library's numbers

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T.copy().T,
    "reversed": lambda a: a[(slice(None, None, -1),) * a.ndim].copy()[(slice(None, None, -1),) * a.ndim],
    "sliced": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
}
CALLS = [
    ("add", [(2, 3, 5), (3, 1)], {}),
    ("add", [(), (4, 3)], {}),
    ("mul", [(1, 3), (4, 3)], {}),
    ("mul", [(4, 1), (2, 1, 5)], {}),
    ("mul", [(3, 0), (3, 1)], {}),
    ("relu", [(5, 7)], {}),
    ("sigmoid", [(5, 7)], {}),
    ("gelu", [(5, 7)], {"approximate": "none"}),
    ("gelu", [(5, 7)], {"approximate": "tanh"}),
    ("softmax", [(2, 3, 5)], {"dim": 1}),
    ("softmax", [(4, 33)], {"dim": -1}),
    ("softmax", [(3, 0)], {"dim": 0}),
    ("rms_norm", [(2, 3, 9)], {"eps": 0.1}),
    ("rms_norm", [(4, 33), (33,)], {"eps": 1e-6}),
    ("matmul", [(7, 33), (33, 5)], {}),
    ("matmul", [(17,), (17,)], {}),
    ("matmul", [(17,), (2, 17, 3)], {}),
    ("matmul", [(2, 1, 4, 7), (3, 7, 2)], {}),
    ("matmul", [(3, 0), (0, 4)], {}),
    ("conv2d", [(2, 3, 7, 9), (4, 3, 3, 3), (4,)], {"stride": 1, "padding": 1, "dilation": 1, "groups": 1}),
    ("conv2d", [(2, 4, 8, 7), (6, 2, 3, 2)], {"stride": (3, 2), "padding": (1, 0), "dilation": (1, 2), "groups": 2}),
    ("sum", [(3, 4, 5)], {"dim": (0, -1), "keepdim": False}),
    ("sum", [(3, 4, 5)], {"dim": 1, "keepdim": True}),
    ("sum", [(3, 4, 5)], {"dim": None, "keepdim": False}),
    ("sum", [(3, 0)], {"dim": -1, "keepdim": False}),
]


def assert_close(got, expected, dtype):
    """Within a few roundings of the largest element: sums of both signs lose digits relative to themselves."""
    size = np.max(np.abs(expected), initial=0)
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=0, atol=12 * ROUNDOFF[dtype] * size)


@pytest.mark.parametrize(("dtype", "layout"), list(itertools.product(DTYPES, LAYOUTS)))
@pytest.mark.parametrize(("name", "shapes", "params"), CALLS, ids=lambda v: str(v).replace(" ", ""))
def test_values_and_gradients(library, name, shapes, params, dtype, layout):
    op, rng = load_op(name), np.random.default_rng(3)
    inputs = [LAYOUTS[layout](rng.normal(size=s).astype(DTYPES[dtype])) for s in shapes]
    inputs += [None] * (len(op.tensors) - len(shapes))
    exact = [None if x is None else x.astype(np.float64) for x in inputs]
    expected = np.asarray(op.forward(*exact, **params))
    y = np.full(expected.shape, np.nan, DTYPES[dtype])
    library.forward_into(name, inputs, params, [y])
    assert_close(y, expected, dtype)

    g = rng.normal(size=expected.shape).astype(DTYPES[dtype])
    wanted = op.vjp(g.astype(np.float64), expected, *exact, **params)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    gradients = [None if x is None else np.full(x.shape, np.nan, DTYPES[dtype]) for x in inputs]
    library.vjp_into(name, inputs, params, [g], gradients)
    for gradient, want in zip(gradients, wanted, strict=True):
        assert (gradient is None) == (want is None)
        if gradient is not None:
            assert_close(gradient, want, dtype)


@pytest.mark.parametrize("skipped", [0, 1, 2])
def test_gradients_that_are_not_asked_for(library, skipped):
    x, w, b, g = (np.ones(s) for s in ((1, 2, 3, 3), (2, 2, 2, 2), (2,), (1, 2, 2, 2)))
    gradients = [None if i == skipped else np.full(t.shape, np.nan) for i, t in enumerate((x, w, b))]
    library.vjp_into("conv2d", [x, w, b], {}, [g], gradients)
    assert all(np.all(np.isfinite(d)) for d in gradients if d is not None)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_sixteen_bit_number_survives(library, dtype):
    x = np.arange(2**16, dtype=np.uint16).view(DTYPES[dtype])
    y = np.zeros_like(x)
    library.forward_into("mul", [x, np.ones((), DTYPES[dtype])], {}, [y])
    same = y.view(np.uint16) == x.view(np.uint16)
    assert np.all(same | (np.isnan(x.astype(np.float32)) & np.isnan(y.astype(np.float32))))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_rounds_to_nearest_even(library, dtype):
    """Products of 16-bit numbers, subnormal and overflowing ones too, against NumPy's rounding."""
    bits = np.random.default_rng(5).integers(0, 2**16, size=(2, 200_000), dtype=np.uint16)
    a, b = bits.view(DTYPES[dtype])
    y = np.zeros_like(a)
    library.forward_into("mul", [a, b], {}, [y])
    with np.errstate(all="ignore"):
        expected = (a.astype(np.float32) * b.astype(np.float32)).astype(DTYPES[dtype])
    number = ~np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(y.view(np.uint16)[number], expected.view(np.uint16)[number])
    assert np.all(np.isnan(y[~number].astype(np.float32)))


def test_inputs_of_candle_2114(library):
    half = np.array([-548.3162, -201.7132, -74.2032, -27.2899, -10.0179, -3.6269, -1.1752, 0.0])
    x = np.concatenate([half, -half[-2::-1]]).astype(np.float32)
    dx = np.full_like(x, np.nan)
    library.vjp_into("sigmoid", [x], {}, [np.full_like(x, 2)], [dx])
    s = 1 / (1 + np.exp(-np.abs(x.astype(np.float64))))
    np.testing.assert_allclose(dx, 2 * s * np.exp(-np.abs(x.astype(np.float64))) * s, rtol=1e-6, atol=1e-37)


def test_nan_and_infinity(library):
    x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 0, 0]], np.float32)
    y = np.zeros_like(x)
    library.forward_into("softmax", [x], {"dim": -1}, [y])
    assert np.all(np.isnan(y[:2]))
    np.testing.assert_array_equal(y[2], [0, 0.5, 0.5])
    library.forward_into("relu", [x], {}, [y])
    np.testing.assert_array_equal(y, [[1, np.nan, 2], [np.inf, 1, 2], [0, 0, 0]])
    total = np.zeros(3, np.float32)
    library.forward_into("sum", [x], {"dim": 1, "keepdim": False}, [total])
    np.testing.assert_array_equal(total, [np.nan, np.inf, -np.inf])
