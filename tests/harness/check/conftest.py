"""Each check of these tests tries usual values, but where a test asks for others."""

import pytest


@pytest.fixture(autouse=True)
def _with_usual_values(usual_values):
    """What is tried is as `usual_values` says."""
