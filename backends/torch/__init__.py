"""torch: PyTorch's operators through the references' PyTorch twins, gradients by autograd.

`-b torch` runs on the CPU, `-b torch:cuda`, `torch:mps` and `torch:xpu` on a GPU. `-b torch:inductor` has PyTorch's
compiler compile each call for the CPU, with its gradient, which takes seconds. Results in place are those of PyTorch's
`op_`, with autograd through them; strided ones those of its `out=`, which has no gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from opproof.backends import precision
from opproof.backends.capabilities import select_possible
from opproof.backends.protocol import Backend, Unsupported
from opproof.backends.table import check_variant, find_device, import_library, like_of, write_results
from opproof.backends.torch import integers, mixed, quantised
from opproof.backends.torch.destinations import FROM_RESULT, OUT, Into, find_over_first
from opproof.backends.worker.protocol import name_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED
from opproof.core.graph import is_graph, parse_graph
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Destination
from opproof.reference_ops import load
from opproof.reference_ops._torch import autograd

#: Functions whose twin goes round a defect of PyTorch's in float64, so that it proves the reference: here PyTorch's own
#: function is called, which is what is tested.
NATIVE: dict[str, Callable[..., Any]] = {
    "bce_with_logits": lambda torch, x, target, weight=None, pos_weight=None, *, reduction: (
        torch.nn.functional.binary_cross_entropy_with_logits(
            x, target, weight, pos_weight=pos_weight, reduction=reduction
        )
    ),
    "celu": lambda torch, x, *, alpha: torch.nn.functional.celu(x, alpha),
    "digamma": lambda torch, x: torch.digamma(x),
    "hypot": lambda torch, a, b: torch.hypot(a, b),
    "hardsigmoid": lambda torch, x: torch.nn.functional.hardsigmoid(x),
    **quantised.NATIVE,
    **integers.NATIVE,
}

#: ATen has three levels of its own; what oneDNN has between them it is told alone. `sse4` is ATen's word default.
CAPABILITIES = {
    "sse4": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "avx512": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "avx512_bf16": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
}

GPUS = ("cuda", "mps", "xpu")  # names of devices and of the modules that speak of them

#: Dtypes that NumPy has not, by the name that ml_dtypes and PyTorch both give them: integers of their size.
FOREIGN = {"bfloat16": "int16", "float8_e4m3fn": "int8", "float8_e5m2": "int8"}


#: How PyTorch's functions refuse what other libraries give: a statistic of one number, padding of most of a window, a
#: window that is larger than the volume without its padding, cells that come around twice, a clamp without limits, a
#: norm over channels of vectors, the grid of an empty batch.
REFUSALS = (
    "Expected more than 1 value per channel",
    "Expected more than 1 spatial element",
    "pad should be at most half of effective kernel size",
    "smaller than kernel size",
    "Padding value causes wrapping around more than once",
    "Expected 3D or higher dimensionality",
    "pad should be smaller than or equal to half of kernel size",
    "Expected non-zero, positive output size",
    "torch.clamp: At least one of 'min' or 'max' must not be None",
)


def with_refusals(tensors: Sequence[Any]) -> AbstractContextManager[None]:
    """Decline what PyTorch refuses by a rule of its own, of several dtypes by those. Raises Unsupported."""
    if mixed.is_mixed(tensors):
        return mixed.with_declines()
    return mixed.decline_where(REFUSALS, "PyTorch refuses it")


class Torch:
    """PyTorch on one device."""

    name = "torch"
    destinations = tuple(Destination)
    dtypes = DECLARED
    mixed = True

    def __init__(self, torch: Any, device: str, variant: str = "") -> None:
        self.compute, self.rounding = precision.load_built_in("torch", variant)
        self._torch, self.device, self.version = torch, device, str(torch.__version__)
        self.set_threads = torch.set_num_threads
        self.capabilities = select_possible(CAPABILITIES) if device == "cpu" else {}
        self._foreign = {getattr(torch, name): name for name in FOREIGN}

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        out: Sequence[Array | None] | None = None,
    ) -> list[Array]:  # fmt: skip
        tensors = self._tensors(inputs)
        if mixed.is_mixed(tensors) and out is None:
            return self._mixed(op, tensors, params)
        with self._torch.no_grad(), with_refusals(tensors):
            if out is not None:
                return [self._written(op, tensors, params, place_of(out[0], inputs), out)]
            return [self._array(y) for y in tuple_of(self._twin(op)(self._torch, *tensors, **params))]

    def _mixed(self, op: str, tensors: Sequence[Any], params: Mapping[str, Any]) -> list[Array]:
        """Outputs of a call with floats of several dtypes. Raises Unsupported where PyTorch does not take them."""
        with mixed.with_declines(), self._torch.no_grad():
            return [self._array(y) for y in tuple_of(self._of_one_dtype(op, tensors)(self._torch, *tensors, **params))]

    def _of_one_dtype(self, op: str, tensors: Sequence[Any]) -> Callable[..., Any]:
        like = tensors[like_of(op)]
        return mixed.check_unpromoted(self._twin(op), like.dtype) if mixed.is_mixed(tensors) else self._twin(op)

    def _written(
        self, op: str, tensors: Sequence[Any], params: Mapping[str, Any], where: int | None,
        out: Sequence[Array | None],
    ) -> Array:  # fmt: skip
        """The result, written over tensor `where` by `op_`, or else to out[0] by `out=`."""
        if where is not None:
            result = find_over_first(op, where)(self._torch, *tensors, **params)
        elif op in OUT:
            (result,) = self._tensors(out)
            self._twin(op)(Into(self._torch, op, result), *tensors, **params)
        else:
            raise Unsupported(f"PyTorch's {op} takes no `out`")
        array = self._array(result)
        if self.device != "cpu":  # where tensors are copies
            out[0][...] = array  # type: ignore[index]
        return array

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool], out: Sequence[Array | None] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        tensors = self._tensors(inputs)
        function = (
            self._of_one_dtype(op, tensors) if out is None else self._over(op, place_of(cotangents[0], out), params)
        )
        twin = functools.partial(function, self._torch, **params)
        with with_refusals(tensors):
            found = autograd(self._torch, twin, tensors, needs, self._tensors(cotangents))
        return write_results([None if d is None else self._array(d) for d in found], out)

    @staticmethod
    def _over(op: str, where: int | None, params: Mapping[str, Any]) -> Callable[..., Any]:
        """`op_` as a function that autograd can take: it writes over a copy of the leaf."""
        if where is None:
            raise Unsupported("autograd gives gradients in memory of its own")
        function = find_over_first(op, where)
        if op in FROM_RESULT and any(params[name] < 0 for name in FROM_RESULT[op]):
            raise Unsupported(f"PyTorch's {op}_ has no gradient where {' or '.join(FROM_RESULT[op])} is negative")
        return lambda torch, x, *others, **params: function(torch, x.clone(), *others, **params)

    def _twin(self, op: str) -> Callable[..., Any]:
        if is_graph(op):
            return parse_graph(op).compose(self._twin)
        twin = NATIVE.get(op, load(op).torch)
        if twin is None:
            raise Unsupported(f"PyTorch has no {op}")
        return twin

    def _tensors(self, arrays: Sequence[Array | None]) -> list[Any]:
        """Tensors over the arrays' own memory, strides kept; one array given twice is one tensor."""
        made: dict[int, Any] = {}
        for a in arrays:
            if a is not None and id(a) not in made:
                made[id(a)] = self._tensor(a)
        return [None if a is None else made[id(a)] for a in arrays]

    def _tensor(self, array: Array) -> Any:
        name = name_of(array.dtype)
        if name in FOREIGN:
            tensor = self._torch.from_numpy(array.view(FOREIGN[name])).view(getattr(self._torch, name))
        else:
            tensor = self._torch.from_numpy(array)
        return tensor if self.device == "cpu" else tensor.to(self.device)

    def _array(self, tensor: Any) -> Array:
        tensor = tensor.detach().cpu().contiguous()
        name = self._foreign.get(tensor.dtype)
        if name is not None:
            import ml_dtypes

            bits = tensor.view(getattr(self._torch, FOREIGN[name])).numpy()
            return bits.view(getattr(ml_dtypes, name))  # type: ignore[no-any-return]
        return tensor.numpy()  # type: ignore[no-any-return]


