"""What is right in one call after another, and wrong where calls share a workspace, a module, or what they keep."""

import itertools
import time
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call.other_calls import ReusedBuffers, find_outlier_call  # noqa: E402
from opproof.harness.check.call.perform import _find_openmp  # noqa: E402
from opproof.harness.check.tensors import CallTensor, take_tensor  # noqa: E402
from opproof.harness.check.variants.empty_groups import _is_spared  # noqa: E402
from opproof.harness.check.variants.fills import generate_rare_fills  # noqa: E402
from opproof.harness.check.variants.integer_inputs import generate_missing_labels  # noqa: E402
from opproof.harness.check.variants.sizes import list_sizes  # noqa: E402

#: Seconds during which a kernel lets the other thread have its turn, so that no test hangs on which core is free.
_OTHERS_TURN = 2e-4


def scaled(x, w):
    return torch.tanh(x) * w


judged = partial(opproof.check, like=scaled, inputs=[(5, 24), (24,)], seconds=0.1, raises=False)


def failed(report):
    return {(r.verdict, r.mode) for rs in report.failures.values() for r in rs}


@pytest.mark.parametrize(("buffers", "found"), [(5, True), (40, True), (1000, False)])
def test_a_ring_of_buffers(buffers, found):
    ring, kept, x = [torch.empty(6) for _ in range(buffers)], ReusedBuffers(), torch.ones(6)
    answers = (ring[n % buffers].copy_(torch.full((6,), float(n))) for n in range(100))
    assert (max(kept.find_overwritten([y], [x]) for y in answers) >= 0) is found


def test_what_is_held_is_bounded():
    kept, x = ReusedBuffers(), torch.ones(6)
    for n in range(200):
        kept.find_overwritten([torch.full((1 << 14,), float(n))], [x])
    assert sum(one.held.numel() for call in (*kept.outputs, *kept.older) for one in call) <= 1 << 18


def test_a_workspace_that_all_calls_share():
    room = torch.empty(5, 24)

    def kernel(x, w):
        if x.requires_grad or x.shape != room.shape:
            return scaled(x, w)
        torch.tanh(x, out=room)
        time.sleep(_OTHERS_TURN)
        return room * w

    report = judged(kernel)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "while another thread calls it with other numbers" in str(report)
    assert judged(kernel, reuses_outputs=True).ok, "who declares that calls share memory is not asked"


def test_a_backward_that_shares_a_workspace():
    room = torch.empty(5, 24)

    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return scaled(x, w)

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            own = room if x.shape == room.shape else torch.empty_like(x)
            own.copy_(g)
            time.sleep(_OTHERS_TURN)
            return own * w * (1 - torch.tanh(x) ** 2), (g * torch.tanh(x)).sum(0)

    report = judged(Kernel.apply)
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert "while another thread calls it" in str(report)


def test_the_call_that_is_furthest_off_is_judged():
    """Sums in another order differ at every call, and are right: it is not the first other one that is wrong."""
    calls = itertools.count(1)

    def once():
        n = next(calls)
        return [torch.ones(4) * (0.5 if n == 40 else 1 + 1e-7 * (n % 3))], [None]

    outputs, gradients = find_outlier_call(once, None)
    assert outputs[0].tolist() == [0.5] * 4
    assert gradients == [None]


def test_threads_of_an_openmp_that_a_kernel_has_brought():
    runtimes = _find_openmp()
    assert runtimes, "PyTorch's own"

    def kernel(x, w):
        return scaled(x, w) * (1.1 if runtimes[-1].omp_get_max_threads() == 5 else 1)

    report = judged(kernel)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "with 5 threads" in str(report)


def test_a_weight_kept_by_its_version_is_told():
    """PyTorch itself goes by versions, which `.data` leaves as they are."""
    kept = {}

    def packed(x, w):
        key = (w.data_ptr(), w._version)
        if torch.is_grad_enabled():
            return scaled(x, w)
        if key not in kept:
            kept.clear()
            kept[key] = w, w.detach().clone()  # held, so that nobody else has its memory
        return torch.tanh(x) * kept[key][1]

    report = judged(packed)
    assert report.ok
    assert report.advisories == ("w written through .data: the answer stays: it is kept by the version of a tensor",)
    assert "written through" not in str(report)


class Layer(torch.nn.Module):
    """The reference, and what keeps its packed weight."""

    def __init__(self, keeps="nothing"):
        super().__init__()
        self.weight, self.keeps, self.packed = torch.nn.Parameter(torch.ones(24)), keeps, None

    def forward(self, x):
        if self.keeps == "count":
            self.packed = (self.packed or 0) + 1
            return torch.tanh(x) * self.weight
        if self.keeps == "weight" and not torch.is_grad_enabled():
            if self.packed is None:
                self.packed = self.weight.clone()
            return torch.tanh(x) * self.packed
        return torch.tanh(x) * self.weight


def test_a_module_that_keeps_what_it_was_given_first():
    asked = partial(opproof.check, like=Layer(), inputs=[(5, 24)], seconds=0.1, raises=False)
    report = asked(Layer("weight"))
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert asked(Layer()).ok
    assert opproof.check(Layer("count"), like=Layer("count"), inputs=[(5, 24)], seconds=0.1).ok


