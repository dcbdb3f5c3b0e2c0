from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image, ImageFile

from vitgeom.data import decode
from vitgeom.data.decode import EXTENSIONS, decode_image, quiet_decoders, to_rgb
from vitgeom.errors import InvalidInput

RAMP = np.arange(0, 256, 5, dtype=np.uint8).reshape(4, 13)
COLOUR = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)


def _bytes(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _decoded(image: Image.Image, kind: str = "PNG", **options: object) -> np.ndarray:
    result = decode_image(_bytes(image, kind, **options))
    assert result.mode == "RGB"
    return np.asarray(result)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
def test_lossless_formats_give_back_the_pixels(kind):
    np.testing.assert_array_equal(_decoded(Image.fromarray(COLOUR), kind), COLOUR)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "GIF"])
def test_lossy_formats_give_back_about_the_colour(kind):
    flat = Image.new("RGB", (16, 16), (200, 100, 40))
    np.testing.assert_allclose(_decoded(flat, kind), np.asarray(flat), atol=6)


def test_sixteen_bit_grey_is_scaled_not_clipped():
    deep = RAMP.astype(np.uint16) * 257
    for kind in ("PNG", "TIFF"):
        np.testing.assert_array_equal(
            _decoded(Image.fromarray(deep), kind), np.repeat(RAMP[..., None], 3, axis=2)
        )


def test_integers_and_floats_have_a_stated_white_level():
    expected = np.repeat(RAMP[..., None], 3, axis=2)
    np.testing.assert_array_equal(_decoded(Image.fromarray(RAMP.astype(np.int32) * 257), "TIFF"), expected)
    np.testing.assert_array_equal(
        _decoded(Image.fromarray((RAMP / 255).astype(np.float32)), "TIFF"), expected
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[0, 70_000]], dtype=np.int32), "pixel values span 0..70000, outside 0..65535"),
        (np.array([[-1, 5]], dtype=np.int32), "outside 0..65535: no agreed white level"),
        (np.array([[0.0, 200.0]], dtype=np.float32), "span 0..200, outside 0..1"),
        (np.array([[0.0, np.nan]], dtype=np.float32), "span nan..nan"),
    ],
)
def test_numbers_without_an_agreed_white_level_are_refused(values, message):
    with pytest.raises(InvalidInput, match=message):
        to_rgb(Image.fromarray(values))


def test_transparent_parts_become_white():
    rgba = np.zeros((2, 3, 4), dtype=np.uint8)
    rgba[..., 0] = 255  # red
    rgba[0, :, 3] = (0, 128, 255)
    got = _decoded(Image.fromarray(rgba))
    np.testing.assert_allclose(got[0], [[255, 255, 255], [255, 127, 127], [255, 0, 0]], atol=1)
    grey = Image.fromarray(np.array([[[0, 0], [0, 255]]], dtype=np.uint8))
    assert grey.mode == "LA"
    np.testing.assert_array_equal(_decoded(grey)[0], [[255] * 3, [0] * 3])


def test_a_palette_entry_that_is_transparent_becomes_white():
    palette = Image.fromarray(np.array([[0, 1]], dtype=np.uint8)).convert("P")
    palette.putpalette([10, 20, 30, 200, 100, 0])
    np.testing.assert_array_equal(_decoded(palette)[0], [[10, 20, 30], [200, 100, 0]])
    np.testing.assert_array_equal(_decoded(palette, transparency=0)[0], [[255] * 3, [200, 100, 0]])


@pytest.mark.parametrize(
    "mode", ["1", "L", "P", "CMYK", "YCbCr", "LAB", "HSV", "RGBX", "RGBa", "La", "PA", "I;16"]
)
def test_every_mode_of_pillow_becomes_rgb(mode):
    through = "LA" if mode == "La" else "RGBA" if mode == "RGBa" else "L" if mode == "I;16" else "RGB"
    white = Image.new("RGB", (3, 2), "white").convert(through).convert(mode)
    assert white.mode == mode
    got = np.asarray(to_rgb(white))
    assert got.shape == (2, 3, 3)
    if mode != "I;16":  # Pillow itself converts 255 to 255 of 65535
        assert got.min() >= 250


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_of_the_camera_is_applied(orientation):
    """Oracle: the eight cases of the EXIF standard, as turns and flips of the stored array."""
    stored = np.zeros((16, 24, 3), dtype=np.uint8)
    stored[:8, :8] = 255  # a mark in the stored top left corner
    upright = {
        1: stored,
        2: stored[:, ::-1],
        3: stored[::-1, ::-1],
        4: stored[::-1],
        5: stored.transpose(1, 0, 2),
        6: np.rot90(stored, -1),
        7: stored[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(stored),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    np.testing.assert_array_equal(_decoded(Image.fromarray(stored), exif=exif), upright)


def test_of_an_animation_the_first_frame_is_taken():
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    for kind in ("GIF", "TIFF"):
        got = _decoded(frames[0], kind, save_all=True, append_images=frames[1:])
        np.testing.assert_allclose(got, np.asarray(frames[0]), atol=2)


def _png_claiming(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 99))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [9_000, 9_500, 60_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side, monkeypatch):
    def explode(*args: object) -> None:
        raise AssertionError("a pixel was decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", explode)
    with quiet_decoders(), pytest.raises(InvalidInput, match=r"decompression bomb: .* more than 80,000,000"):
        decode_image(_png_claiming(side, side))


def test_the_largest_allowed_image_is_decoded(monkeypatch):
    monkeypatch.setattr(decode, "MOST_PIXELS", 63)
    assert _decoded(Image.fromarray(COLOUR)).shape == (9, 7, 3)
    with pytest.raises(InvalidInput, match="decompression bomb: 8 x 8 pixels"):
        _decoded(Image.new("RGB", (8, 8)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n", "no image in a format that is read here"),
        (b"not an image", "no image in a format that is read here"),
        (_bytes(Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)), "JPEG")[:900], "damaged: OSError: .*truncated"),
        (_bytes(Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)))[:5000], "damaged: "),
    ],
)  # fmt: skip
def test_what_is_no_whole_image_is_refused_with_a_reason(data, message):
    with quiet_decoders(), pytest.raises(InvalidInput, match=message) as caught:
        decode_image(data)
    assert "0x" not in str(caught.value)  # no addresses: reasons are the same in every run


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP"])
def test_no_damage_escapes_as_another_error(kind):
    good = _bytes(
        Image.fromarray(np.random.default_rng(1).integers(0, 255, (40, 40, 3), dtype=np.uint8)), kind
    )
    rng = np.random.default_rng(2)
    refused = 0
    with quiet_decoders():
        for _ in range(60):
            damaged = bytearray(good)
            for position in rng.integers(0, len(good), 6):
                damaged[position] ^= int(rng.integers(1, 256))
            damaged = damaged[: rng.integers(len(good) // 2, len(good) + 1)]
            try:
                assert decode_image(bytes(damaged)).mode == "RGB"
            except InvalidInput:
                refused += 1
    assert refused > 0


def test_decoders_are_quiet_only_inside():
    with quiet_decoders():
        warnings.warn("huge", Image.DecompressionBombWarning, stacklevel=1)
    with pytest.warns(Image.DecompressionBombWarning):
        warnings.warn("huge", Image.DecompressionBombWarning, stacklevel=1)


def test_extensions_are_lower_case_and_begin_with_a_dot():
    assert {".jpg", ".png", ".webp", ".tif"} <= EXTENSIONS
    assert all(extension == extension.lower() and extension.startswith(".") for extension in EXTENSIONS)
    assert not EXTENSIONS & {".eps", ".pdf", ".svg", ".txt"}
