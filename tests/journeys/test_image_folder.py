"""A user brings images of their own, not all of them good, and a backbone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from flows import cli
from tests.flows.params_text import RANDOM_VIT, write_small

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Two classes that differ in brightness, a file that is no image, and one with a wrong suffix."""
    root = tmp_path / "my flowers"
    generator = np.random.default_rng(0)
    for name, brightness in (("dark", 40), ("light", 215)):
        (root / name).mkdir(parents=True)
        for number in range(15):
            pixels = np.clip(generator.normal(brightness, 20, (32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(root / name / f"{number}.png")
    (root / "dark" / "broken.png").write_bytes(b"\x89PNG cut off")
    (root / "light" / "list.txt").write_text("no image")
    return root


def test_own_images_are_benchmarked_and_what_cannot_be_used_is_said(
    flowers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    write_small(tmp_path, backbones=RANDOM_VIT)

    assert cli.main(["benchmark", "--data", "my flowers"]) == 0

    told = capsys.readouterr()
    assert "my flowers: 30 images of 2 classes" in told.out
    assert "skipped 1: extension .txt" in told.out
    assert "dark/broken.png:" in told.out
    assert "warning: left out, because they cannot be used: 1 file" in told.err
    [page] = (tmp_path / "results").glob("folder-my_flowers-*/report.html")
    shown = page.read_text()
    assert "broken.png" in shown
    assert "<title>my flowers · What earlier layers know that the last layer gets wrong</title>" in shown
    assert "gets wrong: my flowers</h1>" in shown
    assert "my flowers × vit_tiny" in shown
    assert "folder-my_flowers" not in shown
    assert "extract my flowers × vit_tiny" in told.out

    assert cli.main(["plan", "--data", "my flowers"]) == 0

    told = capsys.readouterr()
    assert "(indexed before)" in told.out
    assert "ranges stored; probes stored" in told.out

    assert cli.main(["benchmark", "--data", "my flowers"]) == 0

    told = capsys.readouterr()
    assert "(indexed before)" in told.out
    assert "30 images, cached" in told.out

    assert cli.main(["shift", "--data", "my flowers"]) == 0

    told = capsys.readouterr().out
    assert "my flowers × vit_tiny" in told
    assert "2 shifted test sets" in told
    assert "to see it: vitgeom stage report, with the same arguments" in told

    assert cli.main(["stage", "report", "--data", "my flowers"]) == 0

    assert "Under shift" in page.read_text()
