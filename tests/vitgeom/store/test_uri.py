from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path

import pytest

from tests.contracts.places import PlaceContract
from tests.support.s3_server import S3Server
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store.remote_objects import RemoteObjects
from vitgeom.store.uri import Root, as_root


class TestFolder(PlaceContract):
    @pytest.fixture
    def root(self, local_root: Root) -> Root:
        return local_root


class TestMemory(PlaceContract):
    @pytest.fixture
    def root(self, memory_root: Root) -> Root:
        return memory_root


@pytest.mark.services
class TestS3(PlaceContract):
    @pytest.fixture
    def root(self, s3_root: Root) -> Root:
        return s3_root


def test_a_relative_path_means_the_folder_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = Root("store")
    monkeypatch.chdir("/")
    root.write_bytes("x", b"1")
    assert root.uri == str(tmp_path / "store")
    assert (tmp_path / "store" / "x").read_bytes() == b"1"


def test_file_urls_and_paths_are_the_same_place(tmp_path: Path) -> None:
    assert Root(f"file://{tmp_path}/a") == Root(tmp_path / "a") == as_root(str(tmp_path / "a"))
    assert Root(f"local://{tmp_path}/a").is_local
    assert hash(Root(tmp_path)) == hash(Root(str(tmp_path)))
    assert Root(tmp_path) != Root(tmp_path / "a")


def test_a_root_travels_by_name(tmp_path: Path) -> None:
    root = pickle.loads(pickle.dumps(Root(tmp_path).join("a")))
    root.write_bytes("b", b"1")
    assert Root(tmp_path).read_bytes("a/b") == b"1"
    assert b"secret" not in pickle.dumps(Root("s3://bucket/x").join("y"))


def test_a_path_with_fsspec_chaining_signs_is_only_a_path(tmp_path: Path) -> None:
    root = Root(tmp_path / "simplecache::memory")
    root.write_bytes("x", b"1")
    assert (tmp_path / "simplecache::memory" / "x").exists()


def test_credentials_in_the_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidInput, match="leave them out and set AWS_ACCESS_KEY_ID") as caught:
        Root("s3://AKIAKEY:sesame@bucket/prefix")
    assert "sesame" not in str(caught.value)
    assert "AKIAKEY" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("", "store uri is empty"),
        ("s3://", "names no bucket"),
        ("memory:///", "names no bucket or prefix"),
        ("s3://bucket/a?b=c", "which have a meaning of their own"),
        ("s3://bucket/a::b", "which have a meaning of their own"),
    ],
)
def test_unfit_urls_are_refused(uri: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Root(uri)


def test_an_unknown_scheme_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 's3'"):
        Root("s4://bucket/x")


@pytest.mark.skipif(importlib.util.find_spec("gcsfs") is not None, reason="the package is installed")
def test_a_scheme_whose_package_is_missing_says_so() -> None:
    with pytest.raises(InvalidInput, match=r"URL scheme 'gs' needs a package that is not installed: .*gcsfs"):
        Root("gs://bucket/x")


@pytest.mark.parametrize("value", ["soon", "0", "-3", "inf"])
def test_a_deadline_must_be_a_positive_number(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("VITGEOM_STORE_DEADLINE", value)
    with pytest.raises(InvalidInput, match=r"must be a (positive )?number of seconds"):
        Root("memory://x/y")


def test_the_deadline_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITGEOM_STORE_DEADLINE", "7.5")
    for root, seconds in ((Root("memory://x/y"), 7.5), (Root("memory://x/y", deadline=3.0), 3.0)):
        assert isinstance(root.objects, RemoteObjects)
        assert root.objects.deadline == seconds


@pytest.mark.services
def test_new_credentials_in_the_environment_are_used_at_once(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = s3_environment.bucket("changing-credentials") + "/x"
    Root(uri).write_bytes("a", b"1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(OSError, match="refused the credentials"):
        Root(uri).read_bytes("a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_environment.secret)
    assert Root(uri).read_bytes("a") == b"1"
