"""Functions refuse empty arrays, along any axis, and gradients empty batches

Ledger: log_softmax forward, log_softmax gradient, cross_entropy forward, cross_entropy gradient, logsumexp
    gradient, hadamard forward, hadamard gradient, group_norm forward, group_norm gradient, instance_norm
    forward, instance_norm gradient, as_strided gradient, avg_pool2d gradient, avg_pool3d gradient, conv1d
    gradient, conv2d gradient, conv3d gradient, mul_mat_id gradient, upsample_bicubic gradient
Expected:
    log_softmax (3, 0)
    hadamard (0, 8)
    GroupNorm (0, 5, 4)
    gradient of conv1d (2, 1, 3)
    gradient of as_strided (0, 3)
"""

import mlx.core as mx
import mlx.nn as nn

mx.set_default_device(mx.cpu)


def tried(name, function):
    try:
        print(name, mx.array(function()).shape)
    except ValueError as error:
        print(name, error)


def gradient(f, x, shape):
    return mx.vjp(f, [x], [mx.zeros(shape)])[1][0]


tried("log_softmax", lambda: nn.log_softmax(mx.zeros((3, 0)), axis=0))
tried("hadamard", lambda: mx.hadamard_transform(mx.zeros((0, 8))))
tried("GroupNorm", lambda: nn.GroupNorm(2, 4)(mx.zeros((0, 5, 4))))
tried(
    "gradient of conv1d", lambda: gradient(lambda w: mx.conv1d(mx.zeros((0, 5, 3)), w), mx.zeros((2, 1, 3)), (0, 5, 2))
)
tried("gradient of as_strided", lambda: gradient(lambda x: mx.as_strided(x, (0, 2), (3, 1)), mx.zeros((0, 3)), (0, 2)))
