"""Losses: of classes, of distributions, of pairs."""

import torch
from kernel import drawn, labelled, published

F = torch.nn.functional
DEFINITION = "its definition; float64 agrees"
LIGER = "liger_kernel.ops."
OF_ROWS = "its definition, of logits that lie in rows, as given; those of strides (1, n) have an entry below"
#: Liger's cross entropies leave the gradient where the logits were.
CROSS_ENTROPY = {"overwrites": ("x",), "backwards": 1}


def cross_entropy(x, y):
    return F.cross_entropy(x, y)


CE = LIGER + "cross_entropy:LigerCrossEntropyFunction.apply"
published(
    "liger-kernel", CE, labelled((6, 45), 45), OF_ROWS, name="cross_entropy",
    call=lambda f, x, y: f(x, y, None)[0], neighbours=False, **CROSS_ENTROPY,
)(cross_entropy)  # fmt: skip


@published(
    "liger-kernel", CE, labelled((6, 45), 45), OF_ROWS,
    call=lambda f, x, y: f(x, y, None, -100, 0.0, 0.1)[0], neighbours=False, **CROSS_ENTROPY,
)  # fmt: skip
def cross_entropy_smoothed(x, y):
    return F.cross_entropy(x, y, label_smoothing=0.1)


@published(
    "liger-kernel", CE, labelled((6, 45), 45), OF_ROWS,
    call=lambda f, x, y: f(x, y, None, -100, 0.0, 0.0, "mean", 5.0)[0], neighbours=False, **CROSS_ENTROPY,
)  # fmt: skip
def cross_entropy_capped(x, y):
    return F.cross_entropy(5.0 * torch.tanh(x / 5.0), y)


@published(
    "liger-kernel", CE, labelled((6, 45), 45), OF_ROWS,
    call=lambda f, x, y: f(x, y, None, -100, 1e-2)[0], neighbours=False, **CROSS_ENTROPY,
)  # fmt: skip
def cross_entropy_z_loss(x, y):
    return F.cross_entropy(x, y) + 1e-2 * torch.logsumexp(x, -1).square().mean()


def transposed_logits(seed):
    """Logits that come as the transpose of others, and a class of each row."""
    x, y = labelled((6, 45), 45)(seed)
    return [x.T.contiguous().T, y]


def grad_of_transposed(candidate):
    """The gradient of such logits."""
    x, y = transposed_logits(0)
    wide = x.double().requires_grad_()
    candidate(x.requires_grad_(), y).backward()
    cross_entropy(wide, y).backward()
    return x.grad, wide.grad


published(
    "liger-kernel", CE, transposed_logits, "logits of strides (1, n) come back as their own gradient",
    name="cross_entropy_transposed", call=lambda f, x, y: f(x, y, None)[0], verdict="WRONG_GRADIENT",
    shown=grad_of_transposed, **CROSS_ENTROPY,
)(cross_entropy)  # fmt: skip


def linear_labels(seed):
    """Rows, weights of classes, classes."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 16, generator=g), torch.randn(45, 16, generator=g), torch.randint(0, 45, (6,), generator=g)]


def grad_of_weights_alone(candidate):
    """The gradient of w where x needs none; zeros where none came."""
    x, w, y = linear_labels(0)
    candidate(x, w.requires_grad_(), y).backward()
    v = w.detach().double().requires_grad_()
    fused_linear_cross_entropy(x.double(), v, y).backward()
    return torch.zeros_like(w) if w.grad is None else w.grad, v.grad


@published(
    "liger-kernel", LIGER + "fused_linear_cross_entropy:LigerFusedLinearCrossEntropyFunction.apply", linear_labels,
    "w gets no gradient where x needs none, as in probing a frozen model; else right",
    call=lambda f, x, w, y: f(x, w, y)[0], backwards=1, verdict="WRONG_GRADIENT", says="where the gradient of w alone",
    shown=grad_of_weights_alone,
)  # fmt: skip
def fused_linear_cross_entropy(x, w, y):
    return F.cross_entropy(x @ w.T, y)


def distributions(seed):
    """Logarithms of shares, and shares."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 45, generator=g).log_softmax(-1), torch.randn(6, 45, generator=g).softmax(-1)]


def two_logarithms(seed):
    """Logarithms of shares, twice."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 45, generator=g).log_softmax(-1) for _ in range(2)]


@published(
    "liger-kernel", LIGER + "kl_div:LigerKLDivLossFunction.apply", distributions, DEFINITION, grads={"y": None},
    call=lambda f, x, y: f(x, y, "batchmean"),
)  # fmt: skip
def kl_div(x, y):
    return F.kl_div(x, y, reduction="batchmean")


@published(
    "liger-kernel", LIGER + "jsd:LigerJSDFunction.apply", two_logarithms, DEFINITION, grads={"y": None},
)  # fmt: skip
def jsd(x, y):
    m = torch.log(0.5 * (x.exp() + y.exp()))
    return (0.5 * y.exp() * (y - m) + 0.5 * x.exp() * (x - m)).sum() / len(x)


@published(
    "liger-kernel", LIGER + "tvd:LigerTVDLossFunction.apply", drawn((6, 45), (6, 45), low=0.01), DEFINITION,
    grads={"q": None}, call=lambda f, p, q: f(p, q, None, "batchmean"),
)  # fmt: skip
def tvd(p, q):
    return 0.5 * (p - q).abs().sum() / len(p)


@published(
    "fla-core", "fla.modules.fused_cross_entropy.ops:cross_entropy_loss", labelled((6, 45), 45), DEFINITION,
    call=lambda f, x, y: f(x, y)[0], name="cross_entropy",
)  # fmt: skip
def fla_cross_entropy(x, y):
    return F.cross_entropy(x, y, reduction="none")


def rows_and_weights(seed):
    """Rows of a student and of a teacher, and the weights of each."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=g) for shape in ((6, 16), (6, 16), (45, 16), (45, 16))]


