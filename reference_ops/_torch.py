"""What PyTorch twins share. torch is handed in, never imported."""

from typing import Any


def widened(torch: Any, *xs: Any) -> list[Any]:
    """Float tensors in float32 at least, in which kernels compute on 16-bit data; others and None as they are."""
    return [
        x if x is None or not x.is_floating_point() else x.to(torch.promote_types(x.dtype, torch.float32)) for x in xs
    ]


def gradient(torch: Any, f: Any, x: Any, g: Any) -> Any:
    """Autograd's gradient of f at x for the cotangent g, itself differentiable where x or g asks for it."""
    with torch.enable_grad():
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        (found,) = torch.autograd.grad(f(leaf), leaf, g, create_graph=x.requires_grad or g.requires_grad)
    return found
