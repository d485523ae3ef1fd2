"""Rows that rope and its backward share, the first tensor's name left open."""

from __future__ import annotations

_YARN = "freq_scale=0.25;ext_factor=1.0;n_ctx_orig=64"
_ROWS = (
    ("3x1x1x6", "1,", "n_dims=6", ""),
    ("2x5x3x32", "5,", "n_dims=32", "layout=transposed"),
    ("2x5x3x34", "5,", "n_dims=32", "fill=wide;layout=sliced"),
    ("3x4x2x66", "4,", "n_dims=20;mode=neox", "layout=permuted"),
    ("2x7x3x64", "7,", "n_dims=64;mode=neox", "layout=gapped"),
    ("1x3x2x63", "3,", "n_dims=24;freq_base=500.0", "layout=transposed"),
    ("2x3x4x9", "3,", "n_dims=6;mode=neox;attn_factor=1.5", "layout=offset"),
    ("2x4x3x12", "4,", "n_dims=8;mode=neox;freq_scale=0.5", "layout=permuted"),
    ("2x4x3x16", "4,", "n_dims=16;ff", ""),
    ("2x5x3x20", "5,", "n_dims=12;mode=neox;ff;freq_scale=0.5", "layout=transposed"),
    ("2x5x3x20", "5,", f"n_dims=16;{_YARN}", ""),
    ("2x5x3x24", "5,", f"n_dims=20;mode=neox;ff;{_YARN};attn_factor=0.8", "layout=sliced"),
    ("2x5x3x32", "5,", f"n_dims=32;{_YARN};beta_fast=8.0;beta_slow=2.0;freq_base=100.0", ""),
    ("2x5x3x32", "5,", "n_dims=32;freq_scale=0.25;ext_factor=1.0;n_ctx_orig=4096;beta_fast=8.0", ""),
    ("2x5x3x21", "5,", "n_dims=20;ff", "layout=permuted;needs=freq_factors"),
    ("2x5x3x33", "5,", "n_dims=20;mode=neox;ff", "layout=gapped;needs=freq_factors"),
    ("2x5x3x20", "5,", "n_dims=16;ff", "layout=offset"),
    ("2x9x3x64", "9,", "n_dims=64;mode=neox;freq_base=1000000.0", "f32,f16,bf16"),
    ("2x5x3x24", "4x5", "n_dims=24;mode=mrope;sections=(4,3,5,0)", "layout=transposed"),
    ("1x6x2x20", "4x6", "n_dims=16;mode=mrope;sections=(2,3,1,2)", "layout=positions:transposed"),
    ("2x5x3x24", "4x5", "n_dims=24;mode=imrope;sections=(4,3,3,2)", ""),
    ("2x4x3x32", "4x4", "n_dims=16;mode=vision;sections=(8,8,0,0)", "layout=permuted"),
    ("2x4x3x24", "4x4", "n_dims=12;mode=vision;sections=(4,3,2,3);ff", ""),
    ("3x4x2x10", "4,", "n_dims=10", "layout=broadcast"),
    ("2x4x2x10", "4,", "n_dims=6", "fill=extreme"),
    ("2x4x2x10", "4,", "n_dims=10", "fill=zeros"),
    ("2x5x3x12", "5,", "n_dims=8", "fill=special"),
    ("2x4x2x10", "4,", "n_dims=6;ff", "fill=small;needs=FIRST"),
    ("0x4x2x8", "4,", "n_dims=8", ""),
    ("2x5x3x34", "5,", "n_dims=34", "inplace=FIRST"),
    ("2x5x3x40", "5,", "n_dims=24;mode=neox;ff", "inplace=FIRST"),
    ("2x4x3x24", "4,", "n_dims=20;mode=neox", "layout=FIRST:permuted;inplace=FIRST"),
    ("2x33x2x128", "33,", "n_dims=128;mode=neox", ""),
    ("1x257x1x4", "257,", "n_dims=4", ""),
    ("1x2x2x1030", "2,", "n_dims=1026;mode=neox", "f32"),
)


def _pairs(params: str) -> int:
    n_dims = int(params.partition("n_dims=")[2].partition(";")[0])
    return n_dims if "mode=vision" in params else n_dims // 2


def rows(first: str) -> list[str]:
    """STANDARD rows: `ff` in the table stands for a tensor of freq_factors."""
    found = []
    for shape, positions, params, rest in _ROWS:
        named = params.split(";")
        factors = [f"freq_factors={_pairs(params)},"] if "ff" in named else []
        parts = [f"{first}={shape}", f"positions={positions}", *factors, *(p for p in named if p != "ff"), rest]
        found.append(";".join(p for p in parts if p).replace("FIRST", first))
    return found


def smoke(first: str) -> list[str]:
    """SMOKE rows: both pairings, both partial."""
    return [f"{first}=2x5x3x12;positions=5,;n_dims=8{mode}" for mode in ("", ";mode=neox")]


def full(first: str) -> list[str]:
    """FULL rows: many tokens, many channels."""
    return [f"{first}=1x65537x1x2;positions=65537,;n_dims=2", f"{first}=1x1x1x12290;positions=1,;n_dims=12288"]
