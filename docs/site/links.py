"""mkdocs: links to files that are not on the site lead to the repository, whose owner pages call OWNER."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

#: The repository: the one setting that replaces its name on the pages. GitHub Actions says it.
NAME = os.environ.get("GITHUB_REPOSITORY", "OWNER/opproof")
REPOSITORY = f"https://github.com/{NAME}"
_LINK = re.compile(r"\]\((?!https?://|#)([^)\s#]+)((?:#[^)\s]*)?)\)")


def absolute(markdown: str, page: str, docs: Path) -> str:
    """The text of `page`, a path in `docs`, with its links out of `docs` made links into the repository."""

    def link(match: re.Match[str]) -> str:
        path = os.path.normpath(PurePosixPath(page).parent / match[1])
        target = docs / path
        if not path.startswith("..") and target.suffix in {".md", ".png"}:
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{os.path.normpath(PurePosixPath('docs') / path)}{match[2]})"

    return _LINK.sub(link, markdown).replace("OWNER/opproof", NAME)


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    return absolute(markdown, page.file.src_path, Path(config["docs_dir"]))
