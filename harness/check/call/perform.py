"""One call of a candidate, or of the reference in the candidate's dtype: what it was given, and what came of it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.text import text_of
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import (
    HELD,
    MAX_THREADS,
    SEVERAL_THREADS,
    BeforeBackward,
    CallRequest,
    Reply,
    ReplyTensor,
    Setting,
)
from opproof.harness.check.call.guard_regions import Fence, Fences, fenced
from opproof.harness.check.call.other_calls import (
    EARLIER,
    Made,
    ReusedBuffers,
    find_outlier_call,
    of_others,
    replaced_contents,
    with_other_numbers,
)
from opproof.harness.check.call.side_effects import SideEffect, watch
from opproof.harness.check.call.stand_ins import StandIns, has_own_backward
from opproof.harness.check.tensors import CallTensor, apply_layout, as_array, flatten_outputs, to_torch
from opproof.harness.clock import Allowed

#: So many forwards more may come before a backward, as of the layers of a network, while they take so long.
_MAX_EXTRA_FORWARDS = 300
_EXTRA_FORWARDS_SECONDS = 0.2
#: Calls that come while a result is held, in so many seconds: more than rings of buffers have slots.
_HELD_SECONDS = 1.0
#: What PyTorch says where an array is made of a tensor that requires grad.
_OF_NUMPY = "Can't call numpy() on Tensor that requires grad"

#: A candidate: PyTorch tensors in, tensors in any nesting out.
Call = Callable[[Sequence[Any]], Any]
#: A candidate's gradient: cotangents and tensors in, a gradient or None a tensor out.
Pull = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]


def perform(call: Call, request: CallRequest, pull: Pull | None = None, kept: ReusedBuffers | None = None) -> Reply:
    """Call it. What it raises is the reply's `error`, SystemExit and a skip too; KeyboardInterrupt goes through.

    With `kept` inputs come in the memory of the call before, as a caller's do, so that who keeps results by address is
    found out, and who uses the memory of an answer again.
    """
    if request.setting is not Setting.USUAL or request.fence is not Fence.NONE or request.one:
        kept = None  # whose tensors are those of usual calls
    meet = request.setting in (Setting.BESIDE, Setting.MANY) and not request.after

    watched = Ended(call)
    given = StandIns(watched, request)
    pull = given.pull(pull)

    def asked(one: CallRequest) -> Reply:
        if one.repeats:
            return _repeat_calls(given, one, pull)
        reply = _call_many_times(given, one, pull) if meet else _perform_call(given, one, pull, kept)
        harm = watched.left or reply.harm or given.find_harm()
        return reply if reply.error else replace(reply, harm=harm)

    with threads_for(request.tensors):
        reply = call_in_setting(request.setting, lambda: asked(request))
    if not (_OF_NUMPY in reply.error and request.cotangents and pull is None):
        return reply
    with threads_for(request.tensors):
        plain = asked(request.plain)
    return replace(plain, declined="it is a function of NumPy, through which autograd does not see: give its vjp")


def _perform_call(call: StandIns, request: CallRequest, pull: Pull | None, kept: ReusedBuffers | None) -> Reply:
    import torch

    fences = Fences(request.fence)
    wanted = bool(request.cotangents) and pull is None
    tensors = _make_tensors(torch, request, kept, fences, wanted=wanted)
    with torch.random.fork_rng(devices=[]):
        seeded = torch.default_generator if request.device == "cpu" else torch  # which formats tracebacks
        seeded.manual_seed(request.seed)
        graded = kept is not None and kept.calls % 2 == 1
        before = watch(torch, tensors, [t.name for t in request.tensors], graded=graded)
        start = time.perf_counter()
        try:
            if request.setting in EARLIER:
                with torch.set_grad_enabled(wanted):
                    follows = EARLIER[request.setting](torch, call, tensors)
                if not follows:
                    return Reply(declined="it holds what it was given, whose memory is nobody else's")
                if request.setting is not Setting.AGAIN:
                    seeded.manual_seed(request.seed)
            raw, harm = _call_candidate(torch, call, tensors, fences, setting=request.setting, wanted=wanted)
            if request.setting is Setting.HELD:
                _call_with_others(call, tensors, HELD, _HELD_SECONDS)
            with (
                replaced_contents(torch, tensors, lambda t: 1 - t) if request.setting is Setting.LATE else nullcontext()
            ):
                results = (*raw, *(tensors[i] for i in request.after))
                outputs = tuple(_make_reply_tensor(y, call.in_place_of(tensors), request.after) for y in results)
            if request.before is BeforeBackward.CALL:
                with torch.set_grad_enabled(wanted):
                    _call_with_others(call, tensors, _MAX_EXTRA_FORWARDS, _EXTRA_FORWARDS_SECONDS)
            is_written = request.setting is Setting.WRITTEN
            with replaced_contents(torch, tensors, with_other_numbers) if is_written else nullcontext():
                reply, found = _pull_gradients(torch, raw, tensors, request, pull, fences)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of whatever kind, it is the candidate's
            seconds, left = time.perf_counter() - start, tuple[Array, ...]()
            with suppress(Exception):  # of a device that is lost nothing can be read
                left = tuple(as_array(t)[0] for t in tensors)
            return Reply(error=_take_first_line(error), seconds=seconds, left=left)
        seconds = time.perf_counter() - start
        harm = harm or before.find_harm(torch, tensors, request.after)
    if trespass := fences.describe_trespass():
        harm = SideEffect(Verdict.OUT_OF_BOUNDS, trespass)
    left = tuple(as_array(t)[0] for t in tensors)
    lost = -1 if kept is None else kept.find_overwritten([*raw, *found], tensors)
    changed = changed_of(request, left)
    return replace(reply, outputs=outputs, changed=changed, left=left, overwritten=lost, seconds=seconds, harm=harm)


def _call_with_others(call: Call, tensors: Sequence[Any], most: int, seconds: float) -> None:
    """Call it with other numbers in other tensors, once and then as often as there is time for."""
    others, allowed = [with_other_numbers(t) for t in tensors], Allowed(seconds)
    for i in range(most):
        if i and allowed.over:
            break
        call(others)


def _call_many_times(call: Call, request: CallRequest, pull: Pull | None) -> Reply:
    """What comes of many calls, as fast as they can be made, in a setting in which threads may meet."""
    import torch

    wanted = bool(request.cotangents) and pull is None
    tensors = _make_tensors(torch, request, None, Fences(request.fence), wanted=wanted)

    def once() -> Made:
        torch.default_generator.manual_seed(request.seed)
        with autograd(torch, request.setting, wanted=wanted):
            raw = flatten_outputs(call(tensors))
        if not request.cotangents:
            return raw, []
        return raw, _compute_gradients(torch, raw, tensors, request, _make_cotangents(torch, raw, request), pull)[0]

    meanwhile = of_others(call, request if wanted else request.plain) if request.setting is Setting.BESIDE else None
    try:
        with torch.random.fork_rng(devices=[]):
            raw, found = find_outlier_call(once, meanwhile)
        outputs = tuple(_make_reply_tensor(y, tensors) for y in raw)
        gradients = tuple(None if d is None else _make_reply_tensor(d, tensors) for d in found)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Reply(error=_take_first_line(error))
    return Reply(outputs=outputs, gradients=gradients, left=tuple(as_array(t)[0] for t in tensors))


def _repeat_calls(call: Call, request: CallRequest, pull: Pull | None) -> Reply:
    """Make the calls of a block that is timed, each with its backward where gradients are asked for."""
    import torch

    wanted = bool(request.cotangents) and pull is None
    tensors, gs = _make_tensors(torch, request, None, Fences(Fence.NONE), wanted=wanted), list[Any]()
    try:
        with torch.random.fork_rng(devices=[]), autograd(torch, request.setting, wanted=wanted):
            for _ in range(request.repeats):
                raw = flatten_outputs(call(tensors))
                if request.cotangents:
                    gs = gs or _make_cotangents(torch, raw, request)
                    _compute_gradients(torch, raw, tensors, request, gs, pull)
            if request.device != "cpu":
                torch.accelerator.synchronize()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Reply(error=_take_first_line(error))
    return Reply()


def _make_tensors(
    torch: Any, request: CallRequest, kept: ReusedBuffers | None, fences: Fences, *, wanted: bool
) -> list[Any]:
    """The tensors of a request; those of one are one object. `wanted`: by autograd are gradients asked for."""
    tensors = [to_torch(torch, t, request.device) for t in request.tensors]
    if kept is not None:
        tensors = [kept.refill_tensor(i, t, unseen=request.unseen) for i, t in enumerate(tensors)]
    tensors = [fences.around(torch, t, asked.name) for t, asked in zip(tensors, request.tensors, strict=True)]
    tensors = [tensors[min(request.one)] if i in request.one else t for i, t in enumerate(tensors)]
    return [t.requires_grad_() if wanted and n else t for t, n in zip_longest(tensors, request.needs)]


def _call_candidate(
    torch: Any, call: Call, tensors: Sequence[Any], fences: Fences, *, setting: Setting, wanted: bool
) -> tuple[list[Any], SideEffect | None]:
    """What it returns, and whether it left autograd on or off."""
    with autograd(torch, setting, wanted=wanted):
        before = torch.is_grad_enabled()
        with fenced(torch, fences):
            raw = flatten_outputs(call(tensors))
        return raw, describe_grad_mode(torch, before=before)


def _pull_gradients(
    torch: Any, raw: Sequence[Any], tensors: Sequence[Any], request: CallRequest, pull: Pull | None, fences: Fences
) -> tuple[Reply, Sequence[Any]]:
    """The gradients, with what asking for them came to, and as tensors; nothing where none are asked for."""
    if not request.cotangents:
        return Reply(), ()
    own_backward = pull is not None or has_own_backward(raw)
    gs, before, declined, failed = list[Any](), list[Any](), "", ""
    try:
        gs = [g if g is None else fences.around(torch, g, "a cotangent") for g in _make_cotangents(torch, raw, request)]
        before = [None if g is None else g.clone() for g in gs]
        with fenced(torch, fences):
            found, declined = _compute_gradients(torch, raw, tensors, request, gs, pull)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its values are judged all the same
        found, failed = [None] * len(tensors), _take_first_line(error)
    gradients = tuple(None if d is None else _make_reply_tensor(d, tensors) for d in found)
    pairs = enumerate(zip(gs, before, strict=True))
    written = next((i for i, (g, b) in pairs if g is not None and not torch.equal(g, b)), -1)
    of_backward = Reply(
        gradients=gradients, declined=declined, failed=failed, written=written, own_backward=own_backward
    )
    return of_backward, found


def changed_of(request: CallRequest, left: Sequence[Array]) -> tuple[int, ...]:
    """Positions of tensors that the request does not hold so. Raises ValueError where they are not as many."""
    pairs = enumerate(zip(request.tensors, left, strict=True))
    return tuple(i for i, (t, x) in pairs if not np.array_equal(t.values, x, equal_nan=x.dtype.kind == "f"))


def _take_first_line(error: BaseException) -> str:
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()] or [""]
    text = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]  # "backend='inductor' raised:" says nothing
    return f"{type(error).__name__}: {text}"


def _compute_gradients(
    torch: Any, raw: Sequence[Any], tensors: Sequence[Any], request: CallRequest, gs: Sequence[Any], pull: Pull | None
) -> tuple[list[Any], str]:
    """A gradient a tensor, None where none is asked for or none came."""
    count = len(request.cotangents) - len(request.after)
    if len(raw) != count:
        return [None] * len(tensors), f"{len(raw)} outputs came for {count} cotangents"
    if pull is not None:
        found = [*pull(gs, tensors)]
        return found + [None] * (len(tensors) - len(found)), ""
    pairs = [(y, g) for y, g in zip(raw, gs, strict=True) if g is not None and y.requires_grad]
    if not pairs:
        return [None] * len(tensors), "no output requires grad: autograd cannot see through the candidate"
    ys, given = zip(*pairs, strict=True)
    wanted = [t for t, n in zip(tensors, request.needs, strict=True) if n]
    if request.before is BeforeBackward.BACKWARD:
        torch.autograd.grad(ys, wanted, [g.clone() for g in given], allow_unused=True, retain_graph=True)
    if request.setting is Setting.NET:
        results = iter(torch.autograd.grad(_make_loss(torch, ys, given), wanted, allow_unused=True))
    else:
        results = iter(torch.autograd.grad(ys, wanted, given, allow_unused=True))
    return [next(results) if n else None for n in request.needs], ""


def _make_loss(torch: Any, ys: Sequence[Any], gs: Sequence[Any]) -> Any:
    """A loss of which these are the cotangents, a few steps on, of a weight that is trained as well."""
    weights = [torch.ones_like(g, memory_format=torch.contiguous_format).requires_grad_() for g in gs]
    return sum((y.reshape(g.shape) * w * g).sum() for y, w, g in zip(ys, weights, gs, strict=True))


def _make_cotangents(torch: Any, raw: Sequence[Any], request: CallRequest) -> list[Any]:
    pairs = zip(raw, request.cotangents[: len(request.cotangents) - len(request.after)], strict=False)
    return [None if g is None else _make_cotangent(torch, g, y, request.layout) for y, g in pairs]


def _make_cotangent(torch: Any, g: Array, y: Any, layout: str) -> Any:
    made = torch.from_numpy(g)
    made = torch.view_as_complex(made) if y.is_complex() else made
    return apply_layout(torch, made.to(y.dtype).to(y.device), layout)


def _make_reply_tensor(y: Any, tensors: Sequence[Any], after: Sequence[int] = ()) -> ReplyTensor:
    """What came; a tensor that the operation updates is itself, and no part of itself.

    Raises TypeError for one whose operations are its own: what it holds is for it to say, and when.
    """
    if has_own_operations(y):
        raise TypeError(f"a {type(y).__name__} came: expected a plain tensor; return y.as_subclass(torch.Tensor)")
    values, dtype = as_array(y)
    place = y.untyped_storage().data_ptr() if y.numel() and y.layout == tensors[0].layout else 0
    others = [(i, t) for i, t in enumerate(tensors) if t.numel() and not (t is y and i in after)]
    owners = [i for i, t in others if t.untyped_storage().data_ptr() == place]
    overlaps = y.numel() > 0 and any(n > 1 and s == 0 for n, s in zip(y.shape, y.stride(), strict=True))
    return ReplyTensor(values, dtype, bool(y.requires_grad), owners[0] if owners else -1, overlaps)


#: Of so many elements a call has one thread: more would wait for one another, and for all who use the other cores.
_MAX_SINGLE_THREAD_ELEMENTS = 1 << 17


@contextmanager
def threads_for(tensors: Sequence[CallTensor]) -> Iterator[None]:
    """A block in which PyTorch has one thread for tensors that are small, and its own number for others."""
    import torch

    before = torch.get_num_threads()
    if before == 1 or sum(t.values.size for t in tensors) > _MAX_SINGLE_THREAD_ELEMENTS:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def autograd(torch: Any, setting: Setting, *, wanted: bool) -> Iterator[None]:
    """A block in which the candidate alone is called: with gradients where they are wanted, weights made before it."""
    with ExitStack() as blocks:
        if setting is Setting.INFERENCE:
            blocks.enter_context(torch.inference_mode())
        else:
            blocks.enter_context(torch.set_grad_enabled(wanted or setting is Setting.CONSTANT))
        if setting is Setting.AUTOCAST:
            blocks.enter_context(torch.autocast("cpu", torch.bfloat16))
        yield


def call_in_setting(setting: Setting, call: Callable[[], Reply]) -> Reply:
    """What a call gives there."""
    import torch

    if setting is Setting.THREAD:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    if setting in _THREADS:
        return _with_threads(torch, _THREADS[setting], call)
    return call()


_THREADS = {Setting.ONE: 1, Setting.TWO: 2, Setting.MANY: SEVERAL_THREADS, Setting.MOST: MAX_THREADS}


def _with_threads(torch: Any, count: int, call: Callable[[], Reply]) -> Reply:
    """What a call gives with so many threads of PyTorch, and of every OpenMP that a kernel has brought with it."""
    before, runtimes = torch.get_num_threads(), [(r, r.omp_get_max_threads()) for r in _find_openmp()]
    torch.set_num_threads(count)
    for runtime, _ in runtimes:
        runtime.omp_set_num_threads(count)
    try:
        return call()
    finally:
        for runtime, own in runtimes:
            runtime.omp_set_num_threads(own)
        torch.set_num_threads(before)


def _find_openmp() -> list[Any]:
    """The OpenMP runtimes that this process has loaded; none where it cannot say."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []
    paths = dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines)
    return [ctypes.CDLL(p) for p in paths if Path(p).name.startswith(("libgomp", "libomp", "libiomp"))]


