"""mkdocs: pages that are built, and the built parts of the others; opproof has to be installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

SCRIPT = Path(__file__).resolve().parent.parent / "generate.py"


def _loaded() -> ModuleType:
    """Return docs/generate.py: mkdocs runs a hook without its folder on the path."""
    spec = importlib.util.spec_from_file_location("docs_generate", SCRIPT)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(str(SCRIPT))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generate = _loaded()


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    from mkdocs.structure.files import File

    for place, content in generate.whole_pages().items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    return str(generate.fill(markdown))
