"""A program of the exec protocol that computes in place, and does wrong what its argument names.

Run as a command: python _in_place_program.py FAULT; "" is honest.
"""

import json
import sys
from pathlib import Path

import numpy as np

# PYTHONSAFEPATH, which tox sets, keeps a program's own folder from the path.
sys.path.insert(0, str(Path(__file__).parent))

from _exec_backend import HONEST, encode, read, send, value


def answer(metadata, tensors, fault):
    """Metadata and tensors of the answer to a forward or vjp."""
    params = {k: value(v) for k, v in json.loads(metadata["params"]).items()}
    inputs = [tensors.get(f"input.{i}") for i in range(int(metadata["inputs"]))]
    where = int(metadata["in_place"]) if "in_place" in metadata else None
    if metadata["kind"] == "forward":
        results = over(inputs, where, fault, lambda: HONEST.forward(metadata["op"], inputs, params))
        name, overwritten = "output", f"input.{where}"
    else:
        cotangents = [tensors.get(f"cotangent.{i}") for i in range(int(metadata["cotangents"]))]
        needs = json.loads(metadata["needs"])

        def compute():
            return HONEST.vjp(metadata["op"], inputs, params, cotangents, needs)

        results = gradients(cotangents, where, fault, compute)
        name, overwritten = "gradient", "cotangent.0"
    found = {f"{name}.{i}": y for i, y in enumerate(results) if y is not None}
    if where is None:
        return {"kind": f"{name}s"}, found
    if fault == "another":
        inputs[0][...] = 0
    kept = {n: t for n, t in tensors.items() if n != overwritten}
    if fault == "silent":
        kept = {}
    if fault == "reshaped":
        kept = {n: t.ravel() for n, t in kept.items()}
    return {"kind": f"{name}s"}, {**found, **kept}


def over(inputs, where, fault, compute):
    """The outputs, the first in the memory of an input."""
    outputs = compute()
    if where is not None:
        if fault != "stale":
            inputs[where][...] = outputs[0]
        outputs[0] = inputs[where]
    return outputs


def gradients(cotangents, where, fault, compute):
    """The gradients, one in the memory of the cotangent."""
    found = compute()
    if where is not None:
        cotangents[0][...] = found[where]
        if fault == "late":
            found = compute()  # the others, of what was written
        found[where] = cotangents[0].copy() if fault != "late" else cotangents[0]
    return found


def main(fault):
    """Answer until the requests end."""
    while True:
        metadata, tensors = read()
        tensors = {name: np.array(t) for name, t in tensors.items()}
        if metadata["kind"] == "hello":
            said, found = {"kind": "hello", "name": "in place", "destinations": '["in place"]'}, {}
            if fault == "undeclared":
                del said["destinations"]
            if fault.startswith("hello:"):
                said["destinations"] = fault.removeprefix("hello:")
        else:
            said, found = answer(metadata, tensors, fault)
        send(encode({**said, "id": metadata["id"]}, found))


if __name__ == "__main__":
    main(sys.argv[1])
