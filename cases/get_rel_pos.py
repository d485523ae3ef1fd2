"""Cases of get_rel_pos: as many queries as keys (all that ggml has), more of either, one."""

from opproof.cases._rows.long import lengths

SMOKE = ["x=13x8;q_size=7;k_size=7"]
STANDARD = [
    "x=1x9;q_size=1;k_size=1",
    "x=5x31;q_size=3;k_size=3;fill=wide",
    "x=9x32;q_size=5;k_size=5;layout=transposed",
    "x=17x33;q_size=9;k_size=9;layout=sliced",
    "x=7x65;q_size=4;k_size=4;layout=gapped",
    "x=7x63;q_size=4;k_size=4;layout=offset",
    "x=7x6;q_size=4;k_size=4;layout=broadcast",
    "x=8x5;q_size=3;k_size=6",
    "x=8x5;q_size=6;k_size=3;layout=transposed",
    "x=9x4;q_size=1;k_size=9",
    "x=9x4;q_size=9;k_size=1",
    "x=11x3;q_size=6;k_size=6;fill=exact",
    "x=11x3;q_size=6;k_size=6;fill=signs",
    "x=11x3;q_size=6;k_size=6;fill=extreme",
    "x=11x3;q_size=6;k_size=6;fill=special",
    "x=11x3;q_size=6;k_size=6;fill=zeros",
    "x=27x1;q_size=14;k_size=14",
    "x=65x2;q_size=33;k_size=33",
    "x=3x1031;q_size=2;k_size=2",
    "x=9x97;q_size=5;k_size=5",
    "x=5x0;q_size=3;k_size=3",
]
LONG, LONGEST = lengths("x={n}x2;q_size=1;k_size={n}", "x=3x{n};q_size=2;k_size=2")
FULL = ["x=3x12289;q_size=2;k_size=2", "x=511x1;q_size=256;k_size=256"]
WITHOUT = {"leading": "a table has two axes"}
