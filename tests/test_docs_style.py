"""Pages are read by people: a sentence has one thought, a page has an end, and files that docstrings name exist."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("backends", "cases", "core", "harness", "reference_ops", "reports", "src")
#: Words of a sentence, of a page, and of all pages in git: the most of each.
MAX_SENTENCE_WORDS = 45
MAX_PAGE_WORDS = 4_000
MAX_WORDS_IN_GIT = 60_000
MAX_README_LINES = 220
MAX_UNRELEASED_LINES = 30
#: What a fragment of the changelog is called.
FRAGMENT = re.compile(r"(\+[\w-]+|\d+)\.(feature|bugfix|doc|removal|misc)\.md")
#: Files of libraries, and of backends that look for a way round, which docstrings name too.
ELSEWHERE = {"logging.py", "mixin/elementwise.py", "mixin/gradient.py", "op.py"}
#: A page that a program writes says so; its sentences come from there.
GENERATED = re.compile(r"do not edit|^Written by `|^`python (?:benchmarks|docs|tests)/", re.MULTILINE)


def in_git(suffix: str) -> list[Path]:
    """Files of the repository that git knows."""
    call = ["git", "ls-files", "--cached", "--others", "--exclude-standard", f"*{suffix}"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a clone: git says which files are part of it")
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def pages() -> list[Path]:
    """README, CONTRIBUTING and their like, and docs/."""
    return [p for p in in_git(".md") if p.parent == ROOT or p.is_relative_to(ROOT / "docs")]


def written(text: str) -> bool:
    """Whether people write a page of this text."""
    return GENERATED.search(text[:1200]) is None


def sentences(text: str) -> Iterator[str]:
    """Sentences of a page: of paragraphs, items of lists, and cells of tables. Code counts as a word."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*(?:\n[^`\n]+)?`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )|\n(?=#)", text):
        if block.startswith("    "):
            continue  # code
        table = block.lstrip().startswith("|")
        for part in re.split(r"[|\n]", block) if table else [block]:
            yield from (" ".join(s.split()) for s in re.split(r"(?<=[.!?])[\")*_]*\s+", part))


def words(text: str) -> int:
    """How many words, as `wc -w` counts them."""
    return len(text.split())


def long_sentences(text: str) -> list[str]:
    """Sentences of more words than one thought takes."""
    return [s for s in sentences(text) if len(re.findall(r"\w[\w'’.,/-]*", s)) > MAX_SENTENCE_WORDS]


def missing_files(source: str, known: set[str]) -> list[str]:
    """Names of Python files in docstrings and comments of modules, where no file has such a name."""
    tree = ast.parse(source)
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, holders)]
    named = {name for text in texts for name in re.findall(r"(?<![\w*/.<{-])(?:\w[\w-]*/)*\w[\w-]*\.py\b", text)}
    named = {name for name in named - ELSEWHERE if not Path(name).stem.isupper()}
    return sorted(name for name in named if not any(k == name or k.endswith(f"/{name}") for k in known))


def first_sentence(source: str) -> str:
    """The first sentence of a module's docstring."""
    return re.split(r"(?<=[.])\s", ast.get_docstring(ast.parse(source)) or "", maxsplit=1)[0]


def repeated(firsts: dict[str, str]) -> list[str]:
    """Files whose first sentence is another's too."""
    known: dict[str, list[str]] = {}
    for name, sentence in firsts.items():
        known.setdefault(sentence.rstrip("."), []).append(name)
    return sorted(name for names in known.values() if len(names) > 1 for name in names)


def test_a_sentence_has_one_thought():
    found = {
        p: long_sentences(p.read_text(encoding="utf-8")) for p in pages() if written(p.read_text(encoding="utf-8"))
    }
    assert [f"{p.relative_to(ROOT)}: {s}" for p, all_long in found.items() for s in all_long] == []


def test_no_page_is_longer_than_one_sitting():
    lengths = {str(p.relative_to(ROOT)): words(p.read_text(encoding="utf-8")) for p in pages()}
    assert {name: count for name, count in lengths.items() if count > MAX_PAGE_WORDS} == {}


def test_all_pages_together_can_be_read():
    assert sum(words(p.read_text(encoding="utf-8")) for p in pages()) <= MAX_WORDS_IN_GIT


def test_files_that_docstrings_name_exist():
    every = in_git(".py")
    known = {str(p.relative_to(ROOT)) for p in every}
    package = [p for p in every if p.relative_to(ROOT).parts[0] in PACKAGES]
    found = {str(p.relative_to(ROOT)): missing_files(p.read_text(encoding="utf-8"), known) for p in package}
    assert {name: gone for name, gone in found.items() if gone} == {}


def test_first_sentences_say_what_only_a_file_is():
    package = [p for p in in_git(".py") if p.relative_to(ROOT).parts[0] in PACKAGES]
    firsts = {str(p.relative_to(ROOT)): first_sentence(p.read_text(encoding="utf-8")) for p in package}
    firsts = {n: s for n, s in firsts.items() if not n.startswith(("cases/", "reference_ops/")) and s}
    assert repeated(firsts) == []


def test_a_repeated_first_sentence_is_noticed():
    firsts = {"a.py": first_sentence('"""Same.\n\nMore."""'), "b.py": first_sentence('"""Same."""'), "c.py": "Other."}
    assert repeated(firsts) == ["a.py", "b.py"]


def test_a_long_sentence_is_noticed():
    long, short = "One " + "more " * 45 + "word.", "One " + "more " * 40 + "word."
    assert long_sentences(f"# A page\n\nShort. {long}\n") == [long]
    assert long_sentences(f"- {short}\n- {short} {short}\n\n| {short} | {short} |\n") == []
    assert long_sentences(f"```sh\n{long}\n```\n\n    {long}\n\n`{long}`\n") == []
    assert len(long_sentences(f"| a | {long} |\n| --- | --- |\n1. {long}\n")) == 2


def test_a_long_page_and_too_many_words_are_noticed(monkeypatch, tmp_path):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("word " * (MAX_WORDS_IN_GIT + 1), encoding="utf-8")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    monkeypatch.setattr(f"{__name__}.in_git", lambda suffix: sorted(tmp_path.rglob(f"*{suffix}")))
    for test in (test_no_page_is_longer_than_one_sitting, test_all_pages_together_can_be_read):
        with pytest.raises(AssertionError):
            test()


def test_a_file_that_is_gone_is_noticed():
    first = '"""As run/gone.py does, and here.py, *.py, x/{name}.py and cases/NAME.py."""'
    source = f'{first}\n\ndef f():\n    """See there.py."""\n'
    assert missing_files(source, {"harness/run/here.py"}) == ["run/gone.py", "there.py"]
    assert missing_files(source, {"harness/run/gone.py", "here.py", "there.py"}) == []


def test_the_readme_fits_a_few_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_README_LINES


def test_what_is_unreleased_is_short():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = text.partition("\n## ")[2].partition("\n## ")[0]
    assert len(newest.splitlines()) <= MAX_UNRELEASED_LINES
    strays = [p.name for p in (ROOT / "changes").iterdir() if not FRAGMENT.fullmatch(p.name)]
    assert strays == ["README.md"]
