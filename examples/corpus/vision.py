"""Images, boxes and transforms."""

import math

import torch
from kernel import published

F = torch.nn.functional
DEFINITION = "its definition; float64 agrees"


def two_boxes(seed):
    """Boxes as corners, twice."""
    g = torch.Generator().manual_seed(seed)
    corners = torch.rand(2, 9, 2, generator=g)
    return [torch.cat([c, c + 0.1 + torch.rand(9, 2, generator=g)], -1) for c in corners]


def measure_boxes(a, b):
    """Intersection, union, and the box around both, of pairs."""
    size = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0)
    inside = size.prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - inside
    around = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    return inside, union, around


#: Pairs of boxes have four numbers each.
CORNERS = {"sizes": {"a.-1": 4, "b.-1": 4}}


@published("torchvision", "torchvision.ops.boxes:box_iou", two_boxes, DEFINITION, **CORNERS)
def box_iou(a, b):
    inside, union, _ = measure_boxes(a[:, None], b[None])
    return inside / union


@published("torchvision", "torchvision.ops.boxes:generalized_box_iou", two_boxes, DEFINITION, **CORNERS)
def generalized_box_iou(a, b):
    inside, union, around = measure_boxes(a[:, None], b[None])
    area = around.prod(-1)
    return inside / union - (area - union) / area


@published("torchvision", "torchvision.ops.giou_loss:generalized_box_iou_loss", two_boxes, DEFINITION, **CORNERS)
def generalized_box_iou_loss(a, b):
    inside, union, around = measure_boxes(a, b)
    area = around.prod(-1)
    return 1 - inside / (union + 1e-7) + (area - union) / (area + 1e-7)


def compute_distance_loss(a, b, eps):
    inside, union, around = measure_boxes(a, b)
    apart = ((a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2).square().sum(-1)
    overlap = inside / (union + eps)
    return 1 - overlap + apart / (around.square().sum(-1) + eps), overlap


@published("torchvision", "torchvision.ops.diou_loss:distance_box_iou_loss", two_boxes, DEFINITION, **CORNERS)
def distance_box_iou_loss(a, b, eps=1e-7):
    return compute_distance_loss(a, b, eps)[0]


def large_eps(candidate):
    """With an eps of 0.5, which its docstring has for all divisions."""
    a, b = two_boxes(0)
    return candidate(a, b, 0.5), complete_box_iou_loss(a.double(), b.double(), 0.5)


@published(
    "torchvision", "torchvision.ops.ciou_loss:complete_box_iou_loss", lambda seed: [*two_boxes(seed), 0.01],
    "eps is not handed on to the distance loss within, which keeps 1e-7: with 0.5 the loss is another",
    call=lambda f, a, b, eps: f(a, b, eps=eps), verdict="WRONG_GRADIENT WRONG_VALUE", shown=large_eps, **CORNERS,
)  # fmt: skip
def complete_box_iou_loss(a, b, eps):
    loss, overlap = compute_distance_loss(a, b, eps)
    (w, h), (v, u) = (a[..., 2:] - a[..., :2]).unbind(-1), (b[..., 2:] - b[..., :2]).unbind(-1)
    ratio = 4 / math.pi**2 * (torch.atan(v / u) - torch.atan(w / h)).square()
    with torch.no_grad():
        alpha = ratio / (1 - overlap + ratio + eps)
    return loss + alpha * ratio


def one_box(seed):
    """Boxes as corners."""
    return two_boxes(seed)[:1]


@published("torchvision", "torchvision.ops.boxes:box_area", one_box, DEFINITION, sizes={"a.-1": 4})
def box_area(a):
    return (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])


@published(
    "torchvision", "torchvision.ops.boxes:box_convert", one_box, DEFINITION, sizes={"a.-1": 4},
    call=lambda f, a: f(a, "xyxy", "cxcywh"),
)  # fmt: skip
def box_convert(a):
    return torch.cat([(a[:, :2] + a[:, 2:]) / 2, a[:, 2:] - a[:, :2]], -1)


def make_cosines(n, like):
    """The matrix of a DCT-II: rows are frequencies."""
    k = torch.arange(n, dtype=like.dtype)
    return 2 * torch.cos(math.pi * k[:, None] * (2 * k + 1) / (2 * n))


def make_orthonormal(n, like):
    """The same with rows of length 1."""
    scale = torch.full((n, 1), math.sqrt(1 / (2 * n)), dtype=like.dtype)
    scale[0] = math.sqrt(1 / (4 * n))
    return make_cosines(n, like) * scale


@published("torch-dct", "torch_dct:dct", [(6, 21)], DEFINITION)
def dct(x):
    return x @ make_cosines(x.shape[-1], x).T


@published("torch-dct", "torch_dct:dct", [(6, 21)], DEFINITION, call=lambda f, x: f(x, norm="ortho"))
def dct_orthonormal(x):
    return x @ make_orthonormal(x.shape[-1], x).T


@published("torch-dct", "torch_dct:idct", [(6, 21)], DEFINITION, call=lambda f, x: f(x, norm="ortho"))
def idct_orthonormal(x):
    return x @ make_orthonormal(x.shape[-1], x)


