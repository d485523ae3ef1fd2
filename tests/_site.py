"""What builds the site: docs/generate.py, the parts beside it, and docs/readme.py."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))  # it stays: a part imports its neighbours
generate, readme = map(importlib.import_module, ("generate", "readme"))
parts = {
    path.stem: importlib.import_module(f"parts.{path.stem}")
    for path in (DOCS / "parts").glob("*.py")
    if path.stem != "__init__"
}
