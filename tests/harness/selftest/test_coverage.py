"""Every operator has a case for every rule that applies to it, and the page of coverage says so."""

import pytest
from _site import parts
from case_rules.rules import RULES

from opproof.cases import Case, cases_of, left_out, short
from opproof.cases._registry import listed_cases
from opproof.reference_ops import load, names

coverage = parts["coverage"]


def rule(name):
    return next(r for r in RULES if r.name == name)


@pytest.mark.parametrize("name", names())
def test_no_applicable_rule_is_missed(name):
    op, cases = load(name), {level: cases_of(name, level) for level in ("standard", "full")}
    missed = {r.name: found for r in RULES if (found := r.missing(op, cases[r.level]))}
    assert not missed


@pytest.mark.parametrize("name", names())
def test_rules_left_out_apply_and_have_no_row(name):
    """A reason for leaving out what does not apply, or what has a row, is idle."""
    op = load(name)
    for left, why in left_out(name).items():
        found = next((r for r in RULES if r.name == left), None) or rule(left.rpartition(" ")[0])
        assert found.applies(op), f"{left} does not apply to {name}"
        parts = set(found.parts(op, cases_of(name, found.level)))
        parts = parts if found.name == left else {p for p in parts if left.rpartition(" ")[2] in p.split()}
        met = {part for case in listed_cases(name, found.level) for part in found.met(case, op)}
        assert not parts <= met, f"{name} has rows for {left}"
        assert len(why.split()) > 3


LONG = {n: f"{n} long" for n in (1025, 4099, 16385, 65537, 131073)}


@pytest.mark.parametrize("name", [name for name in names() if short(name)])
def test_axes_that_end_early_have_no_longer_row(name, monkeypatch):
    """A reason for an axis that no operator owes, or that some row makes longer, is idle."""
    op, cases, ends = load(name), cases_of(name, "full"), short(name)
    monkeypatch.setattr("case_rules.long_axes.short", lambda _: {})
    for axis, end in ends.items():
        owing = [n for n, long in LONG.items() if n > end.longest and axis in rule(long).parts(op, cases)]
        assert owing, f"{axis} of {name} owes nothing"
        met = [n for n in owing if any(axis in rule(LONG[n]).met(case, op) for case in cases_of(name))]
        assert not met, f"{axis} of {name} is {met} long"
        assert len(end.why.split()) > 3


def test_an_axis_that_ends_early_is_not_missed(monkeypatch):
    op, cases = load("conv1d"), cases_of("conv1d")
    assert not rule("4099 long").missing(op, cases)
    monkeypatch.setattr("opproof.cases.conv1d.SHORT", {})
    assert rule("4099 long").missing(op, cases) == ["weight.2"]


def test_a_rule_may_ask_for_several_cases():
    op = load("matmul")
    whole = [c for c in cases_of("matmul") if rule("tiles of 64").matches(c, op)]
    assert len(whole) >= 4
    assert {c.dtype for c in whole} == {"f16"}
    assert rule("tiles of 64").missing(op, whole[:4]) == []
    assert rule("tiles of 64").missing(op, whole[:3]) == [""]


def test_a_rule_may_be_left_out_in_one_dtype(monkeypatch):
    op, cases = load("softmax"), [c for c in cases_of("softmax") if "past" not in c.fill]
    dtypes = rule("past exp").missing(op, cases)
    assert {"f16", "bf16"} <= set(dtypes)
    monkeypatch.setattr("opproof.cases.softmax.WITHOUT", {"past exp f16": "it is small there"}, raising=False)
    assert rule("past exp").missing(op, cases) == [d for d in dtypes if d != "f16"]


def test_a_rule_left_out_is_not_missed(monkeypatch):
    op = load("dot")
    assert not rule("leading").missing(op, cases_of("dot"))
    monkeypatch.setattr("opproof.cases.dot.WITHOUT", {})
    assert rule("leading").missing(op, cases_of("dot")) == [""]


