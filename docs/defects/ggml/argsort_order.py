"""ggml_argsort is std::sort with x[a] < x[b]: NaN puts others out of order, and equal elements come in any order

std::sort asks for a strict weak order, which < is not where there is a NaN: its behaviour is undefined then.

Ledger: argsort forward, sort forward, topk forward
Expected:
    without NaN in order: True
    32 equal elements in order: True
"""

import numpy as np
from preamble import computed, ggml, tensor

x = np.arange(32.0)[::-1].copy()
x[[3, 9, 17, 25]] = np.nan
order = computed(ggml("argsort", tensor([x]), 0))
numbers = x[order][~np.isnan(x[order])]
print("without NaN in order:", bool((np.diff(numbers) > 0).all()))
order = computed(ggml("argsort", tensor(np.zeros((1, 32))), 0))
print("32 equal elements in order:", order.tolist() == list(range(32)))
