"""What every feature store must do, whichever place holds it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.feature_stores import SPLITS, fill, keys, make_store, range_arrays, sealed_store, snapshot
from vitgeom.errors import CorruptData, IncompleteData, InvalidInput, NumericalFailure, StoreError
from vitgeom.store.features import open_features
from vitgeom.store.integrity import repair, verify
from vitgeom.store.uri import Root


class StoreContract:
    """Inherit and provide the fixture ``root``: an empty place."""

    def test_what_was_written_is_read_bit_for_bit(self, root: Root) -> None:
        written = sealed_store(root)
        store = open_features(root, written.address_path)
        for split, rows in SPLITS.items():
            expected = range_arrays(store.layout, split, 0, rows)
            for name in ("cls", "mean", "cls_normed", "mean_normed", "label", "group"):
                found = store.read(split, name)
                assert found.dtype == expected[name].dtype
                np.testing.assert_array_equal(found, expected[name])
            assert store.sample_ids(split) == expected["sample_id"]

    def test_layers_and_rows_are_cut_out_exactly(self, root: Root) -> None:
        store = sealed_store(root)
        everything = store.read("train", "cls")
        np.testing.assert_array_equal(store.read("train", "cls", layer=2), everything[:, 2])
        np.testing.assert_array_equal(
            store.read("train", "cls", layer=1, rows=[9, 0, 0, 5]), everything[[9, 0, 0, 5], 1]
        )
        np.testing.assert_array_equal(store.read("train", "cls", rows=slice(7, 2, -2)), everything[7:2:-2])
        assert store.read("train", "cls", layer=0, rows=[]).shape == (0, 5)

    def test_float16_rounds_to_nearest(self, root: Root) -> None:
        store = sealed_store(root, storage_dtype="float16")
        expected = range_arrays(store.layout, "val", 0, 3)["mean"].astype(np.float16)
        assert store.read("val", "mean").dtype == np.float16
        np.testing.assert_array_equal(store.read("val", "mean"), expected)

    def test_creating_again_changes_nothing(self, root: Root) -> None:
        store = make_store(root)
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
        before = snapshot(root)
        again = make_store(root)
        assert snapshot(root) == before
        assert ("train", 4, 8) not in again.missing()

    def test_missing_lists_exactly_what_was_not_committed(self, root: Root) -> None:
        store = make_store(root)
        everything = [("train", 0, 4), ("train", 4, 8), ("train", 8, 10), ("val", 0, 3)]
        assert store.missing() == everything
        store.write_range("train", 8, 10, range_arrays(store.layout, "train", 8, 10), seconds=1.0)
        everything.remove(("train", 8, 10))
        assert open_features(root, store.address_path).missing() == everything
        assert store.missing("train") == [("train", 0, 4), ("train", 4, 8)]

    def test_the_marker_tells_rows_digest_cost_and_notes(self, root: Root) -> None:
        store = make_store(root)
        assert store.marker("val", 0) is None
        digest = store.write_range(
            "val",
            0,
            3,
            range_arrays(store.layout, "val", 0, 3),
            seconds=2.5,
            notes={"recomputed": 1},
            peak_bytes=10**9,
        )
        marker = store.marker("val", 0)
        assert marker is not None
        assert (marker["rows"], marker["digest"], marker["notes"]) == (3, digest, {"recomputed": 1})
        assert (marker["seconds"], marker["peak_bytes"]) == (2.5, 10**9)

    def test_an_incomplete_split_is_not_read_and_its_rows_are_named(self, root: Root) -> None:
        store = make_store(root)
        for start, stop in ((0, 4), (8, 10)):
            store.write_range(
                "train", start, stop, range_arrays(store.layout, "train", start, stop), seconds=1.0
            )
        with pytest.raises(IncompleteData, match=r"4 rows have no valid done-marker \(train 4:8\)") as caught:
            store.read("train", "cls", layer=0, rows=[0])
        assert caught.value.missing == (("train", 4, 8),)

    def test_sealing_refuses_while_rows_are_missing(self, root: Root) -> None:
        store = make_store(root)
        with pytest.raises(IncompleteData, match=r"13 rows have no valid done-marker \(train 0:4, train 4:8"):
            store.seal()
        fill(store)
        with pytest.raises(IncompleteData, match="complete but not sealed"):
            store.manifest()
        manifest = store.seal()
        assert manifest.splits["train"]["n"] == 10
        assert store.seal() == manifest == open_features(root, store.address_path).manifest()

    def test_ranges_that_do_not_own_their_chunks_are_refused(self, root: Root) -> None:
        store = make_store(root)
        arrays = range_arrays(store.layout, "train", 0, 1)
        for start, stop in ((0, 3), (1, 4), (0, 8), (8, 12), (2, 6), (12, 13), (-4, 0)):
            with pytest.raises(
                InvalidInput, match=f"rows {start}:{stop} of split 'train' .10 rows. are no aligned range"
            ):
                store.write_range("train", start, stop, arrays, seconds=1.0)

    def test_the_order_of_ranges_and_repetition_change_no_byte(self, root: Root) -> None:
        first, second = make_store(root.join("first")), make_store(root.join("second"))
        fill(first, seconds=1.0)
        for split, start, stop in reversed(second.missing()):
            for seconds in (5.0, 6.0):
                second.write_range(
                    split, start, stop, range_arrays(second.layout, split, start, stop), seconds=seconds
                )
        assert first.seal() == second.seal()
        assert snapshot(first.root) == snapshot(second.root)
        marker = second.marker("val", 0)
        assert marker is not None
        assert marker["seconds"] == 5.0

    def test_other_values_for_a_committed_range_are_refused(self, root: Root) -> None:
        store = make_store(root)
        arrays = range_arrays(store.layout, "val", 0, 3)
        store.write_range("val", 0, 3, arrays, seconds=1.0)
        before = snapshot(root)
        with pytest.raises(StoreError, match="committed before with other values"):
            store.write_range("val", 0, 3, {**arrays, "cls": arrays["cls"] + 1}, seconds=1.0)
        assert snapshot(root) == before

    def test_nothing_of_a_refused_range_is_stored(self, root: Root) -> None:
        store = make_store(root)
        before = snapshot(root)
        arrays = range_arrays(store.layout, "train", 4, 8)
        arrays["mean"][2, 1, 0] = np.nan
        with pytest.raises(
            NumericalFailure, match=r"'mean' of split 'train' holds NaN or infinity in layer 1, row 6"
        ):
            store.write_range("train", 4, 8, arrays, seconds=1.0)
        assert snapshot(root) == before

    def test_an_occupied_address_is_left_alone(self, root: Root) -> None:
        store = sealed_store(root)
        before = snapshot(root)
        with pytest.raises(
            StoreError,
            match=r"is occupied .* layout.rows_per_range: there 4, asked 5; layout.splits.val: there 3, asked 2",
        ):
            make_store(root, rows_per_range=5, splits={**SPLITS, "val": 2})
        assert snapshot(root) == before
        assert verify(store) == []

    def test_no_store_at_an_address_is_said(self, root: Root) -> None:
        with pytest.raises(StoreError, match="there is no store at"):
            open_features(root, "features/digits/nano/0123456789abcdef")

    def test_damaged_chunks_are_named_refused_and_repaired(self, root: Root) -> None:
        store = sealed_store(root)
        whole = snapshot(root)
        place = store.root
        truncated, empty, flipped = "train/cls/c/0/2/0", "train/mean/c/0/0/0", "train/cls_normed/c/2/0"
        missing, swapped = "val/label/c/0", "val/cls/c/0/1/0"
        data = place.read_bytes(flipped)
        place.write_bytes(truncated, place.read_bytes(truncated)[:-7])
        place.write_bytes(empty, b"")
        place.write_bytes(flipped, bytes([data[0] ^ 4]) + data[1:])
        place.write_bytes(swapped, place.read_bytes("val/cls/c/0/0/0"))
        place.remove(missing)

        reader = open_features(root, store.address_path)
        for split, name, layer, words in (
            (
                "train",
                "cls",
                2,
                r"chunk cls/c/0/2/0 \(rows 0:4, layer 2\): it is truncated or fails its checksum",
            ),
            (
                "train",
                "mean",
                None,
                r"chunk mean/c/0/0/0 \(rows 0:4, layer 0\): it is truncated or fails its checksum",
            ),
            (
                "train",
                "cls_normed",
                None,
                r"chunk cls_normed/c/2/0 \(rows 8:10\): it is truncated or fails its checksum",
            ),
            ("val", "label", None, r"chunk label/c/0 \(rows 0:3\): it is missing"),
            (
                "val",
                "cls",
                1,
                r"chunk cls/c/0/1/0 \(rows 0:3, layer 1\): it is not the chunk that was committed",
            ),
        ):
            with pytest.raises(
                CorruptData, match=f"array '{name}' of split '{split}' .*{words}.*vitgeom repair"
            ):
                reader.read(split, name, layer=layer)
        expected = range_arrays(store.layout, "train", 0, 10)["cls"]
        np.testing.assert_array_equal(reader.read("train", "cls", layer=1), expected[:, 1])

        found = verify(reader)
        assert {(one.array, one.chunk, one.split, one.start, one.stop) for one in found} == {
            ("cls", truncated, "train", 0, 4),
            ("mean", empty, "train", 0, 4),
            ("cls_normed", flipped, "train", 8, 10),
            ("label", missing, "val", 0, 3),
            ("cls", swapped, "val", 0, 3),
        }
        assert repair(reader) == found
        assert reader.missing() == [("train", 0, 4), ("train", 8, 10), ("val", 0, 3)]
        fill(reader)
        reader.seal()
        assert snapshot(root) == whole
        assert verify(reader) == []

    def test_damaged_markers_are_named_and_repaired(self, root: Root) -> None:
        store = sealed_store(root, rows_per_range=2, num_layers=1, tokens=("cls",))
        whole = snapshot(root)
        edited, truncated, empty, missing, misplaced = (
            f"done/train/{at:010d}-{at + 2:010d}.json" for at in range(0, 10, 2)
        )
        data = store.root.read_bytes(edited)
        store.root.write_bytes(edited, data.replace(b'"seconds": 1.0', b'"seconds": 9.0'))
        assert store.root.read_bytes(edited) != data
        store.root.write_bytes(truncated, data[: len(data) // 2])
        store.root.write_bytes(empty, b"")
        store.root.write_bytes(misplaced, store.root.read_bytes("done/val/0000000000-0000000002.json"))
        store.root.remove(missing)

        reader = open_features(root, store.address_path)
        with pytest.raises(
            IncompleteData, match=r"10 rows have no valid done-marker \(train 0:2, train 2:4, .*train 8:10\)"
        ):
            reader.read("train", "label")
        assert reader.read("val", "label").tolist() == [0, 1, 2]
        found = verify(reader)
        assert [(one.array, one.chunk) for one in found] == [
            (None, edited),
            (None, truncated),
            (None, empty),
            (None, missing),
            (None, misplaced),
        ]
        repair(reader)
        fill(reader)
        reader.seal()
        assert snapshot(root) == whole

    def test_a_damaged_manifest_is_named_and_repaired(self, root: Root) -> None:
        store = sealed_store(root)
        whole = snapshot(root)
        data = store.root.read_bytes("manifest.json")
        store.root.write_bytes("manifest.json", data.replace(b'"n": 10', b'"n": 11'))
        with pytest.raises(CorruptData, match=r"manifest of features/digits/nano/.* is damaged"):
            open_features(root, store.address_path).manifest()
        assert [one.chunk for one in repair(store)] == ["manifest.json"]
        store.seal()
        assert snapshot(root) == whole

    def test_damaged_metadata_is_named_and_rewritten(self, root: Root) -> None:
        store = sealed_store(root)
        whole = snapshot(root)
        key = "val/mean/zarr.json"
        data = store.root.read_bytes(key)
        store.root.write_bytes(key, data.replace(b'"NaN"', b"0.0"))
        reader = open_features(root, store.address_path)
        with pytest.raises(CorruptData, match=r"metadata of array 'mean' .* fill is 0.0, expected nan"):
            reader.read("val", "mean")
        assert [one.chunk for one in repair(reader)] == [key]
        assert snapshot(root) == whole
        assert verify(reader) == []

    def test_a_whole_store_shows_no_damage_and_verifying_changes_nothing(self, root: Root) -> None:
        store = sealed_store(root)
        before = snapshot(root)
        assert verify(store) == []
        assert repair(store) == []
        assert snapshot(root) == before

    def test_only_objects_of_the_layout_exist(self, root: Root) -> None:
        store = sealed_store(root)
        chunks = [key for key in keys(store.root) if "/c/" in key]
        ranges = sum(len(store.ranges(split)) for split in SPLITS)
        assert len(chunks) == ranges * (2 * store.num_layers + 5)
