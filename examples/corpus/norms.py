"""Normalisations, with weights, gates, residuals and modulations."""

import torch
from kernel import published

F = torch.nn.functional
DEFINITION = "its definition; float64 agrees"
LIGER = "liger_kernel.ops."
#: What Liger's RMSNorm writes to in its backward where it works in place: the gradient that comes.
IN_PLACE = {"overwrites": ("grad",)}


def divide_by_rms(x, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def rms_norm(x, w):
    return divide_by_rms(x) * w


def gemma_rms_norm(x, w):
    return divide_by_rms(x) * (1 + w)


def layer_norm(x, w, b):
    return F.layer_norm(x, x.shape[-1:], w, b, 1e-5)


RMS = "liger_kernel.ops.rms_norm:LigerRMSNormFunction.apply"
published(
    "liger-kernel", RMS, [(6, 45), (45,)], DEFINITION, name="rms_norm",
    call=lambda f, x, w: f(x, w, 1e-6, 0.0, "llama", False),
)(rms_norm)  # fmt: skip
published(
    "liger-kernel", RMS, [(6, 45), (45,)], DEFINITION, name="rms_norm_in_place",
    call=lambda f, x, w: f(x, w, 1e-6, 0.0, "llama", True), **IN_PLACE,
)(rms_norm)  # fmt: skip
published(
    "liger-kernel", RMS, [(6, 45), (45,)], DEFINITION, name="rms_norm_gemma",
    call=lambda f, x, w: f(x, w, 1e-6, 1.0, "gemma", False),
)(gemma_rms_norm)  # fmt: skip
published(
    "liger-kernel", LIGER + "layer_norm:LigerLayerNormFunction.apply", [(6, 45), (45,), (45,)], DEFINITION,
    name="layer_norm", call=lambda f, x, w, b: f(x, w, b, 1e-5),
)(layer_norm)  # fmt: skip


@published(
    "liger-kernel", LIGER + "fused_add_rms_norm:LigerFusedAddRMSNormFunction.apply", [(6, 45), (6, 45), (45,)],
    DEFINITION, call=lambda f, x, r, w: f(x, r, w, 1e-6, 0.0, "llama", False),
)  # fmt: skip
def fused_add_rms_norm(x, r, w):
    h = x + r
    return rms_norm(h, w), h


@published(
    "liger-kernel", LIGER + "modulated_rms_norm:LigerModulatedRMSNormFunction.apply",
    [(6, 45), (45,), (6, 45), (6, 45)], DEFINITION,
    call=lambda f, x, w, scale, shift: f(x, w, scale, shift, 1e-6, 0.0, "llama", False),
)  # fmt: skip
def modulated_rms_norm(x, w, scale, shift):
    return (1 + scale) * rms_norm(x, w) + shift


@published(
    "liger-kernel", LIGER + "poly_norm:LigerPolyNormFunction.apply", [(6, 45), (3,), ()], DEFINITION,
    call=lambda f, x, w, b: f(x, w, b, 1e-6, False),
)  # fmt: skip
def poly_norm(x, w, b):
    return w[0] * divide_by_rms(x**3) + w[1] * divide_by_rms(x**2) + w[2] * divide_by_rms(x) + b


def far_from_zero(seed, mean=100.0):
    """Channels of spread 1 around their mean, weights and biases."""
    g = torch.Generator().manual_seed(seed)
    return [mean + torch.randn(2, 6, 20, generator=g), torch.randn(6, generator=g), torch.randn(6, generator=g)]


def far_group_norm(candidate):
    """At mean 1000: PyTorch's float32 is off by 1e-4."""
    given = far_from_zero(0, 1000.0)
    return candidate(*given), group_norm(*(t.double() for t in given))


@published(
    "liger-kernel", LIGER + "group_norm:LigerGroupNormFunction.apply", far_from_zero,
    "the variance is E[x²] - m² in float32: at mean 1000 and spread 1 it has one digit right",
    call=lambda f, x, w, b: f(x, w, b, 6, 3, 1e-5), verdict="WRONG_VALUE", shown=far_group_norm, sizes={"x.1": 6},
)  # fmt: skip
def group_norm(x, w, b):
    return F.group_norm(x, 3, w, b, 1e-5)


FLA = "fla.modules.norm"


@published("fla-core", FLA + ".l2norm:l2norm", [(6, 45)], DEFINITION)
def l2norm(x):
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


published(
    "fla-core", FLA + ".layernorm:rms_norm", [(6, 45), (45,)], DEFINITION, name="rms_norm",
    call=lambda f, x, w: f(x, w, None, eps=1e-6),
)(rms_norm)  # fmt: skip
published(
    "fla-core", FLA + ".layernorm:layer_norm", [(6, 45), (45,), (45,)], DEFINITION, name="layer_norm",
)(layer_norm)  # fmt: skip


@published(
    "fla-core", FLA + ".fused_norm_gate:rms_norm_gated", [(6, 45), (6, 45), (45,)], DEFINITION,
    call=lambda f, x, g, w: f(x, g, w, None),
)  # fmt: skip
def rms_norm_gated(x, g, w):
    return rms_norm(x, w) * F.silu(g)


@published("fla-core", FLA + ".layernorm_gated:layernorm_fn", [(6, 45), (45,), (45,), (6, 45)], DEFINITION)
def layernorm_fn(x, w, b, z):
    return F.layer_norm(x, x.shape[-1:], w, b, 1e-6) * F.silu(z)


def put_weights(build):
    """A call of a module's class with its parameters as arguments, in the order of their names in the module."""

    def call(found, x, *weights):
        module = build(found, x)
        names = [name for name, _ in module.named_parameters()]
        return torch.func.functional_call(module, dict(zip(names, weights, strict=True)), (x,))

    return call


def of_width(found, x):
    """A module for the last axis."""
    return found(x.shape[-1])


@published("x-transformers", "x_transformers.x_transformers:l2norm", [(6, 45)], DEFINITION, name="l2norm")
def x_l2norm(x):
    return x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12)


