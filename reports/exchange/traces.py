"""BackendBench's traces: which operators of PyTorch a model called with which arguments, and kernels for these.

The form: https://github.com/meta-pytorch/BackendBench. A line `Operator: aten.add.Tensor`, and below it a line for each
call, `cnt: 4, ((T([8, 512], f16), T([512], f16, stride=(1,))), {'alpha': 2})`. A kernel is a function in a file,
`add__Tensor_kernel_impl`. Lines are parsed, never evaluated.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from opproof.core.errors import UsageError

#: What a kernel is called behind the operator's name.
KERNEL_SUFFIX = "_kernel_impl"
#: Overloads that traces call by another name than the operator has.
RENAMED = {"aten.sum.SymInt": "aten.sum.dim_IntList"}
#: Dtypes by the names of traces.
DTYPES = {
    "bf16": "bfloat16", "f64": "float64", "f32": "float32", "f16": "float16", "c32": "complex32", "c64": "complex64",
    "c128": "complex128", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "b8": "bool", "u8": "uint8",
}  # fmt: skip
#: Words that some lines have in quotation marks.
_QUOTED = rf"""["'](torch\.device\([^)]*\)|{"|".join(DTYPES)})["']"""
#: Names that stand for numbers.
NUMBERS = {"inf": math.inf, "nan": math.nan}
#: Elements of a call, to which its sizes are halved together: a judge's time is not a GPU's.
MAX_ELEMENTS = 1 << 16
#: A size that stays as it is, as a number of heads does, and elements of a call whose sizes cannot be halved.
MIN_HALVED_SIZE = 64
MAX_UNHALVED_ELEMENTS = 1 << 22
#: Whole numbers are below this where no number of the call is smaller.
USUAL_CLASSES = 10


@dataclass(frozen=True)
class TracedTensor:
    """A tensor of a traced call: sizes, steps in elements where it is not packed, and the dtype."""

    shape: tuple[int, ...]
    dtype: str
    stride: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TracedDtype:
    """A dtype that is an argument."""

    name: str


@dataclass(frozen=True)
class TracedCall:
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def numel(self) -> int:
        """The elements of all tensors."""
        return sum(math.prod(v.shape) for v in _list_leaves([*self.args, *self.kwargs.values()]) if _is_tensor(v))


def unpack_trace(trace: Path, kernel: Path) -> tuple[Path, Path]:
    """Write the reference's file and the candidate's, in a new folder each. Raises UsageError for other files."""
    function = _find_kernel(kernel)
    operator, lines = _find_calls(trace, function.removesuffix(KERNEL_SUFFIX))
    _find_operator(operator)
    halved = [_halve(operator, parse_call(line)) for line in lines]
    lines = list(dict.fromkeys(_write(call) for call in sorted(filter(None, halved), key=lambda call: call.numel)))
    if not lines:
        raise UsageError(
            f"{trace} has no call of {operator} of fewer than {MAX_UNHALVED_ELEMENTS:,} elements: add one."
        )
    reference = Path(mkdtemp(prefix="opproof-trace-")) / "reference.py"
    reference.write_text(
        f"from functools import partial\n\nfrom {__name__} import find_declaration, draw_call, make_reference\n\n"
        f"OPERATOR, FORMS = {operator!r}, {_group_by_form(lines)!r}\n"
        "reference, contract = make_reference(OPERATOR), find_declaration(OPERATOR)\n"
        "inputs = [partial(draw_call, OPERATOR, calls) for calls in FORMS]\n",
        encoding="utf-8",
    )
    candidate = Path(mkdtemp(prefix="opproof-kernel-")) / "opproof_candidate.py"
    candidate.write_text(
        f"import sys\nfrom importlib.util import module_from_spec, spec_from_file_location\n\n"
        f"from {__name__} import make_candidate\n\nsys.path.insert(0, {str(kernel.resolve().parent)!r})\n"
        f"spec = spec_from_file_location({function!r}, {str(kernel.resolve())!r})\nmodule = module_from_spec(spec)\n"
        f"sys.modules[spec.name] = module\nspec.loader.exec_module(module)\n"
        f"candidate = make_candidate({operator!r}, module.{function})\n",
        encoding="utf-8",
    )
    return reference, candidate


def _find_kernel(kernel: Path) -> str:
    """The name of the kernel's function."""
    try:
        tree = ast.parse(kernel.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {kernel}: {error.strerror or error}; give a file that is there.") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{kernel} is no Python file ({error}): give the file of a kernel.") from None
    names = [name for node in tree.body for name in _list_names(node) if name.endswith(KERNEL_SUFFIX)]
    if len(names) != 1:
        raise UsageError(
            f"{kernel} has {len(names) or 'no'} functions called OPERATOR{KERNEL_SUFFIX}: expected one, such as "
            f"add__Tensor{KERNEL_SUFFIX}, which says whose calls of the trace it is for."
        )
    return names[0]


def _list_names(node: ast.stmt) -> list[str]:
    """The names that a statement of a file binds."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    return [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign) else []


def _find_calls(trace: Path, wanted: str) -> tuple[str, list[str]]:
    """The operator of a kernel's name, and the lines of its calls; without an overload, the first that there is."""
    try:
        text = trace.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {trace}: {error.strerror or error}; give a file that is there.") from None
    found: dict[str, list[str]] = {}
    operator = ""
    for line in text.splitlines():
        if match := re.match(r"Operator: (\S+)", line):
            operator = RENAMED.get(match[1], match[1])
        elif (match := re.match(r"cnt: \d+, (.*)", line)) and operator:
            found.setdefault(operator, []).append(match[1])
    if not found:
        raise UsageError(f"{trace} is no trace of BackendBench: expected lines such as `Operator: aten.add.Tensor`.")
    names = {name: name.removeprefix("aten.").replace(".", "__") for name in found}
    for name, folder in names.items():
        if wanted == folder or wanted == folder.partition("__")[0]:
            return name, found[name]
    few = ", ".join(sorted(names.values())[:6])
    raise UsageError(f"{trace} has no calls of {wanted}: it has {few}{' and others' * (len(names) > 6)}.")


def parse_call(line: str) -> TracedCall:
    """Parse the arguments of a call. Raises UsageError where they are of another form."""
    text = re.sub(_QUOTED, r"\1", line.strip())
    try:
        args, kwargs = _parse(ast.parse(text, mode="eval").body)
        return TracedCall(tuple(args), dict(kwargs))
    except (SyntaxError, ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{line[:80]} is no call of a trace ({error}): expected ((T([8, 4], f16),), {{}}).") from None


def _parse(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple | ast.List):
        return (tuple if isinstance(node, ast.Tuple) else list)(map(_parse, node.elts))
    if isinstance(node, ast.Dict):
        return {_parse(k): _parse(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
    if isinstance(node, ast.Name):
        return NUMBERS[node.id] if node.id in NUMBERS else TracedDtype(DTYPES[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_parse(node.operand)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "T":
        named = {word.arg: _parse(word.value) for word in node.keywords}
        shape, dtype, *rest = map(_parse, node.args)
        stride = rest[0] if rest else named.get("stride")
        return TracedTensor(tuple(shape), dtype.name, None if stride is None else tuple(stride))
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    if name.startswith(("torch.", "th.")):  # th.float16; of torch.device('cuda') and torch.strided nothing is kept
        name = name.rpartition(".")[2]
        return TracedDtype(name) if name in DTYPES.values() else None
    return ast.literal_eval(node)


def _group_by_form(lines: Sequence[str]) -> list[list[str]]:
    """Calls of one form together: tensors of as many axes, of which the same are 1, and arguments of the same kinds."""

    def describe(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(map(describe, value))
        if not isinstance(value, TracedTensor):
            named = isinstance(value, bool | str | TracedDtype) or value is None
            return str(value) if named else type(value).__name__
        stride = value.stride or ()
        order = sorted(range(len(stride)), key=lambda a: -stride[a])
        return value.dtype, tuple(n == 1 for n in value.shape), (*order, 0 in stride)

    found: dict[Any, list[str]] = {}
    for line in lines:
        call = parse_call(line)
        found.setdefault(repr((describe(call.args), sorted(call.kwargs))), []).append(line)
    return list(found.values())


def _halve(operator: str, call: TracedCall) -> TracedCall | None:
    """The call with its largest sizes halved together until it is small; as it is, where the operator takes no other.

    None where that is too large.
    """
    sizes = {n: n for v in _list_leaves([*call.args, *call.kwargs.values()]) if _is_tensor(v) for n in v.shape}
    small = call
    while small.numel > MAX_ELEMENTS and max(sizes.values()) > MIN_HALVED_SIZE:
        largest = max(sizes.values())
        sizes = {n: m // 2 if m == largest else m for n, m in sizes.items()}
        small = TracedCall(*_resize((call.args, dict(call.kwargs)), sizes))
    if small is call or _takes(operator, small):
        return small
    return call if call.numel <= MAX_UNHALVED_ELEMENTS else None


def _resize(value: Any, sizes: Mapping[int, int]) -> Any:
    """Arguments with other sizes, those that numbers beside tensors name too."""
    if isinstance(value, list | tuple):
        return type(value)(_resize(v, sizes) for v in value)
    if isinstance(value, dict):
        return {name: _resize(v, sizes) for name, v in value.items()}
    if not isinstance(value, TracedTensor):
        return sizes.get(value, value) if type(value) is int and value > MIN_HALVED_SIZE else value
    shape = tuple(sizes[n] for n in value.shape)
    return TracedTensor(shape, value.dtype, value.stride and _keep_order(value.stride, shape))


def _keep_order(stride: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Steps in the order of these, of axes of these lengths; 0 where it is."""
    found, step = [0] * len(stride), 1
    for axis in sorted(range(len(stride)), key=lambda a: (stride[a], -a)):
        if stride[axis]:
            found[axis], step = step, step * shape[axis]
    return tuple(found)


def _takes(operator: str, call: TracedCall) -> bool:
    """Whether an operator takes a call, by shapes alone."""
    import torch

    with torch.device("meta"):
        given = _name_arguments(operator, call, lambda v: _draw(v, USUAL_CLASSES, None))
    try:
        make_reference(operator)(**given)
    except Exception:
        return False
    return True


def _write(call: TracedCall) -> str:
    """A call as a line of a trace."""
    some = ", ".join(map(_write_value, call.args))
    named = ", ".join(f"{name!r}: {_write_value(v)}" for name, v in call.kwargs.items())
    return f"(({some}{',' if len(call.args) == 1 else ''}), {{{named}}})"


def _write_value(value: Any) -> str:
    if isinstance(value, TracedTensor | TracedDtype):
        dtype = next(k for k, v in DTYPES.items() if v == getattr(value, "dtype", getattr(value, "name", "")))
        if isinstance(value, TracedDtype):
            return dtype
        stride = "" if value.stride is None else f", stride={value.stride}"
        return f"T({list(value.shape)}, {dtype}{stride})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    return repr(value)


def _list_leaves(value: Any) -> list[Any]:
    """What nested lists hold."""
    if isinstance(value, list | tuple):
        return [leaf for v in value for leaf in _list_leaves(v)]
    return [value]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TracedTensor)


def draw_call(operator: str, lines: Sequence[str], seed: int) -> dict[str, Any]:
    """Draw the tensors of a call of an operator; all its arguments by name, those that the trace leaves out too.

    The first two seeds have the smallest call, each after them has the next.
    """
    import torch

    call = parse_call(lines[max(seed - 1, 0) % len(lines)])
    leaves = _list_leaves([*call.args, *call.kwargs.values()])
    sizes = [n for v in leaves for n in (v.shape if _is_tensor(v) else [v] if type(v) is int else [])]
    classes = min((n for n in sizes if n > 1), default=USUAL_CLASSES)  # an index is below all that it may belong to
    generator = torch.Generator().manual_seed(seed)
    return _name_arguments(operator, call, lambda value: _draw(value, classes, generator))


def _name_arguments(operator: str, call: TracedCall, draw: Callable[[Any], Any]) -> dict[str, Any]:
    """All arguments of an operator by name, but where things are."""
    given, named = map(draw, call.args), {name: draw(v) for name, v in call.kwargs.items()}
    own = _list_arguments(_find_operator(operator))
    places = dict(zip((a.name for a in own if not a.kwarg_only), given, strict=False)) | named
    return {_name_parameter(a.name): places.get(a.name, a.default_value) for a in own}


def _draw(value: Any, classes: int, generator: Any) -> Any:
    import torch

    if isinstance(value, list | tuple):
        return [_draw(v, classes, generator) for v in value]
    if isinstance(value, TracedDtype):
        return getattr(torch, value.name)
    if not isinstance(value, TracedTensor):
        return value
    dtype = getattr(torch, value.dtype)
    shape = value.shape
    if value.stride is not None:
        shape = (1 + sum((n - 1) * step for n, step in zip(value.shape, value.stride, strict=True)),)
    if dtype.is_floating_point or dtype.is_complex:
        drawn = torch.randn(shape, generator=generator, dtype=torch.complex64 if dtype.is_complex else None).to(dtype)
    else:
        drawn = torch.randint(2 if dtype is torch.bool else classes, shape, generator=generator).to(dtype)
    return drawn if value.stride is None else drawn.as_strided(value.shape, value.stride)


def _find_operator(name: str) -> Any:
    """An operator of PyTorch by its name. Raises UsageError where this PyTorch has none."""
    import torch

    namespace, base, overload = (*name.split("."), "default")[:3]
    try:
        return getattr(getattr(getattr(torch.ops, namespace), base), overload)
    except AttributeError:
        raise UsageError(f"PyTorch {torch.__version__} has no operator {name}: give calls of another.") from None


def _name_parameter(name: str) -> str:
    """What an argument is called here: nothing in Python is given `self` by name."""
    return {"self": "input"}.get(name, name)


def _list_arguments(function: Any) -> list[Any]:
    """The arguments of an operator as its schema has them, but where results are."""
    some = function._schema.arguments  # noqa: SLF001 - PyTorch has no other way to a schema
    return [a for a in some if a.name not in ("device", "layout", "pin_memory")]


def find_declaration(operator: str) -> dict[str, Any]:
    """Declare the arguments that an operator writes its results to."""
    writes = [a.name for a in _list_arguments(_find_operator(operator)) if a.alias_info and a.alias_info.is_write]
    return {"inplace": tuple(map(_name_parameter, writes))} if writes else {}


def make_reference(operator: str) -> Callable[..., Any]:
    """The operator as a function of all its arguments by name."""
    function = _find_operator(operator)
    names = [_name_parameter(a.name) for a in _list_arguments(function)]

    def reference(**given: Any) -> Any:
        return _call(function, function, given)

    reference.__name__ = reference.__qualname__ = operator.removeprefix("aten.").removesuffix(".default")
    kind = inspect.Parameter.KEYWORD_ONLY
    reference.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return reference


def make_candidate(operator: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel as a function of all arguments of the operator by name, called as PyTorch's dispatcher calls one."""
    function = _find_operator(operator)
    return lambda **given: _call(function, kernel, given)


def _call(function: Any, subject: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call by position, and by name where a name is wanted; without what is as it is by default, at the end."""
    own = [a for a in _list_arguments(function) if _name_parameter(a.name) in given]
    usual = {
        a.name for a in own if a.has_default_value() and _is_usual(given[_name_parameter(a.name)], a.default_value)
    }
    args = [a for a in own if not a.kwarg_only]
    while args and args[-1].name in usual:
        args.pop()
    named = {a.name: given[_name_parameter(a.name)] for a in own if a.kwarg_only and a.name not in usual}
    return subject(*(given[_name_parameter(a.name)] for a in args), **named)


def _is_usual(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, int | float | str) and value == default)
