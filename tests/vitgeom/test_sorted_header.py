"""The same content gives the same bytes, and nothing else changes."""

from __future__ import annotations

import safetensors.torch
import torch

from vitgeom.sorted_header import with_sorted_header

TENSORS = {"b": torch.arange(6.0).view(2, 3), "a": torch.ones(1, dtype=torch.float16)}
METADATA = {f"key{index}": str(index) for index in range(20)}


def test_bytes_depend_on_the_content_alone() -> None:
    files = {
        with_sorted_header(safetensors.torch.save(TENSORS, metadata=dict(order)))
        for order in (list(METADATA.items()), list(reversed(METADATA.items())))
        for _ in range(3)
    }
    assert len(files) == 1


def test_the_file_reads_as_before() -> None:
    written = safetensors.torch.load(with_sorted_header(safetensors.torch.save(TENSORS, metadata=METADATA)))
    assert written.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(written[name], tensor)
        assert written[name].dtype == tensor.dtype
