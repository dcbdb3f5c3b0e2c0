from __future__ import annotations

import hashlib

from tests.support.image_folder import make_folder
from vitgeom.data import folder_decoding
from vitgeom.data.folder_decoding import decode_all
from vitgeom.data.folder_scan import scan_folder


def test_usable_files_keep_their_order_and_have_their_hash(tmp_path, monkeypatch):
    make_folder(tmp_path, {"a": 5, "b": 4})
    (tmp_path / "a" / "002.png").write_bytes(b"")
    monkeypatch.setattr(folder_decoding, "_BATCH", 4)
    scan, calls = scan_folder(tmp_path), []
    usable, hashes = decode_all(
        tmp_path, scan, threads=2, on_progress=lambda done, total: calls.append((done, total))
    )
    assert [item.path for item in usable] == [
        item.path for item in scan.candidates if item.path != "a/002.png"
    ]
    assert hashes == [hashlib.sha256((tmp_path / item.path).read_bytes()).hexdigest() for item in usable]
    assert [(item.path, item.reason) for item in scan.quarantine] == [("a/002.png", "the file is empty")]
    assert calls == [(4, 9), (8, 9), (9, 9)]