@pytest.mark.parametrize("name", [r.name for r in RULES])
def test_every_rule_can_be_missed(name):
    """Without the cases that meet it, an operator misses the rule."""
    found = rule(name)
    op = next(load(n) for n in names() if found.owed(load(n), cases_of(n, found.level)))
    cases = [c for c in cases_of(op.name, found.level) if not found.matches(c, op)]
    assert found.missing(op, cases) or not found.owed(op, cases)


#: A few operators of every rule that facts decide: what they are taken for must not change unseen.
APPLIES = {
    "> 4096": ("matmul conv1d conv_transpose2d embedding layer_norm kl_div", "add relu amax transpose"),
    "> 12288": ("relu add where sum softmax layer_norm sort", "matmul conv2d permute"),
    "every byte": ("dequantize embedding_quantized matmul_quantized", "quantize embedding"),
    "broadcast": ("add where lerp matmul prelu", "bmm linear silu_back"),
    "ties": ("amax argsort topk max_pool2d minimum", "sum relu"),
    "halves": ("round trunc", "sign relu"),
    "repeated": ("gather add_id nll_loss one_hot", "scatter mse_loss"),
    "resize": ("upsample_bicubic adaptive_avg_pool2d", "col2im window_unpartition as_strided"),
    "leftover": ("conv1d avg_pool2d col2im im2col_back pool_2d_back", "pad adaptive_avg_pool2d"),
    "dilation": ("conv3d max_pool1d im2col", "avg_pool1d"),
    "ceil_mode": ("max_pool1d avg_pool2d", "conv1d"),
    "H, W": ("conv2d upsample_nearest col2im", "conv1d relu pixel_shuffle"),
    "masked": ("softmax_ext scaled_dot_product_attention", "softmax alibi"),
    "offset mean": ("layer_norm var logsumexp mean", "sum amax"),
    "extreme": ("relu quantize where", "one_hot dequantize arange embedding_quantized"),
    "some need": ("add huber_loss concat swiglu pow", "relu embedding nll_loss matmul_quantized"),
    "in place": ("relu add where softmax rope scatter silu_back", "eq sum matmul concat"),
    "in place, strided": ("scale layer_norm set opt_step_sgd", "argmax transpose"),
    "strided results": ("relu matmul topk sum mse_loss", "arange"),
    "partial, strided": ("rope rope_back", "relu"),
    "same shape": ("expand repeat repeat_interleave reshape", "tril"),
    "aligned": ("matmul conv3d wkv7 softmax rope swiglu max_pool2d quantize gather mse_loss", "exp add expand prelu"),
    "tiles of 64": ("matmul bmm linear mul_mat_id scaled_dot_product_attention", "conv2d"),
    "aligned, masked": ("softmax_ext scaled_dot_product_attention", "softmax"),
    "sizes of models": ("softmax_ext layer_norm batch_norm conv3d rope_back wkv6 cross_entropy", "sum relu matmul"),
    "1025 long": ("exp matmul conv2d wkv7", "arange"),
    "attributes": ("conv1d conv_transpose2d max_pool2d col2im im2col_back pool_2d_back", "adaptive_avg_pool2d acc"),
    "channels": ("conv3d avg_pool1d im2col", "col2im conv_transpose1d pool_2d_back ssm_conv"),
    "six axes": ("exp add where sum softmax sort isnan", "matmul conv2d gather rope"),
    "axes apart": ("add where lerp masked_fill eq", "add1 matmul sum"),
    "middle axis": ("sum mean norm prod logsumexp amax", "argmax any softmax"),
    "channels, rows": ("prelu batch_norm group_norm instance_norm cross_entropy", "add matmul conv2d"),
    "special pairs": ("add atan2 logaddexp pow eq floor_divide", "where bitwise_and matmul"),
    "special rows, turned": ("sort argsort topk", "argmax amax max_pool2d"),
    "of all": ("sum mean norm std amax argmin", "prod any logsumexp"),
    "modes, long": ("mse_loss kl_div fft", "embedding_bag gelu norm"),
    "late places": ("argmax argmin", "argsort topk amax"),
    "wide, many": ("softmax layer_norm mse_loss topk all", "relu matmul conv2d cross_entropy_loss_back"),
    "middle": ("sum sort cumsum argmax", "any layer_norm gather"),
    "equal axes": ("transpose concat gather flip", "relu softmax reshape split"),
    "many tensors": ("concat stack split", "add einsum"),
    "vector": ("relu isnan cast", "tril alibi add"),
    "channels, large": ("add eq pow", "where bitwise_and matmul"),
    "windows": ("conv1d max_pool2d conv_transpose1d", "im2col adaptive_avg_pool2d deform_conv2d"),
    "past the plane": ("conv3d avg_pool1d", "conv_transpose2d im2col deform_conv2d"),
    "tiles": ("matmul bmm linear addmm", "einsum addmv dot"),
    "no product": ("addmm addmv baddbmm", "matmul index_add local_response_norm"),
}