@published(
    "x-transformers", "x_transformers.x_transformers:RMSNorm", [(6, 45), (45,)], DEFINITION,
    call=put_weights(of_width), name="rms_norm",
)  # fmt: skip
def x_rms_norm(x, g):
    return x_l2norm(x) * x.shape[-1] ** 0.5 * g


@published(
    "x-transformers", "x_transformers.x_transformers:ScaleNorm", [(6, 45), (1,)], DEFINITION,
    call=put_weights(of_width),
)  # fmt: skip
def scale_norm(x, g):
    return x_l2norm(x) * x.shape[-1] ** 0.5 * g


@published(
    "x-transformers", "x_transformers.x_transformers:LayerNorm", [(6, 45), (45,)], DEFINITION,
    call=put_weights(of_width), name="layer_norm",
)  # fmt: skip
def x_layer_norm(x, g):
    return F.layer_norm(x, x.shape[-1:]) * g


@published(
    "transformers", "transformers.models.llama.modeling_llama:LlamaRMSNorm", [(6, 45), (45,)], DEFINITION,
    call=put_weights(of_width),
)  # fmt: skip
def llama_rms_norm(x, w):
    return rms_norm(x, w)


@published(
    "transformers", "transformers.models.gemma.modeling_gemma:GemmaRMSNorm", [(6, 45), (45,)], DEFINITION,
    call=put_weights(of_width), name="gemma_rms_norm",
)  # fmt: skip
def hf_gemma_rms_norm(x, w):
    return gemma_rms_norm(x, w)


@published(
    "transformers", "transformers.models.t5.modeling_t5:T5LayerNorm", [(6, 45), (45,)], DEFINITION,
    call=put_weights(of_width),
)  # fmt: skip
def t5_layer_norm(x, w):
    return rms_norm(x, w)


def of_channels(found, x):
    """A module for images, channels second."""
    return found(x.shape[1])


@published(
    "timm", "timm.layers.norm:LayerNorm2d", [(2, 6, 5, 7), (6,), (6,)], DEFINITION, call=put_weights(of_channels)
)
def layer_norm_2d(x, w, b):
    return F.layer_norm(x.movedim(1, -1), x.shape[1:2], w, b, 1e-6).movedim(-1, 1)


def far_layer_norm(candidate):
    """Mean 1000, spread 1."""
    x = 1000 + torch.randn(2, 6, 5, 7, generator=torch.Generator().manual_seed(0))
    w, b = torch.ones(6), torch.zeros(6)
    return candidate(x, w, b), layer_norm_2d(x.double(), w.double(), b.double())


@published("timm", "timm.layers.norm:RmsNorm2d", [(2, 6, 5, 7), (6,)], DEFINITION, call=put_weights(of_channels))
def rms_norm_2d(x, w):
    return x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-6) * w[:, None, None]


@published(
    "timm", "timm.layers.grn:GlobalResponseNorm", [(2, 5, 7, 6), (6,), (6,)], DEFINITION, call=put_weights(of_width)
)
def global_response_norm(x, w, b):
    g = x.square().sum((1, 2), keepdim=True).sqrt()
    return x + x * (g / (g.mean(-1, keepdim=True) + 1e-6)) * w + b


@published(
    "timm", "timm.layers.std_conv:StdConv2d", [(2, 3, 8, 9), (4, 3, 3, 3), (4,)], DEFINITION,
    call=put_weights(lambda found, _: found(3, 4, 3, bias=True, padding=0)),
    sizes={"x.1": 3, "w.0": 4, "w.1": 3, "w.2": 3, "w.3": 3},
)  # fmt: skip
def std_conv2d(x, w, b):
    flat = w.flatten(1)
    apart = flat - flat.mean(1, keepdim=True)
    return F.conv2d(x, (apart * torch.rsqrt(apart.square().mean(1, keepdim=True) + 1e-6)).view_as(w), b)
