from __future__ import annotations

import subprocess
import sys

import pytest

from vitgeom.data.packaged_file import packaged_file
from vitgeom.errors import InvalidInput


def test_a_file_is_found_without_importing_its_package() -> None:
    code = (
        "import sys; from vitgeom.data.packaged_file import packaged_file; "
        "print(packaged_file('sklearn', 'datasets', 'data', 'digits.csv.gz').is_file(), 'sklearn' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True False\n"


def test_a_missing_file_or_package_is_named_with_the_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"'data/no.png' was not found in package 'skimage' .* Install"):
        packaged_file("skimage", "data", "no.png")
    with pytest.raises(
        InvalidInput, match=r"'x' was not found in package 'no_such_package' \(not installed\)"
    ):
        packaged_file("no_such_package", "x")
