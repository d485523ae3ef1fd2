"""Cases of opt_step_adamw: first and later steps, betas, an eps that matters, each input laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN


def _all(shape: str) -> str:
    return f"param={shape};grad={shape};exp_avg={shape};exp_avg_sq={shape}"


SMOKE = [f"{_all('7x33')};lr=0.1", f"{_all('7x33')};lr=0.01;eps=0.1;weight_decay=0.1;step=3"]
STANDARD = [
    f"{_all('7x33')};lr=0.01;eps=0.1;weight_decay=0.1;step=3;inplace=param",
    f"{_all('3x2x65')};lr=0.1;layout=param:transposed;inplace=param",
    f"{_all('9,')};lr=0.1",
    f"{_all('5x31')};lr=0.01;weight_decay=0.1;step=2;fill=wide",
    f"{_all('3x32')};lr=0.5;beta1=0.5;beta2=0.75;step=3;layout=offset",
    f"{_all('2x3x65')};lr=0.001;eps=0.1;step=1000;layout=param:transposed",
    f"{_all('2x3x4x7')};lr=0.1;beta1=0.0;weight_decay=0.0;layout=permuted",
    f"{_all('3x33')};lr=0.2;eps=1.0;weight_decay=0.5;step=7;layout=grad:transposed",
    f"{_all('4x127')};lr=0.1;layout=sliced",
    f"{_all('4x128')};lr=0.01;weight_decay=0.1;step=2;layout=gapped",
    f"{_all('5x63')};lr=0.5;beta1=0.5;beta2=0.75;step=3;layout=grad:broadcast",
    f"{_all('2x257')};lr=0.001;eps=0.1;step=1000;fill=zeros",
    f"{_all('6x11')};lr=0.1;beta1=0.0;weight_decay=0.0;fill=small",
    f"{_all('6x11')};lr=0.8;eps=1.0;weight_decay=0.5;step=7;fill=offset",
    f"{_all('2x97')};lr=0.1;fill=negative",
    f"{_all('5x33')};lr=0.1;weight_decay=0.0;fill=brink",
    f"{_all('1x1x97x1')};lr=0.01;weight_decay=0.1;step=2",
    f"{_all('0d')};lr=0.5;beta1=0.5;beta2=0.75;step=3",
    f"{_all('3x33')};lr=0.01;step=5000;f32",  # long after the corrections of a table of a thousand
    f"{_all('3x0')};lr=0.001;eps=0.1;step=1000",
    f"{_all('5x1031')};lr=0.1;beta1=0.0;weight_decay=0.0",
    f"{_all('127,')};lr=0.5;step=2;fill=extreme",
    f"{_all('3x33')};lr=0.1;step=5;layout=exp_avg:transposed",
    f"{_all('3x33')};lr=0.1;step=5;layout=exp_avg_sq:transposed",
    "param=7x33;grad=7x33;exp_avg=7x33;exp_avg_sq=7x33;lr=0.1;layout=param:broadcast,exp_avg:broadcast,exp_avg_sq:broadcast",
    f"{_all('5x131')};lr=0.5;weight_decay={8 * BETWEEN};eps={8 * BETWEEN};step=2;f16,bf16",
]
LAID = [f"{_all('2x3x4')};lr=0.1;layout=cropped", f"{_all('0d')};lr=0.1;layout=offset"]
LONG, LONGEST = lengths(f"{_all('{n}x1')};lr=0.1", f"{_all('1x{n}')};lr=0.01;weight_decay=0.1")
FULL = [f"{_all('2x12289')};lr=0.1", f"{_all('65537x3')};lr=0.1"]
WITHOUT = {"NaN, inf": "moments are moved by a + w (b - a) or by a sum of two shares, which differ at infinity"}
PAIRED = [
    "param=5x7;grad=5x7;exp_avg=5x7;exp_avg_sq=5x7;lr=0.1;beta1=0.5;beta2=0.75;eps=0.5;weight_decay=0.25;step=3",
]
