"""lbfgs_direction: minus the inverse Hessian times the gradient, as the last steps of L-BFGS make it known.

The two-loop recursion over pairs of steps s and changes y of the gradient, the latest last, r = 1 / (s y):
    q = -grad; from the last pair to the first: a = r (s q), q = q - a y
    d = q (s y) / (y y) of the last pair; from the first pair to the last: d = d + (a - r (y d)) s
Shapes: grad (n,), steps and changes (m, n), m at least 1 and every s y above 0; the direction (n,).
Gradient: none, a step is not differentiated.
Source: Nocedal, Wright, Numerical Optimization (2006), algorithm 7.4; ggml.h of 2023, GGML_OPT_LBFGS.
PyTorch: torch.optim.LBFGS. ONNX: none. ggml: ggml_opt (until 2023).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(n),(m<9,n),(m,n)"
OUTPUTS = ("direction",)
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"steps": (0.0, np.inf), "changes": (0.0, np.inf)}


def forward(grad: Array, steps: Array, changes: Array) -> Array:
    if not grad.size:
        return -grad
    q, shares = -grad, []
    products = [np.sum(steps[i] * changes[i]) for i in range(len(steps))]
    for i in reversed(range(len(steps))):
        share = np.sum(steps[i] * q) / products[i]
        q = q - share * changes[i]
        shares.append(share)
    d = q * (products[-1] / np.sum(changes[-1] * changes[-1]))
    for i, share in enumerate(reversed(shares)):
        d = d + (share - np.sum(changes[i] * d) / products[i]) * steps[i]
    return d  # type: ignore[no-any-return]


def torch(torch: Any, grad: Any, steps: Any, changes: Any) -> Any:
    g, s, y = widened(torch, grad, steps, changes)
    if not g.numel():  # LBFGS takes the maximum of it
        return -grad
    new = torch.nn.Parameter(torch.zeros_like(g))
    optimizer = torch.optim.LBFGS([new], max_iter=1, history_size=len(s), tolerance_grad=-1.0)
    products = (s * y).sum(dim=1)
    # Its second iteration: the gradient has not changed since the first, so that no pair is added.
    optimizer.state[new].update(
        func_evals=1, n_iter=1, d=torch.zeros_like(g), t=1.0, old_dirs=list(y), old_stps=list(s), prev_loss=0.0,
        ro=list(1 / products), H_diag=products[-1] / (y[-1] @ y[-1]), prev_flat_grad=g.clone(),
    )  # fmt: skip

    def closure() -> Any:
        new.grad = g
        return torch.zeros(())

    optimizer.step(closure)
    return optimizer.state[new]["d"].to(grad.dtype)
