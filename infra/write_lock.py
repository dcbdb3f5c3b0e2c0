"""Turn pip's installation report into a constraints file: one exact version per package, sorted.

Usage: ``python infra/write_lock.py report.json requirements.lock``. Standard library only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HEADER = """\
# The exact versions that the tests ran with, used as constraints by the Makefile and the images.
# Made by `make lock` from pyproject.toml; not edited by hand.
"""


def main(report: Path, lock: Path) -> None:
    """Write ``lock`` from ``report``, leaving out the project itself."""
    installed = json.loads(report.read_text())["install"]
    pins = {
        item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in installed
    }
    pins.pop("vitgeom", None)
    # A local version label (torch 2.9.1+cpu) belongs to one index; the public version is what others can find.
    lines = [f"{name}=={version.split('+')[0]}\n" for name, version in sorted(pins.items())]
    lock.write_text(HEADER + "".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
