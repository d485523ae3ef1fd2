"""Judge every kernel of the corpus, and compare each verdict with the adjudicated one; exit status 1 where one differs.

python examples/corpus/run.py [--only liger-kernel/softmax] [--jobs 2] [--seconds 2] [--json found.json]
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import re
import statistics
import sys
import time
from multiprocessing import connection
from pathlib import Path

import activations
import attention
import interpreter
import losses
import norms
import sequences
import torch
import vision
from kernel import KERNELS, RIGHT, read_pins

import opproof

#: The files whose references are the corpus.
SUBJECTS = (activations, norms, losses, attention, sequences, vision)
#: Seconds after which a kernel is given up, whatever it does.
MAX_SECONDS = 300.0
#: What a kernel that is right may be off by at the given inputs, as a part of the largest element of float64's result.
MAX_ERROR = 1e-4
#: Columns of the table, each with its width.
COLUMNS = (
    ("kernel", 46),
    ("verdict", 40),
    ("adjudicated", 14),
    ("seconds", 8),
    ("records", 8),
    ("variants", 9),
    ("error", 8),
)


def define_operators():
    """Name the operators of torchvision whose binaries do not load beside PyTorch's CPU build: no entry calls them."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):
            library.define(f"{name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
    return library


def measure_error(entry, candidate):
    """How far values and gradients are from float64's at the given inputs, in eager PyTorch and nothing else."""
    given = take_inputs(entry.inputs)
    wide = [t.double() if is_float(t) else t for t in given]
    constant = entry.options.get("grads", {})
    needs = [
        is_float(t) and name not in constant and not bool(((t == 0) | (t == 1)).all())  # labels are no variables
        for t, name in zip(given, list_names(entry.like), strict=False)
    ]
    if not entry.options.get("gradients", True):
        needs = [False] * len(given)
    pairs = zip(differentiate(candidate, given, needs), differentiate(entry.like, wide, needs), strict=True)
    return max(measure_distance(came, true) for came, true in pairs)


def is_float(value):
    """Whether it is a tensor of floats."""
    return torch.is_tensor(value) and value.is_floating_point()


def differentiate(function, tensors, needs):
    """Outputs, and the gradients of the tensors that need one, by cotangents that are no input's numbers."""
    copies = [t.clone().requires_grad_(need) if is_float(t) else t for t, need in zip(tensors, needs, strict=False)]
    ys = flatten(function(*copies))
    some = [y for y in ys if y.requires_grad]
    g = torch.Generator().manual_seed(1_000)
    cotangents = [torch.randn(y.shape, generator=g).to(y.dtype) for y in some]
    leaves = [t for t, need in zip(copies, needs, strict=False) if need]
    values = [y.detach().clone() for y in ys]
    gradients = torch.autograd.grad(some, leaves, cotangents, materialize_grads=True) if some and leaves else ()
    return [*values, *gradients]


def measure_distance(came, true):
    """The largest difference as a part of the largest element that is finite."""
    came, true = came.detach().double(), true.detach().double()
    apart = torch.where(came == true, 0.0, (came - true).abs()).nan_to_num(torch.inf)
    return float(apart.max() / true[true.isfinite()].abs().max().clamp_min(1e-30)) if apart.numel() else 0.0


def take_inputs(inputs, seed=0):
    """The tensors of a list of shapes, or of a function."""
    if callable(inputs):
        return inputs(seed)
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(some, generator=g) if isinstance(some, tuple) else some for some in inputs]


def flatten(ys):
    """The tensors of a result."""
    return [y for y in (ys if isinstance(ys, list | tuple) else (ys,)) if torch.is_tensor(y)]


def list_names(function):
    """The names of a function's arguments."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def judge(entry, seconds):
    """What `check` says of a kernel, and what is measured without it, in a few fields."""
    start = time.process_time()
    torch.set_num_threads(1)
    candidate = entry.make_candidate()
    report = opproof.check(
        candidate, like=entry.like, inputs=entry.inputs, raises=False, **{"seconds": seconds, **entry.options}
    )
    found = {
        "verdict": describe_verdict(report), "text": repr(report), "seconds": time.process_time() - start,
        "records": len(report.results), "tried": report.asked, "planned": report.asked + report.left, "shown": None,
        "error": None,
    }  # fmt: skip
    if entry.shown is not None:
        found["shown"] = measure_distance(*entry.shown(candidate))
    elif entry.verdict == RIGHT:
        found["error"] = measure_error(entry, candidate)
    return found


def describe_verdict(report):
    """The causes of failure in the order of their names; RIGHT where all is well; else why nothing is proved."""
    if report.failures:
        return " ".join(sorted(report.failures))
    return RIGHT if report.ok else "UNPROVED"


def is_as_adjudicated(entry, found):
    """Whether the verdict is the one that the entry has, for its reason, and float64 shows the same.

    What is wrong may fail in other ways besides, where there was time for more variants.
    """
    if entry.verdict == RIGHT:
        return found["verdict"] == RIGHT and found["error"] <= MAX_ERROR
    same = set(entry.verdict.split()) <= set(found["verdict"].split())
    return same and re.search(entry.says, found["text"]) is not None and found["shown"] > MAX_ERROR


def judge_and_send(entry, seconds, sender):
    """Send what was found, or the error that ended it."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = judge(entry, seconds)
    except Exception as e:
        found = describe_end(f"{type(e).__name__}: {e}")
    sender.send(found)


