"""ONNX's operators by ours: reductions, scans, linear algebra, triangles. See model.py."""

from __future__ import annotations

from opproof.backends.onnx.model import Entry, Model, ModelInput
from opproof.backends.onnx.pointwise import boolean
from opproof.backends.protocol import Unsupported

Dims = int | tuple[int, ...] | None


def _make_axes(m: Model, dim: Dims) -> str | None:
    """The axes as the constant that ONNX takes them in; None, all of them, leaves the input out."""
    return None if dim is None else m.constant((dim,) if isinstance(dim, int) else dim)


def _reduce(kind: str) -> Entry:
    def entry(m: Model, x: ModelInput | str, *, dim: Dims = None, keepdim: bool = False) -> str:
        return m.node(kind, x, _make_axes(m, dim), keepdims=int(keepdim))

    return entry


def _of_booleans(kind: str) -> Entry:
    """ONNX reduces booleans by their minimum and maximum."""
    return lambda m, x, *, dim, keepdim: _reduce(kind)(m, boolean(m, x), dim=dim, keepdim=keepdim)


def _norm(m: Model, x: ModelInput, *, p: float, dim: Dims, keepdim: bool) -> str:
    if p not in (1, 2):
        raise Unsupported("ONNX reduces by the 1-norm and the 2-norm")
    return m.node("ReduceL1" if p == 1 else "ReduceL2", x, _make_axes(m, dim), keepdims=int(keepdim))


def _arg(kind: str) -> Entry:
    """Without an axis, of the elements in a row: ONNX takes one axis."""

    def entry(m: Model, x: ModelInput, *, dim: int | None, keepdim: bool) -> str:
        if dim is not None:
            return m.node(kind, x, axis=dim, keepdims=int(keepdim))
        y = m.node(kind, m.node("Reshape", x, m.constant((-1,))), axis=0, keepdims=0)
        return m.node("Reshape", y, m.constant((1,) * x.rank)) if keepdim else y

    return entry


def _linear(m: Model, x: ModelInput, weight: ModelInput, bias: ModelInput | None = None) -> str:
    """Gemm takes matrices; for other ranks exporters write MatMul and Add."""
    if x.rank == 2:
        return m.node("Gemm", x, weight, bias, transB=1) if bias else m.node("Gemm", x, weight, transB=1)
    y = m.node("MatMul", x, m.node("Transpose", weight, perm=[1, 0]))
    return m.node("Add", y, bias) if bias else y


def _outer_product(m: Model, a: ModelInput, b: ModelInput) -> str:
    if a.rank != b.rank:
        raise Unsupported("an ellipsis of ONNX's Einsum stands for the same number of axes in both tensors")
    return m.node("Einsum", a, b, equation="i,j->ij" if a.rank == 1 else "...ki,...kj->...ij")


def _triangle(*, upper: int) -> Entry:
    return lambda m, x, *, diagonal: m.node("Trilu", x, m.constant(diagonal), upper=upper)


TABLE: dict[str, Entry] = {
    # Reductions and scans
    "sum": _reduce("ReduceSum"),
    "mean": _reduce("ReduceMean"),
    "prod": _reduce("ReduceProd"),
    "amax": _reduce("ReduceMax"),
    "amin": _reduce("ReduceMin"),
    "all": _of_booleans("ReduceMin"),
    "any": _of_booleans("ReduceMax"),
    "logsumexp": _reduce("ReduceLogSumExp"),
    "log_sum": _reduce("ReduceLogSum"),
    "sum_square": _reduce("ReduceSumSquare"),
    "hardmax": lambda m, x, *, dim: m.node("Hardmax", x, axis=dim),
    "norm": _norm,
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "cumsum": lambda m, x, *, dim: m.node("CumSum", x, m.constant(dim)),
    "cumprod": lambda m, x, *, dim: m.node("CumProd", x, m.constant(dim)),
    # Linear algebra
    "matmul": lambda m, a, b: m.node("MatMul", a, b),
    "bmm": lambda m, a, b: m.node("MatMul", a, b),
    "dot": lambda m, a, b: m.node("MatMul", a, b),
    "linear": _linear,
    "addmm": lambda m, x, a, b, *, beta, alpha: m.node("Gemm", a, b, x, alpha=float(alpha), beta=float(beta)),
    "einsum": lambda m, a, b, *, equation: m.node("Einsum", a, b, equation=equation),
    "det": lambda m, x: m.node("Det", x),
    "outer_product": _outer_product,
    "tril": _triangle(upper=0),
    "triu": _triangle(upper=1),
    "diag_mask_zero": lambda m, x, *, n_past: m.node("Trilu", x, m.constant(n_past), upper=0),
}
