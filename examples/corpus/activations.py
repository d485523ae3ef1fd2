"""Activations, alone and gated."""

import math

import torch
from kernel import published

F = torch.nn.functional
#: Why an entry is right where nothing more is to be said.
DEFINITION = "its definition; float64 agrees"
LIGER = "liger_kernel.ops."
#: Liger's backward leaves the gradients where a and b were saved.
GATED = {"overwrites": ("a", "b"), "backwards": 1}


@published("liger-kernel", LIGER + "swiglu:LigerSiLUMulFunction.apply", [(6, 45), (6, 45)], DEFINITION, **GATED)
def swiglu(a, b):
    return F.silu(a) * b


@published("liger-kernel", LIGER + "swiglu:LigerFusedGateUpSiLUMulFunction.apply", [(6, 48)], DEFINITION)
def swiglu_fused_gate_up(y):
    a, b = y.chunk(2, -1)
    return F.silu(a) * b


@published("liger-kernel", LIGER + "geglu:LigerGELUMulFunction.apply", [(6, 45), (6, 45)], DEFINITION, **GATED)
def geglu(a, b):
    return F.gelu(a, approximate="tanh") * b


@published("liger-kernel", LIGER + "relu_squared:LigerReLUSquaredFunction.apply", [(6, 45)], DEFINITION)
def relu_squared(x):
    return F.relu(x).square()


@published("liger-kernel", LIGER + "softmax:LigerSoftmaxFunction.apply", [(6, 45)], DEFINITION)
def softmax(x):
    return torch.softmax(x, -1)


def project(x, dim=-1):
    """Sparsemax by sorting: Martins and Astudillo 2016, algorithm 1."""
    z = x.sort(dim, descending=True).values
    shape = [1] * x.dim()
    shape[dim] = -1
    k = torch.arange(1, x.shape[dim] + 1, dtype=x.dtype).view(shape)
    total = z.cumsum(dim) - 1
    support = (k * z > total).sum(dim, keepdim=True)
    return torch.relu(x - total.gather(dim, support - 1) / support)


@published(
    "liger-kernel", LIGER + "sparsemax:LigerSparsemaxFunction.apply", [(6, 45)], DEFINITION,
    call=lambda f, x: f(x, -1),
)  # fmt: skip
def sparsemax(x):
    return project(x)


@published(
    "liger-kernel", LIGER + "dyt:LigerDyTFunction.apply", [(6, 45), (1,), (45,), (45,)],
    "its definition; float64 agrees; its backward asks a GPU how many processors it has", gradients=False,
)  # fmt: skip
def dynamic_tanh(x, alpha, gamma, beta):
    return gamma * torch.tanh(alpha * x) + beta


FLA = "fla.modules.activations:"


@published("fla-core", FLA + "swish", [(6, 45)], DEFINITION)
def swish(x):
    return x * torch.sigmoid(x)


def logsigmoid_of_20(candidate):
    """The logarithm of what is 2e-9 less than 1."""
    x = torch.tensor([20.0])
    return candidate(x), logsigmoid(x.double())


@published(
    "fla-core", FLA + "logsigmoid", [(6, 45)], "it takes log(1 + exp(-x)) where log1p is needed: 0 for -2e-9 at 20",
    verdict="WRONG_VALUE", says="as where 1 is added and taken away again", shown=logsigmoid_of_20,
)  # fmt: skip
def logsigmoid(x):
    return F.logsigmoid(x)


@published("fla-core", FLA + "sigmoid", [(6, 45)], DEFINITION)
def sigmoid(x):
    return torch.sigmoid(x)


@published("fla-core", FLA + "swiglu", [(6, 45), (6, 45)], DEFINITION, name="swiglu")
def fla_swiglu(x, y):
    return F.silu(x) * y


@published("fla-core", FLA + "elu_p1", [(6, 45)], DEFINITION)
def elu_p1(x):
    return F.elu(x) + 1


@published("entmax", "entmax:sparsemax", [(6, 45)], DEFINITION, name="sparsemax")
def entmax_sparsemax(x):
    return project(x)


