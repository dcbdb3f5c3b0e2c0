"""Safetensors files whose bytes depend on their content alone: the library writes metadata in an order that changes from run to run."""

from __future__ import annotations

import json


def with_sorted_header(content: bytes) -> bytes:
    """Return a safetensors file with the keys of its header in order.

    Args:
        content: 8 bytes of header length, a JSON header padded with spaces, tensors.
    """
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + length]), sort_keys=True, separators=(",", ":")).encode()
    padded = header.ljust(-(-len(header) // 8) * 8)
    return len(padded).to_bytes(8, "little") + padded + content[8 + length :]
