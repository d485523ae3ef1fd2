"""Golden vectors in plain Python, without NumPy: softmax for every file of an export, answers as files.

opproof export -o softmax --dtype f32 --mode forward VECTORS
python softmax.py VECTORS ANSWERS
opproof judge VECTORS --answers ANSWERS
"""

import itertools
import json
import math
import struct
import sys
from array import array
from pathlib import Path


def read(path):
    """Tensors of a safetensors file by name, as (shape, numbers): little-endian, as this machine is taken to be."""
    blob = path.read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + length])
    data, codes = blob[8 + length :], {"F32": "f", "F64": "d"}
    return {
        name: array(codes[t["dtype"]], data[slice(*t["data_offsets"])])
        for name, t in header.items()
        if name != "__metadata__" and t["dtype"] in codes
    }


def elements(tensor, stored):
    """Numbers row by row, wherever they lie."""
    for index in itertools.product(*map(range, tensor["shape"])):
        yield stored[tensor.get("offset", 0) + sum(i * s for i, s in zip(index, tensor["strides"], strict=True))]


def softmax(x, shape, dim):
    """Along axis `dim` of a row-major array."""
    n, inner = shape[dim], math.prod(shape[dim:][1:]) if dim != -1 else 1
    y = array("f", bytes(4 * len(x)))
    for start in (o * n * inner + i for o in range(len(x) // max(1, n * inner)) for i in range(inner)):
        where = range(start, start + n * inner, inner)
        top = max(x[k] for k in where)
        powers = [math.nan if math.isnan(x[k] - top) else math.exp(x[k] - top) for k in where]
        total = math.fsum(powers)
        for k, p in zip(where, powers, strict=True):
            y[k] = p / total
    return y


def main(vectors, answers):
    """Answer every record, and count what is out of bounds by the files alone."""
    wrong = 0
    for record in json.loads((vectors / "manifest.json").read_text())["records"]:
        file, (tensor,), (wanted,) = read(vectors / record["file"]), record["inputs"], record["results"]
        x = list(elements(tensor, file[tensor["tensor"]]))
        y = softmax(x, tensor["shape"], record["params"]["dim"])
        right, bound = file[wanted["expected"]], file[wanted["bound"]]
        pairs = zip(y, right, bound, strict=True)
        wrong += sum(not (abs(g - e) <= b or (math.isnan(g) and math.isnan(e))) for g, e, b in pairs)
        entry = {"dtype": "F32", "shape": wanted["shape"], "data_offsets": [0, 4 * len(y)]}
        header = json.dumps({wanted["answer"]: entry}).encode()
        path = answers / record["answer"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(struct.pack("<Q", len(header)) + header + y.tobytes())
    print(f"{wrong} elements out of bounds")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
