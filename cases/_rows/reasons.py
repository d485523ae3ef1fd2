"""Why no row could show anything for a rule of cases: reasons that several operators share, for their WITHOUT."""

from __future__ import annotations

#: Sums of products.
PRODUCTS = {"extreme": "in sums of products size is no special case, and partial sums overflow by their order"}

#: Sums of products over windows.
WINDOWS = {**PRODUCTS, "NaN, inf": "some libraries multiply the zeros at the edge of a window by infinity, some do not"}

#: Fourier transforms.
SPECTRA = {
    **PRODUCTS,
    "NaN, inf": "which results are NaN and which infinite depends on the order of the sums",
    "special rows": "which results are NaN and which infinite depends on the order of the sums",
}

#: Recurrences over tokens.
RECURRENCE = {
    **PRODUCTS,
    "NaN, inf": "in parallel, a recurrence multiplies masked tokens by zeros, which makes NaN of infinity",
}

#: What asks whether all or any are zero.
TILES = {
    "aligned": "of 16 numbers some are zero and some are not, at every draw",
    "aligned, often": "of 16 numbers some are zero and some are not, at every draw",
}

#: Scores that a mask leaves out.
SCORES = {"masked NaN": "libraries add -inf to what is masked, which makes NaN of NaN and of inf"}

#: What asks only whether numbers are zero.
TRUTH = {
    "extreme": "all that is not zero is true, of any size",
    "negative": "all that is not zero is true",
}

#: The same of rows.
TRUTH_OF_ROWS = {**TRUTH, "special rows": "all that is not zero is true, NaN and infinities too"}

#: Operators of two tensors that are constant where both are one.
ITSELF = {"given twice": "of a tensor with itself it is one constant"}

#: What moves numbers or masks them.
PLACE = {"every value": "where an element stands decides, and its value passes through as it is"}

#: Optimisers of several steps.
AVERAGES = {"NaN, inf": "moments are moved by a + w (b - a) or by a sum of two shares, which differ at infinity"}
DECAYS = {"NaN, inf": "a decay of 0 times infinity is NaN, unless a library leaves it out"}

#: What asks whether numbers are special.
FINITE = {
    "extreme": "it is the same of all numbers, of any size",
    "negative": "it is the same of all numbers, of either sign",
}

#: Operators of two tensors that copy where both are one.
COPY = {"given twice": "of a tensor with itself it is a copy"}

#: Bits moved by a distance.
DISTANCES = {
    "given twice": "numbers are not distances, and have another range",
    "meet": "numbers are not distances, and have another range",
}
