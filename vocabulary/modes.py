"""What is asked of a backend: its values, or its gradients."""

from enum import StrEnum


class Mode(StrEnum):
    """A case is tried in each of them."""

    FORWARD = "forward"
    GRADIENT = "gradient"


MODES = tuple(Mode)
