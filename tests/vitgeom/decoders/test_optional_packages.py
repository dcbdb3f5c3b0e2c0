from __future__ import annotations

import math

import pytest

from vitgeom.decoders.optional_packages import MissingPackage, require
from vitgeom.errors import InvalidInput


def test_what_is_there_is_imported():
    assert require("math", what="x", install="y") is math


def test_what_is_missing_is_named_with_its_command_and_is_an_import_error():
    with pytest.raises(
        MissingPackage, match="Depth needs the package 'no_such', which is not installed: pip install it"
    ):
        require("no_such.part", what="Depth", install="pip install it")
    assert issubclass(MissingPackage, ImportError)
    assert issubclass(MissingPackage, InvalidInput)


def test_a_package_that_lacks_a_package_of_its_own_speaks_for_itself(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as caught:
        require("half_there", what="x", install="y")
    assert not isinstance(caught.value, MissingPackage)
