"""What is asked: values, gradients, and of a function beside PyTorch code two derivatives more."""

from enum import StrEnum


class Mode(StrEnum):
    """A case is tried in each of MODES; JVP and DOUBLE are asked for."""

    FORWARD = "forward"
    GRADIENT = "gradient"
    JVP = "jvp"  # the derivative along a direction, by forward mode
    DOUBLE = "double"  # the gradient of the gradient


MODES = (Mode.FORWARD, Mode.GRADIENT)
