from __future__ import annotations

import socket

import pytest

from vitgeom.backbones import hub

PUBLISHED = {"hub_id": "timm/some_vit.tag", "url": "https://example.org/files/some_vit.pth"}


@pytest.fixture(autouse=True)
def empty_caches(tmp_path, monkeypatch):
    for name in (
        "HF_HUB_CACHE",
        "HF_HUB_OFFLINE",
        "HF_ENDPOINT",
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


def place(folder, name="model.safetensors"):
    folder.mkdir(parents=True)
    (folder / name).write_bytes(b"weights")
    return folder / name


def test_nothing_cached_is_none_and_the_places_are_told(tmp_path):
    assert hub.cached_file(PUBLISHED) is None
    assert [str(path) for path in hub.places(PUBLISHED)] == [
        str(tmp_path / "hf/hub/models--timm--some_vit.tag/snapshots/*/model.safetensors"),
        str(tmp_path / "torch/hub/checkpoints/some_vit.pth"),
    ]


def test_a_snapshot_of_the_hub_is_found(tmp_path):
    file = place(tmp_path / "hf/hub/models--timm--some_vit.tag/snapshots/abc", "pytorch_model.bin")
    assert hub.cached_file(PUBLISHED) == file


def test_safetensors_come_before_pickles(tmp_path):
    file = place(tmp_path / "hf/hub/models--timm--some_vit.tag/snapshots/abc")
    (file.parent / "pytorch_model.bin").write_bytes(b"weights")
    assert hub.cached_file(PUBLISHED) == file


def test_a_download_of_torch_is_found(tmp_path):
    assert hub.cached_file(PUBLISHED) is None
    file = place(tmp_path / "torch/hub/checkpoints", "some_vit.pth")
    assert hub.cached_file(PUBLISHED) == file


def test_a_named_file_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    file = place(tmp_path / "cache/models--a--b/snapshots/abc", "visual.bin")
    assert hub.cached_file({"hub_id": "a/b"}) is None
    assert hub.cached_file({"hub_id": "a/b", "filename": "visual.bin"}) == file


def test_offline_switch_is_obeyed_without_a_connection(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(
        socket, "create_connection", lambda *args, **kwargs: pytest.fail("a connection was tried")
    )
    assert hub.why_offline() == "HF_HUB_OFFLINE=1 forbids asking https://huggingface.co"


def test_a_closed_port_is_noticed_at_once(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    assert f"http://127.0.0.1:{port} could not be reached within 3 s" in hub.why_offline()


def test_a_listening_endpoint_can_be_asked(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert hub.why_offline() is None


def test_a_proxy_on_the_way_is_what_must_answer(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
        assert hub.why_offline() is None
    assert "through the proxy 127.0.0.1" in hub.why_offline()


def test_the_error_says_what_was_tried_and_three_ways_out():
    message = str(hub.unavailable("some_vit.tag", PUBLISHED, "the Hub is far away"))
    for part in (
        "'some_vit.tag' has no weights on this machine",
        "models--timm--some_vit.tag",
        "checkpoints/some_vit.pth",
        "the Hub is far away",
        "https://huggingface.co/timm/some_vit.tag",
        "architecture='some_vit'",
        "pretrained=False",
    ):
        assert part in message
