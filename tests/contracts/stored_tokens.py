"""What every feature store must do with all tokens of chosen layers, whichever place holds it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.feature_stores import (
    WITH_TOKENS,
    fill,
    keys,
    make_store,
    range_arrays,
    sealed_store,
    snapshot,
)
from vitgeom.errors import CorruptData, NumericalFailure
from vitgeom.store import token_chunks
from vitgeom.store.features import open_features
from vitgeom.store.integrity import repair, verify
from vitgeom.store.uri import Root


class StoredTokensContract:
    """Inherit and provide the fixture ``root``: an empty place."""

    @pytest.fixture
    def small_token_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two rows of the small store, 6 tokens of 5 numbers, are a chunk of the wanted size."""
        monkeypatch.setattr(token_chunks, "TARGET_BYTES", 2 * 6 * 5 * 4)

    def test_all_tokens_of_chosen_layers_are_read_bit_for_bit(
        self, root: Root, small_token_chunks: None
    ) -> None:
        written = sealed_store(root, **WITH_TOKENS)
        store = open_features(root, written.address_path)
        expected = range_arrays(store.layout, "train", 0, 10)["tokens"]
        assert expected.shape == (10, 2, 6, 5)
        np.testing.assert_array_equal(store.read("train", "tokens"), expected)
        np.testing.assert_array_equal(store.read("train", "tokens", layer=2), expected[:, 1])
        np.testing.assert_array_equal(
            store.read("train", "tokens", layer=0, rows=[9, 0, 0, 5]), expected[[9, 0, 0, 5], 0]
        )
        np.testing.assert_array_equal(store.read("train", "tokens", rows=slice(7, 2, -2)), expected[7:2:-2])
        chunks = [key for key in keys(store.root) if "/tokens/c/" in key]
        assert len(chunks) == (5 + 2) * 2

    def test_tokens_in_float16_round_to_nearest_and_are_refused_beyond_it(
        self, root: Root, small_token_chunks: None
    ) -> None:
        store = sealed_store(root, storage_dtype="float16", **WITH_TOKENS)
        arrays = range_arrays(store.layout, "val", 0, 3)
        np.testing.assert_array_equal(store.read("val", "tokens"), arrays["tokens"].astype(np.float16))
        empty = make_store(root.join("other"), storage_dtype="float16", **WITH_TOKENS)
        before = snapshot(empty.root)
        arrays["tokens"][1, 1, 5, 0] = 7e4
        with pytest.raises(NumericalFailure, match=r"'tokens' .* does not fit float16 .* in layer 2, row 1"):
            empty.write_range("val", 0, 3, arrays, seconds=1.0)
        assert snapshot(empty.root) == before

    def test_damaged_tokens_are_named_refused_and_repaired(
        self, root: Root, small_token_chunks: None
    ) -> None:
        store = sealed_store(root, **WITH_TOKENS)
        whole = snapshot(root)
        flipped, missing = "train/tokens/c/3/1/0/0", "val/tokens/c/0/0/0/0"
        data = store.root.read_bytes(flipped)
        store.root.write_bytes(flipped, data[:9] + bytes([data[9] ^ 16]) + data[10:])
        store.root.remove(missing)

        reader = open_features(root, store.address_path)
        with pytest.raises(
            CorruptData,
            match=r"'tokens' of split 'train' .* chunk tokens/c/3/1/0/0 \(rows 6:8, layer 2\): it is truncated or fails its checksum",
        ):
            reader.read("train", "tokens", layer=2)
        expected = range_arrays(store.layout, "train", 0, 10)["tokens"]
        np.testing.assert_array_equal(reader.read("train", "tokens", layer=0), expected[:, 0])
        np.testing.assert_array_equal(reader.read("train", "tokens", layer=2, rows=[5]), expected[[5], 1])

        found = verify(reader)
        assert {(one.array, one.chunk, one.split, one.start, one.stop) for one in found} == {
            ("tokens", flipped, "train", 4, 8),
            ("tokens", missing, "val", 0, 3),
        }
        assert repair(reader) == found
        assert reader.missing() == [("train", 4, 8), ("val", 0, 3)]
        fill(reader)
        reader.seal()
        assert snapshot(root) == whole
        assert verify(reader) == []
