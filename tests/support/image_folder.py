"""Small image folders for tests: coloured pictures whose colour says which file they are."""

from __future__ import annotations

from pathlib import Path

from PIL import Image


def picture(number: int, *, size: tuple[int, int] = (12, 10)) -> Image.Image:
    """Return a picture of one colour that no other number below 256 has."""
    return Image.new("RGB", size, (number, 255 - number, (37 * number) % 256))


def make_folder(root: Path, counts: dict[str, int], *, extension: str = ".png", first: int = 0) -> Path:
    """Write ``counts[folder]`` pictures into each folder below ``root``; no two are alike."""
    number = first
    for folder, count in counts.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        for k in range(count):
            picture(number).save(root / folder / f"{k:03d}{extension}")
            number += 1
    return root
