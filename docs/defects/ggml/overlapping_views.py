"""The gradient of a view that overlaps itself is overwritten, not added up

Ledger: as_strided gradient
Expected: [1.0, 2.0, 1.0, 0.0]
"""

from preamble import gradients, parameter, view

x = parameter([0.0, 0.0, 0.0, 0.0])
print(gradients(view(x, (2, 2), (1, 1)), [[1.0, 1.0], [1.0, 1.0]], x)[0].tolist())
