"""Cases of einsum: products of matrices in every order of axes, batches, outer products, attention's two products."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["a=7x33;b=33x5;equation=ij,jk->ik", "a=2x5x3x8;b=2x7x3x8;equation=bqhd,bkhd->bhqk"]
STANDARD = [
    "a=2x3x5;b=2x5x7;equation=bij,bjk->kbi",
    "a=4x3x5;b=5x7;equation=bij,jk->ikb",
    "a=2x3x5x7;b=2x7x3x8;equation=bhqk,bkhd->bqhd",
    "a=31x33;b=32x33;equation=ik,jk->ji",
    "a=5x64;b=64x63;equation=ij,jk->ik;fill=wide",
    "a=3x5x97;b=3x97x4;equation=bij,bjk->bik;layout=transposed",
    "a=2x4x9x5;b=2x7x9x5;equation=bqhd,bkhd->bhqk;layout=permuted",
    "a=2x3x5;b=6x5;equation=bnd,ed->bne;layout=sliced",
    "a=3x4x5;b=3x5;equation=bij,bj->bi;layout=gapped",
    "a=9,;b=17,;equation=i,j->ij;layout=offset",
    "a=5x7x4;b=4x6;equation=abi,ij->jba;layout=a:broadcast",
    "a=5x7x4;b=5x4x6;equation=aji,aik->kja;layout=b:broadcast",
    "a=4x9;b=4x9;equation=bi,bi->b;layout=a:transposed",
    "a=5x7;b=7x3;equation=ij,jk->ik;needs=a",
    "a=5x7;b=7x3;equation=ij,jk->ki;needs=b",
    "a=6x6;b=@a;equation=ij,jk->ik",
    "a=4x33;b=33x5;equation=ij,jk->ik;fill=zeros",
    "a=7x13;b=9x13;equation=ik,jk->ij;fill=exact",
    "a=3x5x6;b=3x7x6;equation=bqd,bkd->bkq;fill=signs",
    "a=3x0;b=0x4;equation=ij,jk->ik",
    "a=33x2;b=17x2;equation=ik,jk->ij;fill=special",
    "a=33x3;b=17x3;equation=ik,jk->ij;fill=special",
    "a=2x4099;b=3x4099;equation=ik,jk->ij;f16,bf16",
]
#: Operands of five and six axes, as state-space models have them: batches, terms and free axes in several orders.
SHAPES = [
    "a=2x3x4x2x5;b=2x3x4x2x6;equation=bcknd,bckns->bcnds;f32",
    "a=2x3x2x4x5;b=2x3x2x6x5;equation=bhgqd,bhgkd->bhgqk;f16,f32",
    "a=2x3x4x5x2;b=3x5;equation=abcde,bd->eac;f32",
    "a=2x3;b=4x2x5;equation=ab,cde->ecabd;f32",
    "a=2x3x2x3x2x3;b=3x2x4;equation=abcdef,fcg->bgade;f32",
    "a=128x8;b=8x128;equation=ij,jk->ik;f32",  # whole tiles, of fewer terms than a step has
]
LAID = [
    "a=2x3x4;b=2x4x5;equation=bij,bjk->bik;layout=cropped",
    "a=1x1;b=1x3;equation=ij,jk->ik;layout=a:offset",
    "a=3x1;b=1x1;equation=ij,jk->ik;layout=b:offset",
]
ALIGNED = aligned(
    "a=64x64;b=64x64;equation=ij,jk->ik",
    "a=2x64x64;b=2x64x64;equation=bij,bjk->bik",
    "a=2x8x64x64;b=2x16x64x64;equation=bqhd,bkhd->bhqk",
    "a=64x128;b=64x128;equation=ik,jk->ij",
    "a=2x64x64;b=192x64;equation=bnd,ed->bne",
    "a=16x32;b=32x48;equation=ij,jk->ki",
    "a=64x64;b=128x64;equation=ik,jk->ji",
    "a=64x104;b=104x24;equation=ij,jk->ik;f32",
)
LONG, LONGEST = lengths(
    "a={n}x2;b=2x3;equation=ij,jk->ik",
    "a=3x2;b=2x{n};equation=ij,jk->ik",
    "a=2x{n};b={n}x1;equation=ij,jk->ik",
)
FULL = ["a=4x12289;b=12289x3;equation=ij,jk->ik", "a=65537x3;b=2x3;equation=ik,jk->ij"]
WITHOUT = PRODUCTS
PAIRED = [
    "a=143x79;b=79x137;equation=ij,jk->ik;f16",
    "a=17x32771;b=32771x19;equation=ij,jk->ik;f32",
    "a=65539x2;b=2x1;equation=ij,jk->ik;f32",
]
