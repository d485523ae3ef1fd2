"""Which cases of a test come with every run: the others are marked `deep`, and show the same with other numbers."""

import pytest


def few(cases, kept=1):
    """The cases of a parametrised test; all but the first `kept` of them are marked `deep`."""
    return [*cases[:kept], *(deep(case) for case in cases[kept:])]


def deep(case):
    """A case, one value or a tuple of them or a pytest.param, that is marked `deep`."""
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.deep))
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.deep)