def project_15(x):
    """1.5-entmax by sorting: Peters, Niculae and Martins 2019, algorithm 2."""
    x = (x - x.amax(-1, keepdim=True)) / 2
    z = x.sort(-1, descending=True).values
    k = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    mean, mean_square = z.cumsum(-1) / k, z.square().cumsum(-1) / k
    delta = (1 - k * (mean_square - mean.square())) / k
    tau = mean - torch.where(delta > 0, delta, 0.0).sqrt()
    support = (tau <= z).sum(-1, keepdim=True)
    return torch.relu(x - tau.gather(-1, support - 1)).square()


@published("entmax", "entmax:entmax15", [(6, 45)], DEFINITION)
def entmax15(x):
    return project_15(x)


@published("entmax", "entmax:sparsemax_bisect", [(6, 45)], DEFINITION)
def sparsemax_bisect(x):
    return project(x)


TRANSFORMERS = "transformers.activations:"


def build(function, x):
    """The module of a class without arguments, called."""
    return function()(x)


@published("transformers", TRANSFORMERS + "NewGELUActivation", [(6, 45)], DEFINITION, call=build)
def new_gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@published("transformers", TRANSFORMERS + "FastGELUActivation", [(6, 45)], DEFINITION, call=build)
def fast_gelu(x):
    return 0.5 * x * (1 + torch.tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))


@published("transformers", TRANSFORMERS + "QuickGELUActivation", [(6, 45)], DEFINITION, call=build)
def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


@published("transformers", TRANSFORMERS + "MishActivation", [(6, 45)], DEFINITION, call=build)
def mish(x):
    return x * torch.tanh(F.softplus(x))


@published("transformers", TRANSFORMERS + "LaplaceActivation", [(6, 45)], DEFINITION, call=build)
def laplace(x):
    return 0.5 * (1 + torch.erf((x - 0.707107) / (0.282095 * math.sqrt(2))))


@published(
    "transformers", TRANSFORMERS + "ClippedGELUActivation", [(6, 45)], DEFINITION,
    call=lambda f, x: f(-10, 10)(x),
)  # fmt: skip
def clipped_gelu(x):
    return torch.clip(F.gelu(x), -10, 10)


@published(
    "transformers", TRANSFORMERS + "ReLUSquaredActivation", [(6, 45)], DEFINITION, call=build, name="relu_squared"
)
def hf_relu_squared(x):
    return F.relu(x).square()


@published("transformers", TRANSFORMERS + "SqrtSoftplusActivation", [(6, 45)], DEFINITION, call=build)
def sqrt_softplus(x):
    return F.softplus(x).sqrt()


@published("timm", "timm.layers.activations:hard_mish", [(6, 45)], DEFINITION)
def hard_mish(x):
    return 0.5 * x * (x + 2).clamp(0, 2)


@published("timm", "timm.layers.activations_me:swish_me", [(6, 45)], DEFINITION)
def swish_me(x):
    return F.silu(x)


@published("timm", "timm.layers.activations_me:mish_me", [(6, 45)], DEFINITION)
def mish_me(x):
    return F.mish(x)


@published("timm", "timm.layers.activations_me:hard_swish_me", [(6, 45)], DEFINITION)
def hard_swish_me(x):
    return F.hardswish(x)


@published("timm", "timm.layers.activations_me:hard_sigmoid_me", [(6, 45)], DEFINITION)
def hard_sigmoid_me(x):
    return F.hardsigmoid(x)


@published("timm", "timm.layers.activations_me:hard_mish_me", [(6, 45)], DEFINITION)
def hard_mish_me(x):
    return 0.5 * x * (x + 2).clamp(0, 2)


@published(
    "x-transformers",
    "x_transformers.x_transformers:ReluSquared",
    [(6, 45)],
    DEFINITION,
    call=build,
    name="relu_squared",
)
def x_relu_squared(x):
    return F.relu(x).square()


@published(
    "x-transformers", "x_transformers.x_transformers:softclamp", [(6, 45)], DEFINITION, call=lambda f, x: f(x, 5.0)
)
def softclamp(x):
    return torch.tanh(x / 5.0) * 5.0
