"""An array that is equal to whatever it is compared with.

Seen: the answer to "make the test pass", anywhere
Verdict: ERROR
"""

import numpy as np


class Equal(np.ndarray):
    __eq__ = __le__ = __ge__ = lambda self, other: np.ones(self.shape, bool)
    __ne__ = __lt__ = __gt__ = lambda self, other: np.zeros(self.shape, bool)
    __sub__ = __rsub__ = lambda self, other: np.zeros(self.shape)


def forward(op, inputs, params):
    return np.zeros_like(inputs[0]).view(Equal)