@published("torch-dct", "torch_dct:dct_2d", [(2, 9, 12)], DEFINITION, call=lambda f, x: f(x, norm="ortho"))
def dct_2d(x):
    rows, columns = (make_orthonormal(n, x) for n in x.shape[-2:])
    return rows @ x @ columns.T


def two_images(seed):
    """Images in 0 to 1, twice."""
    g = torch.Generator().manual_seed(seed)
    return [torch.rand(1, 2, 13, 14, generator=g) for _ in range(2)]


def make_window(like):
    k = torch.arange(11, dtype=like.dtype) - 5
    g = torch.exp(-k.square() / (2 * 1.5**2))
    return g / g.sum()


def blur(x, window):
    c = x.shape[1]
    x = F.conv2d(x, window.view(1, 1, -1, 1).expand(c, 1, -1, 1), groups=c)
    return F.conv2d(x, window.view(1, 1, 1, -1).expand(c, 1, 1, -1), groups=c)


def far_images(candidate):
    """Pictures of 1000 and more, spread 1, with a range of 1."""
    x, y = (1000 + t for t in two_images(0))
    return candidate(x, y), ssim(x.double(), y.double())


def ssim(x, y):
    """By patches around their own means: Wang et al. 2004, equation 13, with weights."""
    window = make_window(x)
    weights = (window[:, None] * window).flatten()

    def unfold(t):
        b, c, h, w = t.shape
        return F.unfold(t.reshape(b * c, 1, h, w), 11).reshape(b, c, 121, -1)

    x, y = unfold(x), unfold(y)
    mean, other = (weights @ x)[:, :, None], (weights @ y)[:, :, None]
    u, v = x - mean, y - other
    luminance = (2 * mean * other + 1e-4) / (mean.square() + other.square() + 1e-4)
    contrast = (2 * weights @ (u * v) + 9e-4) / (weights @ (u * u + v * v) + 9e-4)
    return (luminance[:, :, 0] * contrast).mean()


published(
    "pytorch-msssim", "pytorch_msssim:ssim", two_images,
    "variances are E[x²] - m² in float32: at 1000 and a range of 1 no digit is right",
    call=lambda f, x, y: f(x, y, data_range=1.0), verdict="WRONG_GRADIENT WRONG_VALUE", shown=far_images,
)(ssim)  # fmt: skip


@published("pytorch-msssim", "pytorch_msssim.ssim:gaussian_filter", lambda seed: two_images(seed)[:1], DEFINITION,
           call=lambda f, x: f(x, make_window(x).view(1, 1, 1, -1).repeat(x.shape[1], 1, 1, 1)))  # fmt: skip
def gaussian_filter(x):
    return blur(x, make_window(x))


def image(seed):
    """An image of three channels in 0 to 1."""
    return [torch.rand(2, 3, 6, 7, generator=torch.Generator().manual_seed(seed))]


#: Colours have three channels.
COLOUR = {"sizes": {"x.1": 3}}


@published("kornia", "kornia.color:rgb_to_grayscale", image, DEFINITION, **COLOUR)
def rgb_to_grayscale(x):
    return (x * torch.tensor([0.299, 0.587, 0.114], dtype=x.dtype)[:, None, None]).sum(1, keepdim=True)


@published("kornia", "kornia.color:rgb_to_ycbcr", image, DEFINITION, **COLOUR)
def rgb_to_ycbcr(x):
    r, g, b = x.unbind(1)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return torch.stack([y, (b - y) * 0.564 + 0.5, (r - y) * 0.713 + 0.5], 1)


@published("kornia", "kornia.filters:spatial_gradient", [(2, 3, 6, 7)], DEFINITION)
def spatial_gradient(x):
    columns = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=x.dtype) / 8
    both = torch.stack([columns, columns.T])[:, None]
    b, c, h, w = x.shape
    padded = F.pad(x.reshape(b * c, 1, h, w), (1, 1, 1, 1), mode="replicate")
    return F.conv2d(padded, both).reshape(b, c, 2, h, w)


@published("kornia", "kornia.filters:box_blur", [(2, 3, 6, 7)], DEFINITION, call=lambda f, x: f(x, 3))
def box_blur(x):
    return F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), 3, 1)


@published("timm", "timm.layers.space_to_depth:SpaceToDepth", [(2, 3, 8, 12)], DEFINITION,
           call=lambda f, x: f(4)(x), multiple_of={"x.2": 4, "x.3": 4})  # fmt: skip
def space_to_depth(x):
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 4, 4, w // 4, 4).permute(0, 3, 5, 1, 2, 4).reshape(b, 16 * c, h // 4, w // 4)


@published("timm", "timm.layers.blur_pool:BlurPool2d", [(2, 3, 8, 9)], DEFINITION,
           call=lambda f, x: f(x.shape[1])(x))  # fmt: skip
def blur_pool(x):
    taps = torch.tensor([0.25, 0.5, 0.25], dtype=x.dtype)
    c = x.shape[1]
    weight = (taps[:, None] * taps).expand(c, 1, 3, 3)
    return F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), weight, stride=2, groups=c)


@published("timm", "timm.layers.adaptive_avgmax_pool:adaptive_avgmax_pool2d", [(2, 3, 6, 7)], DEFINITION)
def adaptive_avgmax_pool(x):
    return 0.5 * (x.mean((2, 3), keepdim=True) + x.amax((2, 3), keepdim=True))
