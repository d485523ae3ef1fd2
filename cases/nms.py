"""Cases of nms: thresholds from none to all, equal scores, more places than boxes and fewer, every layout."""

from opproof.cases._rows.long import Limit, lengths

SMOKE = ["boxes=33x4;scores=33,;iou_threshold=0.3;size=9"]
STANDARD = [
    "boxes=17x4;scores=17,;iou_threshold=0.0;size=17",
    "boxes=17x4;scores=17,;iou_threshold=0.5;size=20",
    "boxes=31x4;scores=31,;iou_threshold=0.9;size=5;layout=boxes:transposed",
    "boxes=31x4;scores=31,;iou_threshold=0.2;size=31;layout=boxes:sliced,scores:sliced",
    "boxes=32x4;scores=32,;iou_threshold=0.4;size=16;layout=gapped",
    "boxes=32x4;scores=32,;iou_threshold=0.1;size=16;layout=offset",
    "boxes=65x4;scores=65,;iou_threshold=0.25;size=40;layout=boxes:permuted",
    "boxes=9x4;scores=9,;iou_threshold=0.6;size=4;layout=scores:broadcast",
    "boxes=9x4;scores=9,;iou_threshold=0.6;size=4;layout=boxes:broadcast",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=33;fill=wide",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=33;fill=negative",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=33;fill=positive",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=33;fill=offset;f32",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=9;fill=zeros",
    "boxes=33x4;scores=33,;iou_threshold=0.3;size=9;fill=small;f32,bf16",
    "boxes=1x4;scores=1,;iou_threshold=0.3;size=3",
    "boxes=3x4;scores=3,;iou_threshold=0.3;size=1",
    "boxes=0x4;scores=0,;iou_threshold=0.3;size=2",
    "boxes=131x4;scores=131,;iou_threshold=0.05;size=131",
    "boxes=257x4;scores=257,;iou_threshold=0.5;size=100",
    "boxes=1031x4;scores=1031,;iou_threshold=0.7;size=50",
]
LAID = ["boxes=5x4;scores=5,;iou_threshold=0.3;size=5;layout=cropped"]
LONG, LONGEST = lengths("boxes={n}x4;scores={n},;iou_threshold=0.3;size=7", upto=1025)
SHORT = {
    "boxes.1": Limit(0, "a box has four numbers"),
    "boxes.0": Limit(1025, "every box is held against every other"),
    "scores.0": Limit(1025, "every box is held against every other"),
}
WITHOUT = {
    "NaN, inf": "where a box lies that ends at NaN is no rule that libraries share",
    "special rows": "where a box lies that ends at NaN is no rule that libraries share",
    "extreme": "areas of such boxes are infinite",
    "leading": "it has at most two axes",
    "aligned": "a box has four numbers, and no tile covers them",
    "aligned, often": "a box has four numbers, and no tile covers them",
}
