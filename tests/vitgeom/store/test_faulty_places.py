"""Places that refuse, fill up, fall silent or come back: every fault is a StoreError that names the place and the way out."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.feature_stores import address_of, describe, fill, make_store, range_arrays, snapshot
from tests.support.s3_server import S3Server, running_s3_server
from tests.support.watched_objects import disk_full, fails_on_write, watched
from vitgeom.errors import StoreError
from vitgeom.store.features import open_features
from vitgeom.store.integrity import verify
from vitgeom.store.uri import Root


def _write_first_range(root: Root) -> str:
    store = make_store(root)
    store.write_range("train", 0, 4, range_arrays(store.layout, "train", 0, 4), seconds=1.0)
    return store.address_path


def _finishes_as_if_nothing_had_happened(root: Root, undisturbed: Root) -> None:
    """Finished ranges stayed valid, and what is written from here on gives the same store."""
    store = open_features(root, address_of(describe()).path)
    assert ("train", 0, 4) not in store.missing()
    assert verify(store) == []
    for one in (root, undisturbed):
        finished = make_store(one)
        fill(finished)
        finished.seal()
    assert snapshot(root) == snapshot(undisturbed)


def test_a_file_where_a_folder_must_be(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("I am a file")
    with pytest.raises(
        StoreError,
        match=rf"cannot write {tmp_path}/store/features/.*: a file stands where a folder is needed",
    ):
        make_store(Root(tmp_path / "store"))
    assert (tmp_path / "store").read_text() == "I am a file"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "the file system is read-only. Choose another root with VITGEOM_STORE"),
        (errno.EACCES, "permission denied. Choose another root with VITGEOM_STORE"),
        (errno.ENOSPC, "no space left on the device. Free some space.*Finished ranges stay valid"),
        (errno.EDQUOT, "the disk quota is used up.*Finished ranges stay valid"),
    ],
)
def test_a_disk_that_refuses_at_the_nth_write(
    local_root: Root, tmp_path: Path, number: int, words: str
) -> None:
    address = _write_first_range(local_root)
    # The fault strikes in the middle of the data of a range, so that some of its chunks are there.
    faulty, objects = watched(local_root, fault=fails_on_write(number, after=5))
    store = open_features(faulty, address)
    with pytest.raises(StoreError, match=f"cannot write {local_root.uri}/.*{words}"):
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    assert sum(objects.writes.values()) == 5
    assert store.marker("train", 4) is None
    _finishes_as_if_nothing_had_happened(local_root, Root(tmp_path / "undisturbed"))


def test_a_disk_that_is_full_just_before_the_marker(local_root: Root, tmp_path: Path) -> None:
    address = _write_first_range(local_root)
    chunks = 2 * 3 + 5
    faulty, objects = watched(local_root, fault=disk_full(after=chunks))
    store = open_features(faulty, address)
    with pytest.raises(StoreError, match=r"done/train/0000000004-0000000008\.json: no space left"):
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    assert sum(objects.writes.values()) == chunks
    _finishes_as_if_nothing_had_happened(local_root, Root(tmp_path / "undisturbed"))


LIMITED = """
import resource, signal, sys
from tests.support.feature_stores import make_store, range_arrays
from vitgeom.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = make_store(sys.argv[1], width=4000)
store.write_range("val", 0, 3, range_arrays(store.layout, "val", 0, 3), seconds=1.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    store.write_range("train", 0, 4, range_arrays(store.layout, "train", 0, 4), seconds=1.0)
except StoreError as error:
    print(error)
print(store.missing())
"""


def test_a_process_that_may_not_write_large_files(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "store")],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "the file is larger than this process may write. Raise the limit (ulimit -f)" in done.stdout
    assert "[('train', 0, 4), ('train', 4, 8), ('train', 8, 10)]" in done.stdout
    assert not list(tmp_path.rglob("*.partial"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small tmpfs needs root; the same fault is injected in other tests")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(small_disk: Path, tmp_path: Path) -> None:
    store = make_store(str(small_disk / "store"), width=3000)
    store.write_range("train", 0, 4, range_arrays(store.layout, "train", 0, 4), seconds=1.0)
    with pytest.raises(StoreError, match=f"cannot write {small_disk}/.*: no space left on the device"):
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    assert not list(small_disk.rglob("*.partial"))
    assert store.missing("train") == [("train", 4, 8), ("train", 8, 10)]
    assert verify(store) == []


def test_a_disk_that_is_really_read_only(small_disk: Path) -> None:
    store = make_store(str(small_disk / "store"))
    fill(store)
    manifest = store.seal()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match="the file system is read-only"):
        make_store(str(small_disk / "another"))
    reader = open_features(str(small_disk / "store"), store.address_path)
    assert reader.manifest() == manifest
    assert reader.read("train", "cls").shape == (10, 3, 5)
    assert verify(reader) == []


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server that a test may pause or kill, with the environment leading to it."""
    with running_s3_server(tmp_path / "s3") as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.mark.services
def test_wrong_credentials_fail_fast_and_are_not_shown(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = s3_environment.bucket(f"private-{uuid.uuid4().hex[:8]}")
    wrong = "wrong-secret-never-to-be-printed"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", wrong)
    root = Root(f"{bucket}/x")
    started = time.monotonic()
    with pytest.raises(
        StoreError, match=f"refused the credentials for bucket {bucket}.*AWS_SECRET_ACCESS_KEY"
    ) as caught:
        make_store(root)
    assert time.monotonic() - started < 15
    shown = "".join(traceback.format_exception(caught.value))
    assert wrong not in shown
    assert s3_environment.secret not in shown
    assert "Signature=" not in shown


@pytest.mark.services
def test_no_credentials_say_which_variables_are_needed(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bucket = s3_environment.bucket(f"private-{uuid.uuid4().hex[:8]}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(
        StoreError, match=f"no credentials for bucket {bucket} were found. Set AWS_ACCESS_KEY_ID"
    ):
        make_store(Root(f"{bucket}/x"))


@pytest.mark.services
def test_a_bucket_that_does_not_exist_is_named(s3_environment: S3Server) -> None:
    with pytest.raises(StoreError, match=r"bucket s3://no-such-bucket does not exist at http://127"):
        make_store(Root("s3://no-such-bucket/x"))


@pytest.mark.services
def test_a_server_that_is_down_is_named_and_finished_ranges_stay(
    own_server: S3Server, tmp_path: Path
) -> None:
    uri = own_server.bucket("bucket") + "/x"
    address = _write_first_range(Root(uri))
    store = open_features(Root(uri, deadline=2.0), address)
    own_server.stop()
    with pytest.raises(
        StoreError,
        match=f"cannot read s3://bucket/x/.* {own_server.endpoint} does not answer.*AWS_ENDPOINT_URL",
    ):
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    own_server.start()
    _finishes_as_if_nothing_had_happened(Root(uri), Root(tmp_path / "undisturbed"))


@pytest.mark.services
def test_a_put_that_hangs_ends_at_the_deadline(own_server: S3Server, tmp_path: Path) -> None:
    uri = own_server.bucket("bucket") + "/x"
    address = _write_first_range(Root(uri))
    paused = threading.Event()

    def pause_at_the_third_write(action: str, key: str) -> None:
        if action == "put" and sum(objects.writes.values()) == 2 and not paused.is_set():
            own_server.pause()
            paused.set()

    root, objects = watched(Root(uri, deadline=3.0), fault=pause_at_the_third_write)
    store = open_features(root, address)
    started = time.monotonic()
    with pytest.raises(
        StoreError, match=r"cannot write s3://bucket/x/.* does not answer.*VITGEOM_STORE_DEADLINE"
    ):
        store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    assert paused.is_set()
    assert time.monotonic() - started < 30
    own_server.resume()
    _finishes_as_if_nothing_had_happened(Root(uri), Root(tmp_path / "undisturbed"))


@pytest.mark.services
def test_a_server_that_comes_back_in_time_is_not_noticed(own_server: S3Server) -> None:
    root = Root(own_server.bucket("bucket") + "/x")
    root.write_bytes("a", b"1")
    own_server.stop()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(root.read_bytes, "a")
        time.sleep(1.0)
        assert not waiting.done()
        own_server.start()
        assert waiting.result() == b"1"


def test_an_error_of_the_store_survives_the_trip_between_processes(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreError) as caught:
        make_store(Root(tmp_path / "store"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)


def test_markers_hold_no_address_of_the_place(local_root: Root) -> None:
    """Stores can be moved: nothing inside names where it lies."""
    _write_first_range(local_root)
    for key, data in snapshot(local_root).items():
        if key.endswith(".json"):
            assert os.fsencode(local_root.uri) not in data
            json.loads(data)
