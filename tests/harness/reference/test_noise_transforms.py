"""Operators of one's own that use np.fft, np.linalg and integers: honest ones pass, broken ones fail."""

from functools import partial

import numpy as np
import pytest

from opproof.harness.check.by_operator import make_function_check, results_of

POWER = '''"""power: squared sizes of the spectrum of every row."""
import numpy as np

SMOKE = ["x=5x24"]
STANDARD = ["x=2x3x31", "x=4x1"]


def forward(x):
    z = np.fft.rfft(x)
    return z.real * z.real + z.imag * z.imag
'''

SMOOTH = '''"""smooth: every row with the upper half of its spectrum taken away."""
import numpy as np

SMOKE = ["x=5x32"]


def forward(x):
    z = np.fft.fft(x)
    return np.fft.ifft(np.where(np.minimum(np.arange(32), 32 - np.arange(32)) <= 8, z, 0)).real
'''

SOLVED = '''"""solved: a⁻¹ b for a = x xᵀ + 1, and log det a."""
import numpy as np

OUTPUTS = ("y", "l")
SMOKE = ["x=7x7;b=7x3"]


def forward(x, b):
    a = x @ x.T + np.eye(7)
    return np.linalg.solve(a, b), np.linalg.slogdet(a).logabsdet
'''

BINNED = '''"""binned: every number as the middle of its bin."""
import numpy as np

SMOKE = ["x=5x24"]


def forward(x):
    index = np.clip((x * 4).astype(int), -8, 8)
    return np.linspace(-2, 2, 17)[index + 8] * x
'''

SLICE = '''"""slice: what is known of matrices of which all is 0 but one row, or one column."""
import numpy as np

OUTPUTS = ("s", "l", "p")
SMOKE = ["x=6x6", "x=2x6x6"]


def forward(x):
    rows = np.where(np.arange(6)[:, None] == 3, x, 0)
    columns = np.swapaxes(rows, -1, -2)
    values = np.linalg.eigvalsh(rows + columns)
    return np.linalg.svdvals(rows), values, np.linalg.pinv(rows)
'''

VECTORS = '''"""vectors: eigenvectors of x xᵀ."""
import numpy as np

SMOKE = ["x=5x5"]


def forward(x):
    return np.linalg.eigh(x @ x.T)[1]
'''

NARROW = '''"""narrow: x in float32."""
import numpy as np

SMOKE = ["x=5x5"]


def forward(x):
    return x.astype(np.float32)
'''


def verdicts(tmp_path, text, fn, dtypes="f32,f64"):
    name = text[3:].partition(":")[0]
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    folder = (str(tmp_path / f"{name}.py"),)
    results = results_of(make_function_check(fn, name, dtypes=dtypes, ops=folder))[1]
    return {str(r.verdict) for r in results}, results


def power(x):
    return (np.abs(np.fft.fft(x)[..., : x.shape[-1] // 2 + 1]) ** 2).astype(x.dtype)


def dft(x):
    """The matrix of the transform: sums term by term, not the butterflies of the reference."""
    n = x.shape[-1]
    turns = np.outer(np.arange(n), np.arange(n)) % n / n
    return np.exp(-2j * np.pi * turns).astype(np.result_type(x, np.complex64))


def smooth(x, highest=8):
    w = dft(x)
    z = x @ w
    z[..., np.minimum(np.arange(32), 32 - np.arange(32)) > highest] = 0
    return (z @ w.conj() / x.dtype.type(32)).real.astype(x.dtype)


def solved(x, b, one=1.0):
    a = x @ x.T + np.eye(7, dtype=x.dtype) * x.dtype.type(one)
    return np.linalg.inv(a) @ b, np.asarray(np.log(np.linalg.det(a)), dtype=x.dtype)


def binned(x, step=4):
    return (np.linspace(-2, 2, 17)[np.clip((x * step).astype(int), -8, 8) + 8] * x).astype(x.dtype)


def of_a_slice(x, shift=0.0, least=0.0, inverse=1.0):
    rows = np.where(np.arange(6)[:, None] == 3, x, x.dtype.type(0))
    s, values = np.linalg.svdvals(rows), np.linalg.eigvalsh(rows + np.swapaxes(rows, -1, -2))
    size = s[..., :1] * x.dtype.type(1)
    s[..., 1:] += x.dtype.type(least) * size
    return s, values + x.dtype.type(shift) * size, np.linalg.pinv(rows) * x.dtype.type(inverse)


@pytest.mark.parametrize("dtypes", ["f32", "f64"])
def test_zeros_are_off_by_the_size_of_the_whole_matrix(tmp_path, dtypes):
    """Values that are 0 in exact arithmetic come to about a roundoff of the largest, and no more."""
    found, results = verdicts(tmp_path, SLICE, of_a_slice, dtypes)
    assert found == {"PASS"}, results
    u = 2.0**-24 if dtypes == "f32" else 2.0**-53
    for honest in ({"least": 2 * u}, {"shift": 2 * u}):  # another algorithm's
        assert verdicts(tmp_path, SLICE, partial(of_a_slice, **honest), dtypes)[0] == {"PASS"}
    for wrong in ({"least": 300 * u}, {"shift": 300 * u}, {"least": 1e-3}, {"shift": 1e-3}, {"inverse": 1 + 300 * u}):
        assert "WRONG_VALUE" in verdicts(tmp_path, SLICE, partial(of_a_slice, **wrong), dtypes)[0]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (POWER, power, lambda x: power(x) * x.dtype.type(1.0001)),
        (SMOOTH, smooth, lambda x: smooth(x, 7)),
        (SOLVED, solved, lambda x, b: solved(x, b, 1.001)),
        (BINNED, binned, lambda x: binned(x, 4.1)),
    ],
    ids=["rfft", "fft", "solve", "integers"],
)
def test_transforms_and_factors_are_judged(tmp_path, text, right, wrong):
    found, results = verdicts(tmp_path, text, right)
    assert found == {"PASS"}, results
    assert "WRONG_VALUE" in verdicts(tmp_path, text, wrong)[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (VECTORS, "the reference of vectors: np.linalg.eigh has no rule under noise: write it with other functions"),
        (NARROW, "the reference of narrow: it converts to float32, which rounds"),
    ],
)
def test_what_has_no_rule_is_named(tmp_path, text, said):
    found, results = verdicts(tmp_path, text, lambda x: x, dtypes="f64")
    assert found == {"HARNESS_ERROR"}
    assert results[0].message.startswith(said)
