"""What a host may not open is told by its number on the disk, which another file may have tomorrow."""

from opproof.backends.worker.sandbox import import_guard


def test_a_number_is_ours_only_while_the_file_lies_where_it_did(tmp_path):
    """Warp was refused files of its own cache, which had got the numbers of files that ours had removed."""
    kept = tmp_path / "entries.sqlite-wal"
    kept.write_bytes(b"expected")
    number = import_guard._find_identity(str(kept), None)
    ours = {number: str(kept)}
    assert import_guard._is_one_of(ours, number)
    (tmp_path / "link").hardlink_to(kept)
    assert import_guard._is_one_of(ours, import_guard._find_identity(str(tmp_path / "link"), None))
    kept.unlink()
    assert not import_guard._is_one_of(ours, number)
    kept.write_bytes(b"another")  # the link has the number still
    assert not import_guard._is_one_of(ours, number)
    assert not import_guard._is_one_of(ours, None)
