"""Kinds of patterns of errors that are weighed against other records; a diagnosis has many more of its own."""

#: Errors as large as a precision makes them, and nothing else that speaks for it: what a declaration would make pass.
SIZE = "size of a precision"
#: Errors of a few units of 1, however small a result is: 1 was added and taken away.
NEAR_ONE = "digits lost"
#: A cause that makes results wrong by a rule, as no rounding does.
SYSTEMATIC = frozenset(
    (
        "sign", "factor", "row factor", "row shift", "constant", "constant added", "statistic", "terms dropped",
        "not summed", "parameter ignored", "other parameter", "parameter rounded", "swapped parameters", "eps",
        "unbiased", "input ignored", "swapped inputs", "cotangent ignored", "rows left", "other operator",
        "other values",
    )
)  # fmt: skip
