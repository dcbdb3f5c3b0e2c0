from __future__ import annotations

import pytest

from vitgeom.decoders.head_file import read_record
from vitgeom.decoders.training import __main__ as command

SMALL = ["--scenes", "4", "--held-out", "2", "--steps", "1", "--backbones", "nano_selfsup"]


@pytest.mark.filterwarnings("ignore:Deterministic")
def test_heads_and_cards_are_written_and_a_second_run_gives_the_same_bytes(tmp_path, capsys):
    for folder in ("a", "b"):
        command.main(["all", *SMALL, "--folder", str(tmp_path / folder)])
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == sorted(
        name
        for job in ("scenes_depth", "scenes_points", "scenes_camera")
        for name in (f"{job}.md", f"{job}.nano_selfsup.safetensors")
    )
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    record = read_record(tmp_path / "a" / "scenes_points.nano_selfsup.safetensors")
    assert record.provenance["command"] == "python -m vitgeom.decoders.training points"
    assert record.provenance["figures"]["held_out"] == 2
    assert "wrote" in capsys.readouterr().out


def test_cards_alone_train_nothing(tmp_path):
    command.main(["cards", "--folder", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_job_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["dept"])
    assert "invalid choice: 'dept'" in capsys.readouterr().err