def place_of(array: Array | None, arrays: Sequence[Array | None]) -> int | None:
    """Where `array` itself stands in `arrays`; None where it does not."""
    return next((i for i, a in enumerate(arrays) if a is not None and a is array), None)


def list_devices(_: str = "") -> dict[str, str]:
    """What to write after -b for each device that PyTorch finds, and what it is."""
    torch = import_library("torch", "torch", "PyTorch")
    found = {"torch:cpu": str(torch.backends.cpu.get_cpu_capability())}
    for name in GPUS:
        if _is_available(torch, name):
            module = getattr(torch, name)
            found[f"torch:{name}"] = module.get_device_name() if hasattr(module, "get_device_name") else "a GPU"
    return found


def _is_available(torch: Any, name: str) -> bool:
    """Whether PyTorch finds such a GPU; an older one does not know every kind."""
    module = getattr(torch, name, None)
    return module is not None and bool(module.is_available())


def create(variant: str = "") -> Backend:
    """PyTorch on the CPU ("", "cpu"), compiled for it ("inductor"), or on a GPU.

    Raises BackendError where it is not installed, has no such device, or no compiler of C++.
    """
    check_variant("torch", variant, "cpu", "inductor", *GPUS)
    torch = import_library("torch", "torch", "PyTorch")
    torch.set_num_threads(1)
    if variant == "inductor":
        from opproof.backends.torch.compiled import Inductor

        return Inductor(torch)
    if variant in GPUS:
        find_device("torch", variant, [spec.partition(":")[2] for spec in list_devices()])
    _leave_the_compiler_out(torch)
    return Torch(torch, variant or "cpu", variant)


def _leave_the_compiler_out(torch: Any) -> None:
    """Mark what optimizers keep from PyTorch's compiler as kept from it: their first call imports it to do that.

    A host compiles nothing, and the import takes it most of a second.
    """
    for member in vars(torch.optim.Optimizer).values():
        plain = getattr(member, "__wrapped__", None)
        if plain is not None:
            vars(plain).setdefault("__dynamo_disable", plain)