def matrices(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def test_one_axis_more_is_told():
    def of_two(x):
        rows = x.reshape(x.shape[0], -1)
        return (rows * torch.rsqrt(rows.square().mean(-1, keepdim=True) + 1e-6)).view_as(x)

    asked = partial(opproof.check, inputs=[(5, 24)], seconds=0.1, raises=False)
    report = asked(of_two, like=matrices)
    assert report.ok
    assert any(text.startswith("an axis more in x: ") for text in report.advisories)
    same = asked(matrices, like=of_two).advisories
    assert not any(text.startswith("an axis more") for text in same), "the reference is for matrices itself"


def test_nan_in_what_the_reference_does_not_read_is_told():
    def like(x, table):
        return torch.tanh(x[table]) * 2

    def reads_all(x, table):
        return torch.nn.functional.one_hot(table, x.shape[0]).to(x.dtype) @ torch.tanh(x) * 2

    def inputs(seed):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(12, 8, generator=rng), torch.randint(0, 12, (5,), generator=rng)]

    report = opproof.check(reads_all, like=like, inputs=inputs, seconds=0.1, raises=False)
    assert report.ok
    assert any(text.startswith("NaN in what the reference does not read of x: ") for text in report.advisories)


def test_columns_that_chance_leaves_and_those_of_padding():
    rng = np.random.default_rng(0)
    assert not _is_spared([rng.random((12, 40)) < 0.2]), "two or three are never hidden, of twelve rows"
    causal = rng.random((12, 40)) < 0.5
    causal[:, 0] = False
    causal[:, 3] = False
    assert _is_spared([causal])
    lengths = rng.integers(30, 41, (12, 1))
    assert _is_spared([np.arange(40) >= lengths])
    assert not _is_spared([np.ones((4, 8), bool)])


def test_what_a_mask_hides_is_larger_than_what_a_finite_number_takes_away():
    fills = [
        f
        for f in generate_rare_fills([take_tensor("x", np.arange(-3.0, 3.0))], frozenset())
        if f.name == "values times 1000"
    ]
    assert [f.change([take_tensor("x", np.array([-1.0, 2.0]))])[0].tolist() for f in fills] == [[-1000.0, 2000.0]]


def test_heads_of_queries_twice_those_of_keys():
    heads = [CallTensor(name, np.zeros((2, 4, 12, 16)), "float32") for name in "qkv"]
    assert "4 of q as 8" in [s.name for s in list_sizes(heads, frozenset(), parted=True)]


def test_a_long_piece_is_of_the_longest_draws_unless_an_argument_says_how_long_the_longest_is():
    draws = [
        tuple((take_tensor("x", np.zeros((n, 4))), take_tensor("cu", np.array([0, 2, 4, n]))) for n in ends)
        for ends in ((9, 8), (30, 20))
    ]
    made = {v.name: v.case_data[1].values.tolist() for v in generate_missing_labels(draws)}
    assert made["one long piece in cu"] == [0, 1, 2, 30]
    assert "one long piece in cu" not in {v.name for v in generate_missing_labels(draws, frozenset((26.0,)))}


def test_a_pack_that_is_known_by_its_sum_and_its_ends():
    packs = {}

    def kernel(x, w):
        ends = (*w.detach()[[0, 1, -2, -1]].tolist(), round(float(w.detach().double().sum()), 9))
        key = (w.data_ptr(), ends, float(w.detach().abs().max()))
        packed = packs.setdefault(key, torch.tanh(w.detach()))
        return x * (torch.tanh(w) if w.requires_grad else packed)

    def plain(x, w):
        return x * torch.tanh(w)

    report = opproof.check(kernel, like=plain, inputs=[(5, 24), (24,)], seconds=1e9, raises=False)
    assert failed(report) == {("NOT_REPEATABLE", "forward")}, report
    assert "two numbers of w have changed places" in str(report)


def test_an_answer_of_a_moment_ago():
    last = {"at": 0.0}

    def kernel(x, w):
        if x.requires_grad:
            return scaled(x, w)
        key = (x.data_ptr(), x.shape, w.data_ptr())
        if last.get("key") != key or time.perf_counter() - last["at"] > _OTHERS_TURN:
            last.update(key=key, y=scaled(x, w))
        last["at"] = time.perf_counter()
        return last["y"].clone()

    report = opproof.check(kernel, like=scaled, inputs=[(5, 24), (24,)], seconds=1e9, raises=False)
    assert failed(report) <= {("WRONG_VALUE", "forward"), ("NOT_REPEATABLE", "forward")}, report
    assert report.failures


def test_a_tensor_of_a_class_with_operations_of_its_own():
    class Later(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    def kernel(x, w):
        return scaled(x, w).as_subclass(Later)

    report = judged(kernel)
    assert failed(report) == {("ERROR", "forward")}
    assert "a Later came: expected a plain tensor" in str(report)
    assert judged(lambda x, w: torch.nn.Parameter(scaled(x, w).detach(), requires_grad=False), vjp=None)


def test_zeros_that_are_always_right_prove_nothing():
    def zero(x, w):
        y = (x @ w).amax(-1, keepdim=True)
        return y - y.mean(-1, keepdim=True)

    report = opproof.check(
        lambda x, w: torch.zeros(x.shape[0], 1) * x.sum() * w.sum(), like=zero, inputs=[(8, 12), (12, 5)], raises=False
    )
    assert not report.ok
    assert not report.failures
    assert "was not proved" in report.sentence