def describe_end(why):
    """The fields of a check that came to no report."""
    nothing = dict.fromkeys(("seconds", "records", "tried", "planned"), 0)
    return {"verdict": "NO_REPORT", "text": why, "shown": None, "error": None, **nothing}


def judge_all(entries, jobs, seconds):
    """Yield each entry with what was found; every one in a process of its own, for a kernel can crash."""
    context = multiprocessing.get_context("fork")
    waiting, running = list(entries), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            receiver, sender = context.Pipe(duplex=False)
            entry = waiting.pop(0)
            process = context.Process(target=judge_and_send, args=(entry, seconds, sender))
            process.start()
            sender.close()
            running[receiver] = entry, process, time.monotonic() + MAX_SECONDS
        until = min(end for _, _, end in running.values())
        ready = connection.wait(running, timeout=max(0.0, until - time.monotonic()))
        late = [r for r, (_, _, end) in running.items() if r not in ready and end <= time.monotonic()]
        for receiver in [*ready, *late]:
            entry, process, _ = running.pop(receiver)
            try:
                found = describe_end(f"no report after {MAX_SECONDS:g} s") if receiver in late else receiver.recv()
            except EOFError:
                process.join()
                found = describe_end(f"the process ended with exit status {process.exitcode}")
            process.kill()
            process.join()
            yield entry, found


def format_row(*cells):
    """A line of the table."""
    return "  ".join(f"{cell!s:{width}}" for cell, (_, width) in zip(cells, COLUMNS, strict=True)).rstrip()


def format_found(entry, found):
    """The line of a kernel."""
    error = found["shown"] if found["shown"] is not None else found["error"]
    return format_row(
        entry.title, found["verdict"], "as adjudicated" if is_as_adjudicated(entry, found) else "OTHERWISE",
        f"{found['seconds']:.1f}", found["records"], f"{found['tried']}/{found['planned']}",
        "" if error is None else f"{error:.1e}",
    )  # fmt: skip


def run(entries, jobs, seconds, file=None):
    """Judge, print the table, keep what was found in a file, and return the entries whose verdict is another."""
    print(format_row(*(name for name, _ in COLUMNS)), flush=True)
    found, otherwise = {}, []
    for entry, one in judge_all(entries, jobs, seconds):
        found[entry.title] = one
        print(format_found(entry, one), flush=True)
        if not is_as_adjudicated(entry, one):
            otherwise.append(entry)
        if file is not None:
            file.write_text(json.dumps(found, indent=1), encoding="utf-8")
    for entry in otherwise:
        one = found[entry.title]
        print(f"\n{entry.title}: expected {entry.verdict} ({entry.why}); shown {one['shown']}, error {one['error']}")
        print(one["text"])
    times = [one["seconds"] for one in found.values()]
    print(
        f"\n{len(found) - len(otherwise)} of {len(found)} verdicts as adjudicated; "
        f"seconds: median {statistics.median(times):.1f}, largest {max(times):.1f}"
    )
    return otherwise


def main():
    """Judge what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="titles, or beginnings of them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor time for each kernel's variants")
    parser.add_argument("--json", type=Path, metavar="FILE")
    wish = parser.parse_args()
    some = [e for t, e in KERNELS.items() if not wish.only or t.startswith(tuple(wish.only))]
    if not some:
        parser.error(f"no kernel begins with {' or '.join(wish.only)}.")
    interpreter.mend()
    library = define_operators()
    for entry in some:  # in this process, of which those that judge are copies
        entry.find()
    print(", ".join(f"{name} {version}" for name, version in read_pins().items()))
    otherwise = run(some, wish.jobs, wish.seconds, wish.json)
    del library
    sys.exit(1 if otherwise else 0)


if __name__ == "__main__":
    main()
