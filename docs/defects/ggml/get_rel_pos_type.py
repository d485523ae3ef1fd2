"""ggml_get_rel_pos of bfloat16 says that its bits are float16

Ledger: get_rel_pos forward
Expected: bfloat16
"""

from preamble import NUMBERS, dtype, ggml, tensor

x = ggml("cast", tensor([[1.0], [2.0], [3.0]]), NUMBERS["bfloat16"])
print(dtype(ggml("get_rel_pos", x, 2, 2)))
