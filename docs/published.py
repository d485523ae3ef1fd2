"""Makes the tree fit to be published: absolute links in README.md, [project.urls] in pyproject.toml. For a checkout
that is built and thrown away: the release workflow calls it.

    python docs/published.py OWNER/NAME v1.2.3
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((?!https?://|#)([^)\s]+)\)")


def readme(text: str, repository: str, tag: str) -> str:
    """The README with links to files of `tag`; pictures as they are, not GitHub's pages about them."""

    def absolute(match: re.Match[str]) -> str:
        picture, name, path = match.groups()
        where = (
            f"https://raw.githubusercontent.com/{repository}/{tag}"
            if picture
            else (f"https://github.com/{repository}/blob/{tag}")
        )
        return f"{picture}[{name}]({where}/{path})"

    return _LINK.sub(absolute, text)


def project(text: str, repository: str, tag: str) -> str:
    """pyproject.toml with the project's addresses. Raises ValueError where it has some."""
    if "[project.urls]" in text:
        raise ValueError("pyproject.toml has [project.urls] already: remove them, they are written here.")
    home = f"https://github.com/{repository}"
    urls = {
        "Homepage": home,
        "Documentation": f"{home}/tree/{tag}/docs",
        "Changelog": f"{home}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
    rows = "\n".join(f'{name} = "{url}"' for name, url in urls.items())
    return text.replace(
        "[project.optional-dependencies]", f"[project.urls]\n{rows}\n\n[project.optional-dependencies]", 1
    )


def version(root: Path) -> str:
    """The version that is built."""
    found = re.search(r'__version__ = "(.*)"', (root / "harness" / "__init__.py").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def main(repository: str, tag: str, root: Path = ROOT) -> int:
    if tag != f"v{version(root)}":
        print(f"the tag is {tag}, expected v{version(root)}: correct it, or __version__ in harness/__init__.py.")
        return 2
    for name, made in (("README.md", readme), ("pyproject.toml", project)):
        path = root / name
        path.write_text(made(path.read_text(encoding="utf-8"), repository, tag), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
