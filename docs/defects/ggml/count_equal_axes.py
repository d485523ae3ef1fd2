"""ggml_count_equal of two equal tensors of three axes misses elements

It finds rows by ne03 where ne02 ne01 belongs: some are read twice, others behind the end.

Ledger: count_equal forward
Expected: 24
"""

from preamble import computed, ggml, tensor, view


def numbers(behind):
    return view(tensor([*range(24), *[behind] * 4], "int32"), (2, 3, 4), (12, 4, 1))


print(computed(ggml("count_equal", numbers(0), numbers(1)))[0])
