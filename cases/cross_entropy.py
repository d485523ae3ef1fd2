"""Cases of cross_entropy: each reduction, one class, many classes, saturated scores."""

SMOKE = ["x=7x33;target=7,"]
STANDARD = [
    *(
        f"x={n}x{c};target={n},;reduction={r}{rest}"
        for n, c, r, rest in (
            (1, 5, "mean", ""),
            (5, 1, "sum", ""),
            (6, 9, "none", ";fill=wide"),
            (3, 31, "none", ";layout=x:transposed"),
            (4, 32, "sum", ";layout=offset"),
            (33, 3, "mean", ";fill=wide;layout=sliced"),
            (5, 65, "mean", ";layout=gapped"),
            (5, 63, "none", ";layout=x:broadcast"),
            (8, 11, "none", ";fill=extreme"),
            (8, 12, "mean", ";fill=offset"),
            (4, 13, "sum", ";fill=small"),
            (4, 7, "sum", ";fill=constant"),
            (4, 14, "sum", ";fill=ties"),
            (130, 10, "mean", ""),
            (3, 257, "none", ""),
            (2, 1031, "sum", ";f32"),
        )
    ),
]
FULL = ["x=2x12289;target=2,;reduction=none", "x=65537x3;target=65537,;reduction=sum"]
