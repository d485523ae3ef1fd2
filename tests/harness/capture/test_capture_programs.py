"""Programs of others, of the package transformers: every call but those named is a case, and PyTorch passes them."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers", reason="examples/captures runs models of the package transformers")

from _runs import opproof

from opproof.cases import _file

PROGRAMS = Path(__file__).parents[3] / "examples" / "captures"
#: Operators that a program cannot do without, and the fewest cases of it.
LEAST = {
    "llama_block": ({"linear", "scaled_dot_product_attention", "silu", "embedding", "rsqrt"}, 30),
    "resnet": ({"conv2d", "batch_norm", "relu", "max_pool2d"}, 25),
    "whisper_encoder": ({"conv1d", "gelu", "layer_norm", "linear", "scaled_dot_product_attention"}, 20),
}


@pytest.mark.parametrize("name", LEAST)
def test_a_program_is_captured_and_replayed(name, tmp_path, capsys):
    path = tmp_path / f"{name}.toml"
    status, _, err = opproof(capsys, "capture", "-o", path, PROGRAMS / f"{name}.py")
    assert (status, err) == (0, "")
    entries = _file.read(path).case
    ops, fewest = LEAST[name]
    assert {entry.id.partition("[")[0] for entry in entries} >= ops
    assert len(entries) >= fewest
    call = ("run", "-b", "torch", "--cases", path, "--out", tmp_path / "out", "-j", 1, "--quiet")
    status, out, _ = opproof(capsys, *call)
    assert status == 0, out
