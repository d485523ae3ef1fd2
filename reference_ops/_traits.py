"""What an operator may be: the words that its file gives as TRAITS, and coverage and mutation go by."""

from enum import StrEnum


class Trait(StrEnum):
    """What no signature tells. A trait obliges: rules of cases apply to all operators that have it."""

    POINTWISE = "pointwise"  # a result's element depends on the elements in its own place alone
    BROADCASTS = "broadcasts"  # its tensors may have other shapes, and gradients are summed
    ROWWISE = "rowwise"  # a result's element depends on a whole row (group, plane) of its first tensor
    STATISTIC = "statistic"  # it takes a mean, a spread or a share of a row: rows all alike, or far from 0, are special
    SHARES = "shares"  # it weighs the elements of a row by their exponentials
    LONG_SUM = "long sum"  # values or gradients add up as many terms as the caller likes, broadcast axes apart
    LONG_PRODUCT = "long product"  # values multiply as many factors as the caller likes
    ORDERED = "ordered"  # it ranks elements: of equal ones, some come first
    INDEXED = "indexed"  # integers say where it reads or adds, and may say one place twice
    ROUNDING = "rounding"  # values are integers
    MULTIPLIES = "multiplies"  # it multiplies matrices: kernels for it work in tiles
    CHANNELS = "channels"  # it slides a kernel of its own over each channel
    POOLS = "pools"  # it makes one number of every window of its first tensor
    RESIZE = "resize"  # it makes a plane of any size of another
    JUMPS_AT_ZERO = "jumps at zero"  # values just above 0, at it and just below are not close