def has_own_operations(y: Any) -> bool:
    """Whether a tensor is of a class that answers in PyTorch's place where it is read."""
    import torch

    kinds = type(y).__mro__
    own = kinds[: kinds.index(torch.Tensor)] if torch.Tensor in kinds else ()
    return any(
        {"__torch_function__", "__torch_dispatch__"} & vars(kind).keys()
        for kind in own
        if kind is not torch.nn.Parameter
    )


def describe_grad_mode(torch: Any, *, before: bool) -> SideEffect | None:
    """What is said of a call that left autograd on where it was off, or off where it was on."""
    now = torch.is_grad_enabled()
    text = f"torch.is_grad_enabled() was {before} before the call and is {now} after it"
    return None if now == before else SideEffect(Verdict.INPUT_CHANGED, text)


@dataclass
class Ended:
    """A candidate after which no mode stays on; `left`: what is said of the first that did."""

    call: Callable[[Sequence[Any]], Any]
    left: SideEffect | None = None

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """What it returns, which nothing has touched when modes are taken off. Raises what it raises."""
        import torch

        before = _count_modes(torch)
        try:
            return self.call(tensors)
        finally:
            self._end(torch, before)

    def _end(self, torch: Any, before: tuple[int, int]) -> None:
        now = _count_modes(torch)
        left = [torch._C._pop_torch_dispatch_stack(None) for _ in range(now[0] - before[0])]  # noqa: SLF001
        left += [torch._C._pop_torch_function_stack() for _ in range(now[1] - before[1])]  # noqa: SLF001
        if left and self.left is None:
            text = f"{type(left[-1]).__name__}, a mode, was left on: it sees, and may answer, all that PyTorch is asked"
            self.left = SideEffect(Verdict.INPUT_CHANGED, text)


def _count_modes(torch: Any) -> tuple[int, int]:
    """How many modes of each kind this thread has on. PyTorch has no public name for its stacks."""
    return torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()  # noqa: SLF001
