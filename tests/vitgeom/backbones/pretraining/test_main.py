from __future__ import annotations

import pytest

from vitgeom.backbones import load_backbone
from vitgeom.backbones.pretraining import __main__ as command
from vitgeom.backbones.pretraining import figures


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Probing three datasets takes a minute and has its own test."""
    monkeypatch.setattr(
        figures, "measure", lambda backbone, names: [figures.Figures(name, (0.5,)) for name in names]
    )


def test_both_backbones_are_trained_written_and_probed(tmp_path, capsys):
    command.main(["all", "--scenes", "12", "--steps", "2", "--folder", str(tmp_path)])
    printed = capsys.readouterr().out
    for name in ("nano_supervised", "nano_selfsup"):
        backbone = load_backbone(tmp_path / f"{name}.safetensors")
        assert backbone.spec.architecture == name
        assert f"{name}, weights {backbone.spec.weights_digest}" in printed
    assert "| scenes | 50.0 |" in printed


def test_a_second_run_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        command.main(["masked", "--scenes", "12", "--steps", "2", "--folder", str(tmp_path / folder)])
    files = [tmp_path / folder / "nano_selfsup.safetensors" for folder in ("a", "b")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_figures_alone_train_nothing(tmp_path, capsys):
    command.main(["figures", "--folder", str(tmp_path)])
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_job_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["selfsup"])
    assert "invalid choice: 'selfsup'" in capsys.readouterr().err
