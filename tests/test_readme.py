"""README.md holds: its Python blocks run, its commands exist, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def between(marker: str) -> str:
    found = re.search(rf"<!-- {marker}:start -->\n(.*?)<!-- {marker}:end -->", README, flags=re.DOTALL)
    assert found, f"README.md needs the markers {marker}:start and {marker}:end"
    return found.group(1)


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_block_runs_by_itself(number: int) -> None:
    exec(compile(BLOCKS[number], f"README.md, Python block {number + 1}", "exec"), {"__name__": "readme"})


def test_table_of_stored_arrays_is_the_registry() -> None:
    from vitgeom.store.schema import schema_table

    assert between("schema").strip() == schema_table().strip()


def test_profiles_of_the_table_are_those_of_the_parameter_file() -> None:
    import yaml

    section = README.split("## Profiles", 1)[1].split("\n## ", 1)[0]
    named = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert named == list(yaml.safe_load((ROOT / "params.yaml").read_text())["profiles"])


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    assert named
    assert named <= targets


def test_commands_of_vitgeom_exist() -> None:
    from flows.cli import parser

    commands = {
        line.split()[0] for line in parser().format_help().splitlines() if re.match(r"^ {4}[a-z]+( |$)", line)
    }
    named = set(
        re.findall(
            r"`?vitgeom ([a-z]+)\b",
            "\n".join(re.findall(r"`[^`]+`|^vitgeom .*$", README, flags=re.MULTILINE)),
        )
    )
    assert named
    assert named <= commands


def test_flags_of_vitgeom_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from flows.cli import parser

    for command in set(re.findall(r"vitgeom ((?:benchmark|stage|plan) [^`\n|]*)", README)):
        words = command.strip().split()
        with pytest.raises(SystemExit) as end:
            parser().parse_args([words[0], "--help"])
        assert end.value.code == 0
        known = capsys.readouterr().out
        for flag in (word for word in words if word.startswith("--")):
            assert flag in known, command


def test_named_files_exist() -> None:
    paths = re.findall(r"`((?:vitgeom|tasks|flows|infra|tests)/[\w./-]+|[\w]+\.(?:yaml|lock|toml))`", README)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_benchmark_table_has_its_place() -> None:
    between("bench")
