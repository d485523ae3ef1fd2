"""Why no row could show anything for a rule of cases: reasons that several operators share, for their WITHOUT."""

from __future__ import annotations

#: Sums of products.
PRODUCTS = {"extreme": "in sums of products size is no special case, and partial sums overflow by their order"}

#: Sums of products over windows.
WINDOWS = {**PRODUCTS, "NaN, inf": "some libraries multiply the zeros at the edge of a window by infinity, some do not"}

#: Recurrences over tokens.
RECURRENCE = {
    **PRODUCTS,
    "NaN, inf": "in parallel, a recurrence multiplies masked tokens by zeros, which makes NaN of infinity",
    "> 4096": "the reference takes seconds for 1000 tokens, or heads of 1000 channels",
    "16-bit sums": "the reference takes seconds for 1000 tokens, or heads of 1000 channels",
}

#: What asks only whether numbers are zero.
TRUTH = {"extreme": "all that is not zero is true, of any size", "negative": "all that is not zero is true"}

#: Operators of two tensors that are constant where both are one.
ITSELF = {"given twice": "of a tensor with itself it is one constant"}

#: What moves numbers or masks them.
PLACE = {"every value": "where an element stands decides, and its value passes through as it is"}