@published(
    "fla-core", "fla.modules.fused_kl_div.ops:fused_kl_div_loss", rows_and_weights,
    "its definition; its backward scales what it kept, so the first one counts", backwards=1,
    grads={"target": None, "v": None},
)  # fmt: skip
def fused_kl_div_loss(x, target, w, v):
    return F.kl_div((x @ w.T).log_softmax(-1), (target @ v.T).softmax(-1), reduction="batchmean")


def sparsemax_value(x, y):
    """The loss of Martins and Astudillo 2016, equation 16: of each row, the support found by sorting."""
    z = x.sort(-1, descending=True).values
    k = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    total = z.cumsum(-1) - 1
    support = (k * z > total).sum(-1, keepdim=True)
    p = torch.relu(x - total.gather(-1, support - 1) / support)
    return (p * (x - p / 2)).sum(-1) + 0.5 - x.gather(-1, y[:, None])[:, 0]


@published(
    "entmax",
    "entmax:sparsemax_loss",
    labelled((6, 45), 45),
    DEFINITION,
)
def sparsemax_loss(x, y):
    return sparsemax_value(x, y)


@published("timm", "timm.loss.cross_entropy:LabelSmoothingCrossEntropy", labelled((6, 45), 45), DEFINITION,
           call=lambda f, x, y: f(0.1)(x, y))  # fmt: skip
def label_smoothing(x, y):
    logs = F.log_softmax(x, -1)
    return (-0.9 * logs.gather(-1, y[:, None])[:, 0] - 0.1 * logs.mean(-1)).mean()


def soft_targets(seed):
    """Logits, and shares."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 45, generator=g), torch.randn(6, 45, generator=g).softmax(-1)]


@published("timm", "timm.loss.cross_entropy:SoftTargetCrossEntropy", soft_targets, DEFINITION,
           call=lambda f, x, y: f()(x, y))  # fmt: skip
def soft_target_cross_entropy(x, y):
    return -(y * F.log_softmax(x, -1)).sum(-1).mean()


def multi_hot(seed):
    """Logits, and zeros and ones."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 20, generator=g), torch.randint(0, 2, (6, 20), generator=g).float()]


@published("timm", "timm.loss.asymmetric_loss:AsymmetricLossMultiLabel", multi_hot, DEFINITION,
           call=lambda f, x, y: f()(x, y))  # fmt: skip
def asymmetric_loss(x, y):
    p = torch.sigmoid(x)
    q = (1 - p + 0.05).clamp(max=1)
    logs = y * p.clamp(min=1e-8).log() + (1 - y) * q.clamp(min=1e-8).log()
    weight = torch.where(y > 0.5, 1 - p, (1 - q) ** 4)
    return -(logs * weight).sum() / len(x)


@published("torchvision", "torchvision.ops.focal_loss:sigmoid_focal_loss", multi_hot, DEFINITION)
def sigmoid_focal_loss(x, y):
    p = torch.sigmoid(x)
    p_t = p * y + (1 - p) * (1 - y)
    entropy = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    return (0.25 * y + 0.75 * (1 - y)) * entropy * (1 - p_t) ** 2


def two_images(seed):
    """Images in 0 to 1, twice."""
    g = torch.Generator().manual_seed(seed)
    return [torch.rand(2, 3, 8, 9, generator=g) for _ in range(2)]


@published("kornia", "kornia.losses:charbonnier_loss", two_images, DEFINITION)
def charbonnier_loss(x, y):
    return torch.sqrt((x - y).square() + 1) - 1


@published("kornia", "kornia.losses:welsch_loss", two_images, DEFINITION)
def welsch_loss(x, y):
    return 1 - torch.exp(-0.5 * (x - y).square())


@published("kornia", "kornia.losses:cauchy_loss", two_images, DEFINITION)
def cauchy_loss(x, y):
    return torch.log1p(0.5 * (x - y).square())


@published("kornia", "kornia.losses:geman_mcclure_loss", two_images, DEFINITION)
def geman_mcclure_loss(x, y):
    d = (x - y).square()
    return 2 * d / (d + 4)


@published("kornia", "kornia.losses:psnr_loss", two_images, DEFINITION, call=lambda f, x, y: f(x, y, 1.0))
def psnr_loss(x, y):
    return -10 * torch.log10(1 / (x - y).square().mean())


@published("kornia", "kornia.losses:total_variation", [(2, 3, 8, 9)], DEFINITION)
def total_variation(x):
    return x.diff(dim=-1).abs().sum((-2, -1)) + x.diff(dim=-2).abs().sum((-2, -1))
