"""The candidate's own process: a file is loaded, requests come from standard input, replies go where output went."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from opproof.core.system import import_from, spec_of


def serve(file: str, name: str, how: str) -> None:
    """Answer until the input ends. `how`: JSON of the arguments beside tensors, and of a class's own."""
    import torch

    from opproof.core.system import keep_what_is_freed
    from opproof.core.verdicts import Verdict
    from opproof.harness.check.call import wire
    from opproof.harness.check.call.array_libraries import with_tensors
    from opproof.harness.check.call.exchange import Reply
    from opproof.harness.check.call.other_calls import ReusedBuffers
    from opproof.harness.check.call.perform import perform
    from opproof.harness.check.call.seeds import with_seed
    from opproof.harness.check.call.side_effects import SideEffect, record_methods
    from opproof.harness.check.call.subject import Lasting

    keep_what_is_freed()
    record_methods(torch)  # before the candidate can replace one
    hooks = list_hooks()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a candidate prints is no reply
    given = json.loads(how)
    error, shared, own, candidate = "", "", dict[str, Any](), None
    try:
        if given["withheld"]:
            forbid_file(Path(given["withheld"]))
        torch.manual_seed(given["seed"])
        module = load_module(Path(file))
        own, subject = vars(module), getattr(module, name)
        if given["init"] is not None:
            made = [subject(*(wire.from_json(v, own) for v in given["init"])) for _ in range(2)]
            subject, shared = made[0], describe_shared_weights(*made)
        subject = subject.eval() if given["evaluation"] else subject
        subject = with_seed(subject) if given["sampler"] else subject
        candidate = Lasting(with_tensors(subject), _decode_form(given, own), given["lasts"])
    except BaseException as problem:
        error = f"{type(problem).__name__}: {problem}"
    kept = ReusedBuffers()
    while True:
        try:
            request = wire.read_request(sys.stdin.buffer, own)
        except EOFError:
            return
        if candidate is None:
            reply = Reply(error=error)
        else:
            try:
                before = len(hooks)
                reply = perform(candidate.call_for(request), request, kept=kept)
                if said := shared or "".join(_HOOKED.format(hook) for hook in hooks[before : before + 1]):
                    reply = replace(reply, harm=SideEffect(Verdict.INPUT_CHANGED, said))
            except BaseException as problem:
                reply = Reply(error=f"{type(problem).__name__}: {problem}")
        wire.write_reply(answers, reply)


def _decode_form(given: dict[str, Any], own: dict[str, Any]) -> Any:
    """What the tensors of a call are. Raises LookupError where an argument is of a class that nobody here has."""
    from torch.utils._pytree import treespec_loads

    from opproof.harness.check.call import user_classes, wire
    from opproof.harness.check.call.subject import Arguments, Form

    user_classes.look_into_named(given["spec"], own)
    rest = tuple(wire.from_json(v, own) for v in given["rest"])
    arguments = Arguments(rest, tuple(given["places"]), treespec_loads(given["spec"]), tuple(given["keywords"]))
    return Form(arguments, given["count"], tuple(given["parameters"]), tuple(given["buffers"]))


_HOOKED = "{} was called: what it sets runs at each call that follows, and may make there what was to be made"


def list_hooks() -> list[str]:
    """The hooks that see every call of this process, by name, as they are set from now on."""
    some = list[str]()
    sys.addaudithook(lambda event, _: some.append(event) if event in ("sys.setprofile", "sys.settrace") else None)
    return some


def describe_shared_weights(first: Any, second: Any) -> str:
    """What is said of two modules that train each other's weights; empty where they share none."""
    places = {p.untyped_storage().data_ptr() for p in first.parameters() if p.numel()}
    names = (name for name, p in second.named_parameters() if p.untyped_storage().data_ptr() in places)
    name = next(names, "")
    return f"two {type(first).__name__} share the weight {name}: who trains one trains the other" if name else ""


#: Events of `sys.addaudithook` that read a file, give it another name, or start a program that may.
_READING = frozenset(("open", "os.rename", "os.link", "os.symlink", "os.truncate", "os.remove", "os.chmod"))
_STARTING = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.spawn"))


def forbid_file(file: Path) -> None:
    """Let this process open the file no more, as a module neither: who calls the reference is no candidate."""
    from opproof.backends.worker.sandbox.import_guard import with_compiled

    places = with_compiled([file.resolve()])

    def told(event: str, given: tuple[Any, ...]) -> None:
        if event in _READING and isinstance(given[0], str | bytes):
            name = os.fsdecode(given[0])
            moved = event == "os.rename" and Path(os.path.realpath(name)) in places[0].parents
            refused = moved or any(_are_one(name, place) for place in places)
        else:
            refused = event in _STARTING and file.name in str(given)
        if refused:
            raise PermissionError(f"{file.name} is the reference: a candidate may not read it")

    sys.addaudithook(told)


def _are_one(name: str, place: Path) -> bool:
    """Whether a name leads to the file, by links of either kind too."""
    try:
        return place.samefile(name)
    except (OSError, ValueError):  # one of them is not there
        return False


def load_module(file: Path) -> Any:
    """A Python file as a module, its folder importable."""
    import_from(file.resolve().parent)
    spec = spec_of(f"opproof_checked_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    serve(*sys.argv[1:])
