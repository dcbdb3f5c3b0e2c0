"""The command line: light to start, errors in one line, and exit codes that can be relied on."""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flows import cli
from flows.commands import benchmark
from flows.study import Study
from tests.flows.params_text import write_small
from tests.support.checkout import ROOT
from tests.support.image_folder import make_folder

HEAVY = "torch numpy pydantic yaml prefect ray mlflow zarr timm sklearn"


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    write_small(tmp_path)


def test_the_help_of_every_command_is_built_without_a_heavy_import() -> None:
    code = f"import sys; from flows.cli import parser; parser().format_help(); print([m for m in '{HEAVY}'.split() if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"


def test_the_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])

    said = capsys.readouterr().out
    assert "Exit codes: 0 all done" in said
    assert "130 interrupted" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["benchmark", "--profile", "smal"], "error: unknown profile 'smal'. Did you mean 'small'?"),
        (["benchmark", "--dataset", "nois"], "error: unknown dataset 'nois'. Did you mean 'noise'?"),
        (["benchmark", "--set", "probe.tool=1"], "Did you mean 'tol'?"),
        (["benchmark", "--data", "nowhere"], "nowhere' does not exist"),
        (["benchmark", "--data", ""], "--data is empty"),
        (["benchmark", "--data", "nowhere", "--dataset", "noise"], "give either --data or --dataset"),
        (["benchmark", "--architecture", "vit_tiny_patch16_224"], "needs exactly one --backbone"),
        (["benchmark", "--set", "shift.corruptions=[fogg]"], "Did you mean 'fog'?"),
        (["shift", "--data", "nowhere"], "nowhere' does not exist"),
        (["shift", "--data", "nowhere", "--dataset", "noise"], "give either --data or --dataset"),
        (["stage", "fuse", "--data", "nowhere"], "nowhere' does not exist"),
        (["stage", "fuse", "--data", "nowhere", "--set", "probe.tool=1"], "Did you mean 'tol'?"),
        (["plan", "--params", "none.yaml"], "cannot be read"),
        (["plan", "--data", "nowhere"], "nowhere' does not exist"),
        (["plan", "--data", ""], "--data is empty"),
        (["plan", "--data", "nowhere", "--dataset", "noise"], "give either --data or --dataset"),
    ],
)
def test_wrong_input_is_said_in_one_line_and_ends_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2

    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert ".." not in told


def test_wrong_usage_ends_with_2() -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["benchmark", "--engine", "spark"])


def test_debug_shows_where_an_error_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["benchmark", "--profile", "smal", "--debug"]) == 2

    assert "Traceback" in capsys.readouterr().err


def test_a_stage_without_what_it_needs_fails_with_1_and_says_what_makes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["stage", "probe", "--dataset", "digits"]) == 1

    assert (
        "Make it, with the same --profile and --set: vitgeom stage extract --dataset digits --backbone nano_supervised --out results/small"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interruption_ends_with_130_and_says_how_to_go_on(
    interruption: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: argparse.Namespace) -> int:
        raise interruption

    monkeypatch.setattr(benchmark, "run", interrupted)

    assert cli.main(["benchmark", "--set", "extract.tokens=[cls, mean]"]) == 130
    assert (
        "goes on from there: vitgeom benchmark --set 'extract.tokens=[cls, mean]'" in capsys.readouterr().err
    )


def test_datasets_are_listed_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["datasets"]) == 0

    said = capsys.readouterr().out
    assert "classes (default 10)" in said
    assert "--data FOLDER" in said


def test_decoders_are_listed_with_what_they_return(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["decoders"]) == 0

    said = capsys.readouterr().out
    assert "patch_mean       mean [D] over the patch tokens" in said
    assert "so3" in said


def test_options_are_not_guessed_from_their_first_letters(capsys: pytest.CaptureFixture[str]) -> None:
    """``--back`` would be ``--backbone``, and a later option of that name another thing."""
    with pytest.raises(SystemExit, match="2"):
        cli.main(["stage", "extract", "--back", "nano_selfsup"])

    assert "unrecognized arguments: --back nano_selfsup" in capsys.readouterr().err


def test_a_slip_in_the_parameters_is_told_before_images_are_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(tmp_path / "mine", {"a": 10, "b": 10})

    assert cli.main(["benchmark", "--data", "mine", "--set", "probe.tool=1"]) == 2
    assert not (tmp_path / ".vitgeom").exists()
    assert "images of 2 classes" not in capsys.readouterr().out


def test_a_terminal_that_knows_only_ascii_still_sees_the_plan(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "plan"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )

    assert b"? " in done.stdout


def test_the_ui_refuses_a_port_where_somebody_else_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        assert cli.main(["ui", "--port", str(port)]) == 2

    assert f"--port {port} cannot be used on 127.0.0.1" in capsys.readouterr().err
    assert cli.main(["ui", "--port", "70000"]) == 2


def test_a_device_that_is_not_there_is_refused_before_the_first_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)

    assert cli.main(["benchmark", "--set", "extract.device=cuda"]) == 2
    assert "cuda" in capsys.readouterr().err
    assert not (tmp_path / ".vitgeom" / "store").exists()


def test_the_plan_takes_a_folder_of_images_like_the_benchmark_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(tmp_path / "mine", {"a": 10, "b": 10})
    before = set(tmp_path.rglob("*"))

    assert cli.main(["plan", "--data", "mine", "--backbone", "nano_selfsup"]) == 0

    said = capsys.readouterr().out
    assert "mine: 20 images of 2 classes" in said
    assert re.search(r"results in results/folder-mine-[0-9a-f]{8}-nano_selfsup$", said, flags=re.MULTILINE)
    assert "20 images to compute; probes to fit" in said.splitlines()[-1]
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("part", [["--dataset", "digits"], ["--set", "seed=1"], ["--out", "here"], []])
def test_shift_looks_where_a_benchmark_of_the_same_arguments_leaves_its_results(
    part: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def kept(arguments: argparse.Namespace, wanted: Study) -> int:
        seen.append(wanted.resolve().out)
        return 0

    monkeypatch.setattr("flows.commands.stage.run_step", kept)
    assert cli.main(["shift", *part]) == 0
    assert cli.main(["plan", *part]) == 0

    told = capsys.readouterr().out
    assert f"results in {seen[0]}" in told
    assert "to see it: vitgeom stage report, with the same arguments" in told


@pytest.mark.parametrize(
    ("arguments", "page"),
    [
        ([], None),
        (["--dataset", "noise", "--backbone", "nano_selfsup"], "results/small-nano_selfsup"),
        (["--backbone", "nano_selfsup", "--out", "elsewhere"], None),
    ],
)
def test_the_page_of_a_part_does_not_take_the_place_of_the_whole_one(
    arguments: list[str],
    page: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen: list[dict[str, object]] = []
    monkeypatch.setattr("flows.orchestration.start", lambda *_, **given: seen.append(given))
    assert cli.main(["stage", "report", *arguments]) == 0
    assert seen == [{"page": page}]
    assert capsys.readouterr().out.startswith("results are in ")
