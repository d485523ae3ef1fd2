"""Fold2D writes past its output where windows overlap

Its backward does the same, and the heap notices at once, later, or never.

Ledger: col2im forward, col2im gradient
Expected: 0 numbers behind the output are overwritten
"""

import numpy as np
from preamble import aidge

node = aidge.Fold2D([5, 5], [2, 2])
operator = node.get_operator()
operator.associate_input(0, aidge.Tensor(np.ones((2, 16, 16), np.float32)))  # 512 numbers
graph = aidge.get_connected_graph_view(node)
graph.set_backend("cpu")
graph.forward_dtype()
graph.forward_dims()
memory = np.full(1000, 7, np.float32)  # the first 200 are the output's
operator.set_output(0, aidge.Tensor.from_data_ptr([2, 4, 5, 5], memory.ctypes.data))
scheduler = aidge.SequentialScheduler(graph)
scheduler.generate_scheduling()
scheduler.forward(forward_dims=False)
print(np.count_nonzero(memory[200:] != 7), "numbers behind the output are overwritten")
