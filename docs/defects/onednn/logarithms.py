"""eltwise_log and the logarithm in logsoftmax have an absolute error of 3e-6; soft_relu one of 1e-6

Near 1 that is all there is of a logarithm. soft_relu is log(1 + exp(x)), 8 times too large at -16.

Ledger: log forward, log_softmax forward, log_softmax gradient, logsigmoid forward, softplus forward
Expected:
    log(1.001) 9.9955e-04
    log(1e-45) -103.279
    soft_relu(-16) 1.1254e-07
    logsoftmax of (7, 0, 0, 0) -2.7319e-03
"""

from preamble import eltwise, softmax

print(f"log(1.001) {eltwise('log', [1.001] * 16)[0]:.4e}")
print(f"log(1e-45) {eltwise('log', [1e-45] * 16)[0]:.3f}")
print(f"soft_relu(-16) {eltwise('soft_relu', [-16.0] * 16, 1.0)[0]:.4e}")
print(f"logsoftmax of (7, 0, 0, 0) {softmax([[7.0, 0.0, 0.0, 0.0]], logarithm=True)[0, 0]:.4e}")
