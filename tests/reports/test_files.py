"""A report is written whole or not at all, and what cannot be written is one sentence."""

import os
import stat
from pathlib import Path

import pytest

from opproof.core.errors import UsageError
from opproof.reports.files import replacing, write

FULL = Path("/dev/full")


def test_a_file_is_made_with_its_folders(tmp_path):
    file = tmp_path / "a" / "b" / "report.md"
    write(file, "é\n")
    assert file.read_bytes() == "é\n".encode()
    assert [p.name for p in file.parent.iterdir()] == ["report.md"]


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), ValueError("a bug"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(tmp_path, fault):
    file = tmp_path / "report.md"
    write(file, "old")
    expected = UsageError if isinstance(fault, OSError) else type(fault)

    def fail():
        with replacing(file) as fresh:
            fresh.write_text("half", encoding="utf-8")
            raise fault

    with pytest.raises(expected) as raised:
        fail()
    assert file.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]
    if expected is UsageError:
        assert str(raised.value) == f"cannot write {file}: No space left on device; give another file."


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_sentence():
    with pytest.raises(UsageError, match="^cannot write /dev/full: No space left on device; give another file.$"):
        write(FULL, "x" * 10_000)


def test_a_folder_that_is_gone_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot write .*: Not a directory; give another file."):
        write(tmp_path / "file" / "report.md", "x")
    with pytest.raises(UsageError, match="cannot write .*: Is a directory"):
        write(tmp_path, "x")
    folder = tmp_path / "gone"

    def remove_and_write():
        with replacing(folder / "r") as fresh:
            folder.rmdir()
            fresh.write_text("x", encoding="utf-8")

    with pytest.raises(UsageError, match="cannot write .*: No such file or directory"):
        remove_and_write()


def test_a_link_and_the_rights_of_a_file_stay(tmp_path):
    file, link = tmp_path / "real.md", tmp_path / "link.md"
    write(file, "old")
    file.chmod(0o640)
    link.symlink_to(file)
    write(link, "new")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_is_no_ordinary_file_is_written_in_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_lone_surrogate_is_made_visible(tmp_path):
    write(tmp_path / "r", "bad \udc80")
    assert (tmp_path / "r").read_text(encoding="utf-8") == "bad \\udc80"
