"""Certificates: what a run found, signed; checked by whom it is given to, by running a part of it again."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

BACKEND = """
def supports(op, dtypes, params):
    return op in ("abs", "neg")


def forward(op, inputs, params):
    return abs(inputs[0]) if op == "abs" else -inputs[0]
"""
#: Wrong for a part of what neg is asked.
BROKEN = (
    BACKEND
    + """

def forward(op, inputs, params):
    return abs(inputs[0]) if op == "abs" else -inputs[0] * (1.001 if inputs[0].ndim == 1 else 1)
"""
)
CALL = ("run", "-b", "./mine.py", "-o", "abs,neg,exp", "--dtype", "f32", "--mode", "forward", "--quiet")


def opproof(*arguments, cwd):
    command = [sys.executable, "-m", "opproof.harness", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a backend, a key and a certificate."""
    folder = tmp_path_factory.mktemp("certified")
    (folder / "mine.py").write_text(BACKEND)
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", folder / "key.pem"], check=True)
    done = opproof(*CALL, "--certify", "mine.json", "--key", "key.pem", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "mine.json: `opproof verify mine.json -b ./mine.py` checks it" in done.stdout
    return folder


def verify(folder, *args):
    return opproof("verify", "mine.json", *args, cwd=folder)


def test_what_was_certified_comes_out_again(made):
    done = verify(made, "-b", "./mine.py", "--share", "0.2", "--seed", "3", "--badge", "badge.svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("signed by ")
    assert "drawn records came out as certified." in done.stdout.splitlines()[-1]
    assert "other files" not in done.stdout
    assert "exp" in json.loads((made / "mine.json").read_text())["certificate"]["declined"]
    assert "100 % of" in (made / "badge.svg").read_text()


def test_a_backend_that_is_another_since_is_found(made, tmp_path):
    (tmp_path / "mine.json").write_bytes((made / "mine.json").read_bytes())
    (tmp_path / "mine.py").write_text(BROKEN)
    done = verify(tmp_path, "-b", "./mine.py", "--share", "1")
    assert done.returncode == 1
    assert "neg[x=19,;f32] forward: certified PASS, now WRONG_VALUE" in done.stdout
    assert "./mine.py is made of other files than what was certified." in done.stdout


def change(folder, tmp_path, edit):
    told = json.loads((folder / "mine.json").read_text())
    edit(told)
    (tmp_path / "mine.json").write_text(json.dumps(told))
    return verify(tmp_path)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda told: told["certificate"]["host"].update(processor="another"), "it was changed after it was signed"),
        (lambda told: told.update(public_key=base64.b64encode(bytes(31)).decode()), "is no certificate"),
        (lambda told: told.pop("signature"), "is no certificate"),
        (lambda told: told["certificate"].pop("records"), "is no certificate"),
    ],
)
def test_a_certificate_that_was_changed_is_none(made, tmp_path, edit, said):
    done = change(made, tmp_path, edit)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_who_must_have_signed_it(made):
    signer = verify(made).stdout.split()[2].rstrip(";")
    assert verify(made, "--key", signer).returncode == 0
    done = verify(made, "--key", "0" * 32)
    assert (done.returncode, "expected 00000000000000000000000000000000" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--certify", "c.json"), "--certify FILE and --key FILE go together"),
        (("--certify", "c.json", "--key", "none.pem"), "cannot read the key none.pem: No such file or directory"),
        (("--certify", "c.json", "--key", "mine.py"), "it is no private key in PEM without a password"),
        (("--certify", "c.json", "--key", "rsa.pem"), "holds a key of another kind, expected Ed25519"),
        (("--certify", "c.json", "--key", "key.pem", "-b", "numpy"), "a certificate is of one backend's whole run"),
        (("--certify", "c.json", "--key", "key.pem", "--shard", "1/2"), "a certificate is of one backend's whole run"),
    ],
)
def test_what_cannot_be_signed_is_said_before_anything_runs(made, args, said):
    if "rsa.pem" in args:
        subprocess.run(["openssl", "genpkey", "-algorithm", "x25519", "-out", made / "rsa.pem"], check=True)
    done = opproof(*CALL, *args, "--out", "none", cwd=made)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
    assert not Path(made / "none").exists()
