"""What every place for bytes must do, whether it is a folder, a bucket or memory."""

from __future__ import annotations

import pytest

from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.store.failures import MissingObject
from vitgeom.store.uri import Root


class PlaceContract:
    """Inherit and provide the fixture ``root``: an empty place."""

    def test_what_was_written_is_read(self, root: Root) -> None:
        data = bytes(range(256)) * 100
        root.write_bytes("a/b c/ä%#.bin", data)
        assert root.read_bytes("a/b c/ä%#.bin") == data

    def test_an_empty_object_is_an_object(self, root: Root) -> None:
        root.write_bytes("empty", b"")
        assert root.get("empty") == b""
        assert root.exists("empty")

    def test_writing_again_replaces_the_whole_object(self, root: Root) -> None:
        root.write_bytes("x", b"a long first version")
        root.write_bytes("x", b"short")
        assert root.read_bytes("x") == b"short"

    def test_a_missing_object_is_none_or_an_error_that_names_it(self, root: Root) -> None:
        assert root.get("not/there") is None
        assert not root.exists("not/there")
        with pytest.raises(MissingObject, match="not/there: it does not exist"):
            root.read_bytes("not/there")

    def test_an_object_is_not_a_folder(self, root: Root) -> None:
        root.write_bytes("folder/object", b"1")
        assert not root.exists("folder")

    def test_listing_gives_sorted_direct_names(self, root: Root) -> None:
        for key in ("b", "a/2", "a/1", "a/c/d"):
            root.write_bytes(key, b"1")
        assert root.list() == ["a", "b"]
        assert root.list("a") == ["1", "2", "c"]
        assert root.list("nothing") == []

    def test_removing_is_final_and_repeatable(self, root: Root) -> None:
        for key in ("a/1", "a/b/2", "c"):
            root.write_bytes(key, b"1")
        root.remove("c")
        root.remove("c")
        root.remove("a", recursive=True)
        root.remove("a", recursive=True)
        assert root.list() == []

    def test_write_new_leaves_what_is_there(self, root: Root) -> None:
        assert root.write_new("once", b"first")
        assert not root.write_new("once", b"second")
        assert root.read_bytes("once") == b"first"

    def test_join_is_the_same_place_by_another_path(self, root: Root) -> None:
        root.join("a", "b/c").write_bytes("x", b"1")
        assert root.read_bytes("a/b/c/x") == b"1"
        assert root.join("a").list() == ["b"]
        assert root.join("a").uri == f"{root.uri}/a"

    def test_json_has_one_spelling(self, root: Root) -> None:
        root.write_json("one", {"b": [1, 2.5, None], "a": "ä"})
        root.write_json("two", {"a": "ä", "b": [1, 2.5, None]})
        assert root.read_json("one") == {"a": "ä", "b": [1, 2.5, None]}
        assert root.read_bytes("one") == root.read_bytes("two")

    def test_what_is_no_json_is_damage(self, root: Root) -> None:
        root.write_bytes("broken.json", b'{"a": 1')
        with pytest.raises(CorruptData, match=r"broken\.json is damaged: its 7 bytes are not JSON"):
            root.read_json("broken.json")

    @pytest.mark.parametrize("path", ["", "/etc/passwd", "../up", "a/../../up", "a//b", "./a", "a\0b"])
    def test_paths_stay_inside(self, root: Root, path: str) -> None:
        with pytest.raises(InvalidInput, match="must be relative"):
            root.join(path)
        if path:
            with pytest.raises(InvalidInput, match="must be relative"):
                root.write_bytes(path, b"1")

    def test_sweeping_touches_no_object(self, root: Root) -> None:
        root.write_bytes("a/b", b"1")
        root.sweep()
        assert root.read_bytes("a/b") == b"1"

    def test_every_failure_is_a_store_error(self, root: Root) -> None:
        root.write_bytes("a/b", b"1")
        assert issubclass(MissingObject, StoreError)
        assert issubclass(MissingObject, FileNotFoundError)
