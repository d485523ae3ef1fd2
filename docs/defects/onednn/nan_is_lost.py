"""NaN is lost in clip, relu, hardsigmoid, exp, max and min, reductions, comparisons, pooling and softmax

Ledger: relu forward, hardtanh forward, relu6 forward, clamp forward, hardsigmoid forward, exp forward,
    maximum forward, minimum forward, ge forward, gt forward, amax forward, amin forward, softmax forward,
    max_pool1d forward, max_pool2d forward
Expected:
    relu nan
    clip nan
    clip_v2 nan
    hardsigmoid nan
    exp nan
    max(nan, 1) nan
    nan >= 1 0.0
    max of (nan, 1) nan
    softmax of (nan, 1) [nan, nan]
    max_pool of (nan, 1) nan
"""

from preamble import binary, eltwise, f32, max_pool, reduction, softmax

nan = float("nan")
for name, alpha, beta in (
    ("relu", 0.0, 0.0), ("clip", 0.5, 2.0), ("clip_v2", 0.5, 2.0), ("hardsigmoid", 1 / 6, 0.5), ("exp", 0.0, 0.0),
):  # fmt: skip
    print(name, eltwise(name, [nan] * 16, alpha, beta)[0])
print("max(nan, 1)", binary("max", f32([nan] * 16), f32([1.0] * 16))[0])
print("nan >= 1", binary("ge", f32([nan] * 16), f32([1.0] * 16))[0])
print("max of (nan, 1)", reduction("max", [[nan, 1.0]])[0])
print("softmax of (nan, 1)", softmax([[nan, 1.0]])[0].tolist())
print("max_pool of (nan, 1)", max_pool([[[nan, 1.0]]], 2)[0, 0, 0])
