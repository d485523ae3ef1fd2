"""A program of the exec protocol that is wrong when it is told to compute with 8 threads; with `untold`, never told."""

import json
import sys
from pathlib import Path

# PYTHONSAFEPATH, which tox sets, keeps a program's own folder from the path.
sys.path.insert(0, str(Path(__file__).parent))

from _exec_backend import HONEST, encode, read, send, value


def main(told):
    """Answer until the requests end."""
    while True:
        metadata, tensors = read()
        if metadata["kind"] == "hello":
            said, found = {"kind": "hello", "name": "threads", **({"threads": "true"} if told else {})}, {}
        else:
            params = {k: value(v) for k, v in json.loads(metadata["params"]).items()}
            inputs = [tensors.get(f"input.{i}") for i in range(int(metadata["inputs"]))]
            (y,) = HONEST.forward(metadata["op"], inputs, params)
            said, found = {"kind": "outputs"}, {"output.0": y + (metadata.get("threads") == "8")}
        send(encode({**said, "id": metadata["id"]}, found))


if __name__ == "__main__":
    main(sys.argv[1] != "untold")
