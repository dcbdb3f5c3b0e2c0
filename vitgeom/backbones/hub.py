"""Published weights: found on this disk if they are there, and a quick, plain answer if they cannot be fetched."""

from __future__ import annotations

import os
import socket
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import torch

from vitgeom.errors import InvalidInput

FILENAMES = (
    "model.safetensors",
    "open_clip_model.safetensors",
    "pytorch_model.bin",
    "open_clip_pytorch_model.bin",
)
TRUE_WORDS = {"1", "true", "yes", "on"}


def hub_cache() -> Path:
    """Return the folder in which the Hugging Face Hub keeps downloads, by its own environment variables."""
    home = Path(
        os.environ.get("HF_HOME")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or home / "hub")


def places(published: Mapping[str, str]) -> list[Path]:
    """Return where a copy of the weights would lie on this disk, best first.

    Args:
        published: What ``timm_models.published_at`` returned.
    """
    found: list[Path] = []
    if "hub_id" in published:
        snapshots = hub_cache() / f"models--{published['hub_id'].replace('/', '--')}" / "snapshots"
        names = (published["filename"],) if "filename" in published else FILENAMES
        found += [folder / name for folder in _newest_first(snapshots) for name in names] or [
            snapshots / "*" / names[0]
        ]
    if published.get("url", "").endswith((".pth", ".pt", ".safetensors")):
        found.append(Path(torch.hub.get_dir()) / "checkpoints" / published["url"].rsplit("/", 1)[-1])
    return found


def _newest_first(snapshots: Path) -> list[Path]:
    folders = [folder for folder in snapshots.iterdir() if folder.is_dir()] if snapshots.is_dir() else []
    return sorted(folders, key=lambda folder: folder.stat().st_mtime, reverse=True)


def cached_file(published: Mapping[str, str]) -> Path | None:
    """Return the file of a previous download, or None.

    Args:
        published: What ``timm_models.published_at`` returned.
    """
    return next((path for path in places(published) if path.is_file()), None)


def endpoint() -> str:
    """Return the address of the Hub."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co")


def why_offline(*, timeout: float = 3.0) -> str | None:
    """Return why the Hub cannot be asked, or None if its address (or the proxy on the way) accepts a connection.

    Without this the Hub's client would retry for most of a minute.

    Args:
        timeout: Seconds to wait for the connection.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in TRUE_WORDS:
        return f"HF_HUB_OFFLINE={os.environ['HF_HUB_OFFLINE']} forbids asking {endpoint()}"
    address = urllib.parse.urlsplit(endpoint())
    proxy = urllib.request.getproxies().get(address.scheme)
    target = urllib.parse.urlsplit(proxy) if proxy else address
    port = target.port or (443 if target.scheme == "https" else 80)
    try:
        socket.create_connection((target.hostname or "", port), timeout=timeout).close()
    except OSError as error:
        way = f" through the proxy {target.hostname}:{port}" if proxy else ""
        return f"{endpoint()} could not be reached{way} within {timeout:g} s ({error})"
    return None


def unavailable(name: str, published: Mapping[str, str], reason: str) -> InvalidInput:
    """Return the error for weights that are neither here nor to be had.

    Args:
        name: The backbone.
        published: What ``timm_models.published_at`` returned.
        reason: Why they cannot be fetched.
    """
    looked = " and ".join(str(path) for path in places(published))
    page = (
        f"{endpoint()}/{published['hub_id']}"
        if "hub_id" in published
        else published.get("url", "its publisher")
    )
    return InvalidInput(
        f"backbone {name!r} has no weights on this machine: looked for {looked}; {reason}. Ways out: fetch the weights file from {page} "
        f"on a connected machine and give its path, load_backbone('/path/to/{FILENAMES[0]}', architecture={name.split('.')[0]!r}); "
        f"or copy it to the place named above; or pretrained=False for random weights."
    )