@pytest.mark.parametrize("name", APPLIES)
def test_facts_and_signatures_say_where_a_rule_applies(name):
    to, not_to = APPLIES[name]
    level = rule(name).level
    assert [n for n in to.split() if not rule(name).parts(load(n), cases_of(n, level))] == []
    assert [n for n in to.split() if not rule(name).applies(load(n))] == []
    wrong = [n for n in not_to.split() if rule(name).applies(load(n)) and rule(name).parts(load(n), cases_of(n, level))]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "case", "met"),
    [
        ("every byte", "dequantize[data=256x34;type=q8_0;f32;fill=every-byte]", True),
        ("every byte", "dequantize[data=128x68;type=q8_0;f32;fill=every-byte]", True),
        ("every byte", "dequantize[data=255x34;type=q8_0;f32;fill=every-byte]", False),
        ("every byte", "dequantize[data=256x34;type=q8_0;f32]", False),
        ("leading", "softmax[x=2x3x4;dim=-1;f32]", True),
        ("leading", "softmax[x=3x3x4;dim=-1;f32]", False),
        ("Hq, Hk", "scaled_dot_product_attention[query=2x4x3x5;key=2x2x3x5;value=2x2x3x5;enable_gqa=true;f32]", True),
        ("Hq, Hk", "scaled_dot_product_attention[query=2x4x3x5;key=2x4x3x5;value=2x4x3x5;f32]", False),
        ("groups", "conv1d[x=1x4x9;weight=2x2x3;groups=2;stride=2;f32]", True),
        ("groups", "conv1d[x=1x4x8;weight=2x2x3;groups=2;stride=2;f32]", False),
        ("groups", "conv1d[x=1x4x9;weight=2x2x3;groups=2;f32]", False),
        ("leftover", "conv1d[x=1x4x9;weight=2x4x3;stride=4;f32]", True),
        ("leftover", "conv1d[x=1x4x9;weight=2x4x3;stride=3;f32]", False),
        ("permutation", "permute[x=2x3x4;dims=(2,0,1);f32]", True),
        ("permutation", "permute[x=2x3x4;dims=(1,0,2);f32]", False),
        ("permutation", "flip[x=2x3x4;dims=(0,2);f32]", False),
        ("leftover", "conv_transpose1d[x=1x4x9;weight=4x2x3;stride=4;output_padding=1;f32]", True),
        ("leftover", "conv_transpose1d[x=1x4x9;weight=4x2x3;stride=4;f32]", False),
        ("leftover", "col2im[x=1x9x4;output_size=(4,6);kernel_size=3;stride=2;f32]", True),
        ("leftover", "col2im[x=1x9x4;output_size=(5,5);kernel_size=3;stride=2;f32]", False),
        ("> 4096", "sum[x=4099x3;dim=0;f32]", True),
        ("> 4096", "sum[x=4099x3;dim=-1;f32]", False),
        ("> 4096", "sum[x=4099x3;dim=None;f32]", True),
        ("> 4096", "repeat_interleave[x=2x3;repeats=4099;dim=0;f32]", True),
        ("> 4096", "timestep_embedding[timesteps=9,;dim=8200;f32]", True),
        ("> 65535 rows", "alibi[x=1x5x13108x3;f32]", True),
        ("H, W", "conv2d[x=1x1x5x4;weight=1x1x3x2;f32]", True),
        ("H, W", "conv2d[x=1x1x5x4;weight=1x1x2x2;f32]", False),
        ("resize", "upsample_nearest[x=1x1x4x4;size=(6,8);f32]", True),
        ("resize", "upsample_nearest[x=1x1x4x4;size=(8,8);f32]", False),
        ("16-bit sums", "sum[x=1x1031;dim=-1;f16]", True),
        ("16-bit sums", "sum[x=1x1031;dim=-1;f32]", False),
        ("partial, strided", "rope[x=1x2x1x8;positions=2,;n_dims=4;f32;layout=transposed]", False),  # one head
        ("partial, strided", "rope[x=1x2x3x8;positions=2,;n_dims=4;f32;layout=transposed]", True),
        ("in place", "relu[x=3x5;f32;inplace=x]", True),
        ("in place", "relu[x=3x5;f32;into=gapped]", False),
        ("strided results", "relu[x=3x5;f32;into=gapped]", True),
        ("strided results", "relu[x=3x5;f32;inplace=x]", False),
        ("in place, strided", "relu[x=3x5;f32;layout=transposed;inplace=x]", True),
        ("in place, strided", "relu[x=5,;f32;layout=transposed;inplace=x]", False),
        ("in place, strided", "sub[a=3x5;b=3x5;f32;layout=b:gapped;inplace=a]", False),
        ("in place, strided", "sub[a=3x5;b=3x5;f32;layout=b:gapped;inplace=b]", True),
        ("same shape", "expand[x=3x5;shape=(3,5);f32]", True),
        ("same shape", "expand[x=1x5;shape=(3,5);f32]", False),
        ("same shape", "repeat[x=3x5;repeats=(1,1);f32]", True),
        ("aligned, often", "matmul[a=16x48;b=48x32;f16]", True),
        ("aligned, often", "matmul[a=16x48;b=48x32;f32]", False),
        ("aligned, often", "matmul[a=16x47;b=47x32;f16]", False),
        ("aligned, often", "conv2d[x=1x16x5x7;weight=32x16x3x3;f16]", True),
        ("aligned, often", "conv2d[x=1x16x16x16;weight=8x16x3x3;f16]", False),
        ("aligned, often", "rope[x=1x3x2x64;positions=3,;n_dims=64;f16]", True),
        ("tiles of 64", "matmul[a=64x128;b=128x64;f16]", True),
        ("sizes of models", "softmax[x=3x1024;dim=-1;f16]", True),
        ("sizes of models", "softmax[x=3x1024;dim=-1;f32]", False),
        ("sizes of models", "softmax[x=3x1023;dim=-1;f16]", False),
        ("sizes of models", "rope[x=1x3x2x128;positions=3,;n_dims=64;f16]", True),
        ("tiles of 64", "matmul[a=64x48;b=48x64;f16]", False),
        ("1025 long", "softmax[x=2x1025;dim=-1;f32]", True),
        ("1025 long", "softmax[x=65x1025;dim=-1;f32]", False),  # not alone
        ("1025 long", "softmax[x=2x1024;dim=-1;f32]", False),
        ("> 65536", "exp[x=65537,;f32]", True),
        ("> 65536", "exp[x=65536,;f32]", False),
        ("channels", "conv1d[x=1x17x9;weight=2x17x3;f32]", True),
        ("narrow, wide", "conv1d[x=1x2x3;weight=2x2x2;f32]", True),
        ("narrow, wide", "conv1d[x=1x2x9;weight=2x2x3;stride=2;f32]", True),  # all covered
        ("narrow, wide", "conv1d[x=1x2x8;weight=2x2x3;stride=2;f32]", False),
        ("pads", "pad[x=2x3;pad=(1,2);f32]", True),
        ("pads", "pad[x=2x3;pad=(1,1);f32]", False),
        ("six axes", "exp[x=2x3x1x2x3x5;f32;layout=permuted]", True),
        ("six axes", "exp[x=2x3x1x2x3x5;f32]", False),  # one run in memory
        ("six axes", "exp[x=2x3x2x3x5;f32;layout=permuted]", False),
        ("axes apart", "mul[a=2x1x3x1;b=2x4x3x5;f32]", True),
        ("axes apart", "mul[a=2x1x1x5;b=2x4x3x5;f32]", False),  # neighbours
        ("axes apart", "mul[a=3x1;b=2x4x3x5;f32]", False),  # of a lower rank
        ("middle axis", "sum[x=6x6x6;dim=1;f32]", True),
        ("middle axis", "sum[x=6x6x6;dim=1;keepdim=true;f32]", False),
        ("middle axis", "sum[x=6x6x6;dim=0;f32]", False),
        ("middle axis", "sum[x=6x6x5;dim=1;f32]", False),
        ("channels, rows", "prelu[x=2x9x9;weight=9,;f32]", True),
        ("channels, rows", "prelu[x=2x9x8;weight=9,;f32]", False),
        ("channels, rows", "prelu[x=9x9;weight=9,;f32]", False),  # that is "equal sides"
        ("special pairs", "add[a=81,;b=81,;f32;fill=special-pairs]", True),
        ("special pairs", "add[a=81,;b=81,;f32;fill=special]", False),
        ("special rows, turned", "sort[x=25x7;f32;fill=special-rows]", True),
        ("special rows, turned", "sort[x=25x7;descending=true;f32;fill=special]", False),
        ("wide, many", "softmax[x=1031x67;dim=-1;f32]", True),
        ("wide, many", "softmax[x=1031x67;dim=0;f32]", False),
        ("wide, many", "layer_norm[x=1031x64;normalized_shape=(64);f32]", False),
        ("middle", "sum[x=3x1031x5;dim=-2;f32]", True),
        ("middle", "sum[x=3x31x5;dim=1;f32]", False),
        ("equal axes", "gather[x=4x4x4;index=4x4x4;dim=1;f32]", True),
        ("equal axes", "concat[a=3x3;b=3x2;dim=1;f32]", False),
        ("many tensors", "split[x=3x17;sizes=(2,1,4,3,7);dim=1;f32]", True),
        ("many tensors", "stack[a=2x3;b=2x3;c=2x3;d=2x3;f32]", False),
        ("vector", "relu[x=4099,;f32]", True),
        ("vector", "relu[x=1x4099;f32]", False),
        ("channels, large", "add[a=2x65x9x11;b=65x1x1;f32]", True),
        ("channels, large", "add[a=2x65x9x11;b=1x65x1x1;f32]", False),
        ("windows", "conv1d[x=2x3x9;weight=1x3x3;f32]", True),
        ("windows", "conv1d[x=2x3x9;weight=2x3x3;f32]", False),
        ("windows", "conv_transpose1d[x=2x1x7;weight=1x4x3;f32]", True),
        ("windows", "max_pool1d[x=2x3x31;kernel_size=8;f32]", False),
        ("past the plane", "max_pool2d[x=2x3x3x4;kernel_size=(4,3);padding=1;f32]", True),
        ("past the plane", "max_pool2d[x=2x3x3x4;kernel_size=3;padding=1;f32]", False),
        ("tiles", "matmul[a=5x64;b=64x80;f32]", True),
        ("tiles", "linear[x=5x64;weight=80x64;f32]", True),
        ("tiles", "linear[x=9x64;weight=80x64;f32]", False),
        ("tiles", "matmul[a=32x64;b=64x48;f32]", False),
        ("no product", "addmv[x=5,;a=5x9;b=9,;beta=0.5;alpha=0.0;f32]", True),
        ("no product", "addmv[x=5,;a=5x9;b=9,;beta=0.0;alpha=0.0;f32]", False),
        ("of all", "sum[x=263x257;dim=None;f32]", True),
        ("of all", "sum[x=263x257;dim=-1;f32]", False),
        ("of all", "sum[x=67591,;dim=None;f32]", False),  # of one axis
        ("modes, long", "mse_loss[x=3x1031;target=3x1031;f32]", True),
        ("modes, long", "mse_loss[x=3x33;target=3x33;f32]", False),
        ("late places", "argmax[x=3x196613;dim=-1;f32]", True),
        ("late places", "argmax[x=3x65537;dim=-1;f32]", False),  # one place in 65,537 is late
    ],
)
def test_predicates(name, case, met):
    parsed = Case.parse(case)
    assert rule(name).matches(parsed, load(parsed.op)) is met


@pytest.mark.parametrize(
    ("case", "met"),
    [
        ("x=1x2x7x9;weight=2x2x3x3;stride=2", {"stride"}),
        ("x=1x2x7x9;weight=2x2x3x3;stride=(1,2)", {"stride", "stride rises"}),
        ("x=1x2x7x9;weight=2x2x3x3;stride=(2,1);dilation=(1,2)", {"stride falls", "dilation rises"}),
        (
            "x=1x2x7x9;weight=2x2x3x3;stride=(2,1);dilation=(2,1)",
            {"dilation x stride", "stride falls", "dilation falls"},
        ),
        ("x=1x2x7x9;weight=2x2x3x1;padding=1", {"padding", "kernel falls", "kernel of 1 x padding"}),
    ],
)
def test_attributes_of_windows(case, met):
    assert set(rule("attributes").met(Case.parse(f"conv2d[{case};f32]"), load("conv2d"))) == met


def test_what_is_missing_has_a_name():
    """Each new rule names the axis, the class or the pair that no case has."""
    for op, name, kept, missing in (
        ("matmul", "4099 long", lambda c: 4099 not in c.shapes["b"], ["b.first", "b.last"]),
        ("softmax", "aligned", lambda c: c.layout != "offset", ["offset"]),
        (
            "conv2d",
            "attributes",
            lambda c: 1 not in c.shapes["weight"][2:],
            ["kernel of 1 x stride"],
        ),
        ("layer_norm", "sizes of models", lambda c: 1024 not in c.shapes["x"], ["rows of 1024"]),
        (
            "scaled_dot_product_attention",
            "sizes of models",
            lambda c: c.shapes["query"][-1] < 256 and c.shapes["key"][-3] != 8,
            ["32 heads : 8", "heads of 256"],
        ),
    ):
        cases = [c for c in cases_of(op) if kept(c)]
        found = rule(name).missing(load(op), cases)
        assert set(missing) <= set(found), (op, name)
        assert not set(missing) & set(rule(name).missing(load(op), cases_of(op)))


def test_a_tensor_without_a_row_in_place_is_named():
    op = load("sub")
    assert rule("in place").missing(op, [c for c in cases_of("sub") if c.inplace != "b"]) == ["b"]
    assert rule("strided results").missing(op, [c for c in cases_of("sub") if c.into != "gapped"]) == ["gapped"]


def test_the_page_counts_cases_by_rule():
    """Of a few operators: the page has all, and takes long."""
    some = ("add", "argsort", "conv2d", "softmax")
    heads, _, *rows = coverage.counts(some).splitlines()
    assert len(heads.split(" | ")) == len(RULES) + 1
    assert [line.split(" | ")[0] for line in rows] == [f"| {name}" for name in some]
    for line, op in zip(rows, map(load, some), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
        for cell, one in zip(cells, RULES, strict=True):
            cases = cases_of(op.name, one.level)
            owed = one.owed(op, cases)
            assert cell == (f"{sum(one.matches(c, op) for c in cases):,}" if owed else ""), (op.name, one.name)
    assert len(coverage.rules(some).splitlines()) == len(RULES) + 2
    assert "| extreme | " in coverage.left()
    assert "no longer than" in coverage.axes()
