"""A place for bytes, named by a path or URL: the same code for a laptop folder, an S3 bucket and memory."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.store.failures import MissingObject, error_code, local_failure, remote_failure, without_userinfo
from vitgeom.store.local_files import LocalFiles
from vitgeom.store.objects import Objects
from vitgeom.store.remote_objects import RemoteObjects

DEADLINE_SECONDS = 60.0
_URL = re.compile(r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)$", re.DOTALL)


class Root:
    """A folder, bucket prefix or memory prefix below which objects are read and written whole.

    Credentials come from the standard AWS environment variables (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``,
    ``AWS_ENDPOINT_URL``), never from the URL. Make a Root inside the process that uses it; what travels is ``uri``.
    """

    def __init__(self, uri: str | Path, *, deadline: float | None = None) -> None:
        """Name a place; nothing is read or written yet.

        Args:
            uri: A local path (also ``file://``) or an fsspec URL such as ``s3://bucket/prefix`` or ``memory://name``.
            deadline: Seconds that one operation on a remote place may take, retries included; default
                ``VITGEOM_STORE_DEADLINE`` or 60.

        Raises:
            InvalidInput: The URL is empty, holds credentials, or names no bucket.
            UnknownName: The scheme is unknown.
        """
        text = str(uri)
        if not text.strip():
            raise InvalidInput("store uri is empty: give a folder or a URL such as s3://bucket/prefix.")
        match = _URL.match(text)
        self._prefix = ""
        self._endpoint = ""
        if match is None or match["scheme"] in ("file", "local"):
            folder = Path(text if match is None else match["rest"]).expanduser().absolute()
            self.uri = str(folder)
            self._objects: Objects = LocalFiles(folder)
            self._is_local = True
            return
        scheme, base = match["scheme"].lower(), match["rest"].strip("/")
        if "@" in base.split("/")[0]:
            raise InvalidInput(
                f"store uri {scheme}://{without_userinfo(text).split('://', 1)[1]} was given with credentials before the '@': leave them"
                " out and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead."
            )
        if not base:
            raise InvalidInput(
                f"store uri {text!r} names no bucket or prefix: write {scheme}://bucket/prefix."
            )
        if "::" in base or "?" in base or "#" in base:
            raise InvalidInput(
                f"store uri {text!r} holds '::', '?' or '#', which have a meaning of their own in URLs: choose another prefix."
            )
        self.uri = f"{scheme}://{base}"
        self._is_local = False
        self._endpoint = _endpoint()
        self._objects = RemoteObjects(scheme, base, deadline=_deadline(deadline))

    @classmethod
    def over(cls, objects: Objects, *, uri: str, prefix: str = "") -> Root:
        """Return a root over objects of one's own, for example a wrapper that counts or injects faults.

        Args:
            objects: Where the bytes go.
            uri: The name that messages use.
            prefix: What stands before every key, "" or ending in "/".
        """
        root = cls.__new__(cls)
        root.uri, root._objects, root._prefix, root._endpoint = uri, objects, prefix, _endpoint()
        root._is_local = "://" not in uri
        return root

    def join(self, *parts: str) -> Root:
        """Return the place below this one.

        Args:
            *parts: Relative names, each of which may hold "/".

        Raises:
            InvalidInput: A part is empty, absolute or climbs with "..".
        """
        below = "/".join(_relative(part) for part in parts)
        if not below:
            return self
        return Root.over(self._objects, uri=f"{self.uri}/{below}", prefix=f"{self._prefix}{below}/")

    @property
    def prefix(self) -> str:
        """What stands before every key: "" or a path that ends in "/"."""
        return self._prefix

    @property
    def is_local(self) -> bool:
        """True for the local file system."""
        return self._is_local

    @property
    def objects(self) -> Objects:
        """The objects below, without this root's prefix."""
        return self._objects

    def get(self, rel: str) -> bytes | None:
        """Return an object's bytes, or None when there is none.

        Raises:
            CorruptData: A folder stands in its place.
            StoreError: The place cannot be read.
        """
        with self._explained(rel, "read"):
            return self._objects.get(self._key(rel))

    def read_bytes(self, rel: str) -> bytes:
        """Return an object's bytes.

        Raises:
            MissingObject: There is no such object.
            StoreError: The place cannot be read.
        """
        data = self.get(rel)
        if data is None:
            raise MissingObject(
                f"cannot read {self.uri}/{rel}: it does not exist. Check the path, or make it first."
            )
        return data

    def write_bytes(self, rel: str, data: bytes | memoryview) -> None:
        """Write an object whole, replacing what was there.

        Raises:
            StoreError: The place cannot be written (read-only, full, refused credentials, unreachable).
        """
        with self._explained(rel, "write"):
            self._objects.put(self._key(rel), data)

    def write_new(self, rel: str, data: bytes | memoryview) -> bool:
        """Write an object unless it exists and return whether it was written.

        Atomic on a local disk and on servers with conditional puts; elsewhere the last of two writers at the same moment wins.

        Raises:
            StoreError: As for :meth:`write_bytes`.
        """
        if self.get(rel) is not None:
            return False
        with self._explained(rel, "write"):
            try:
                self._objects.put(self._key(rel), data, exclusive=True)
            except FileExistsError:
                # Another writer was first; a file where a folder is needed looks the same and is no success.
                if self._objects.get(self._key(rel)) is not None:
                    return False
                raise
        return True

    def exists(self, rel: str) -> bool:
        """Return True when there is an object (a file, not a folder) of that name."""
        with self._explained(rel, "look at"):
            return self._objects.exists(self._key(rel))

    def list(self, rel: str = "") -> list[str]:
        """Return the sorted names directly below; empty when there is nothing."""
        with self._explained(rel, "list"):
            return sorted(self._objects.children(self._key(rel).rstrip("/")))

    def remove(self, rel: str, *, recursive: bool = False) -> None:
        """Remove an object, or with ``recursive`` everything below a name; nothing happens when it is not there."""
        with self._explained(rel, "remove"):
            self._objects.remove(self._key(rel), recursive=recursive)

    def sweep(self) -> Sequence[str]:
        """Remove what killed writers left half-written below this place; safe beside living writers.

        Returns:
            The keys that were removed.
        """
        with self._explained("", "sweep"):
            return self._objects.sweep(self._prefix.rstrip("/"))

    def read_json(self, rel: str) -> Any:
        """Return a JSON object's value.

        Raises:
            MissingObject: There is no such object.
            CorruptData: The bytes are not JSON.
        """
        data = self.read_bytes(rel)
        try:
            return json.loads(data)
        except ValueError as error:
            raise CorruptData(
                f"{self.uri}/{rel} is damaged: its {len(data)} bytes are not JSON. Remove it and run again."
            ) from error

    def write_json(self, rel: str, value: Any) -> None:
        """Write a value as JSON with sorted keys, so that equal values give equal bytes."""
        text = json.dumps(value, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False)
        self.write_bytes(rel, (text + "\n").encode("ascii"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by name: the other process makes clients and finds credentials of its own."""
        return Root, (self.uri,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self.uri == other.uri

    def __hash__(self) -> int:
        return hash(self.uri)

    def __repr__(self) -> str:
        return f"Root({self.uri!r})"

    def _key(self, rel: str) -> str:
        return self._prefix + (_relative(rel) if rel else "")

    @contextlib.contextmanager
    def _explained(self, rel: str, action: str) -> Iterator[None]:
        """Turn what the library below raises into a StoreError that names the place."""
        place = f"{self.uri}/{rel}" if rel else self.uri
        try:
            yield
        except (StoreError, InvalidInput):
            raise
        except Exception as error:
            if not self._is_local:
                # The text of a server's error may quote parts of the signed request: it is not chained.
                cause = None if error_code(error) else error
                raise remote_failure(error, uri=place, action=action, endpoint=self._endpoint) from cause
            if not isinstance(error, OSError):
                raise
            raise local_failure(error, uri=place, action=action) from error


def as_root(root: Root | str | Path) -> Root:
    """Return a Root for a Root, a path or a URL."""
    return root if isinstance(root, Root) else Root(root)


def _endpoint() -> str:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _relative(part: str) -> str:
    pieces = part.split("/")
    if part.startswith("/") or any(piece in ("", ".", "..") for piece in pieces) or "\0" in part:
        raise InvalidInput(f"path {part!r} must be relative, without empty parts, '.' or '..'.")
    return part


def _deadline(given: float | None) -> float:
    if given is None:
        text = os.environ.get("VITGEOM_STORE_DEADLINE", str(DEADLINE_SECONDS))
        try:
            given = float(text)
        except ValueError as error:
            raise InvalidInput(f"VITGEOM_STORE_DEADLINE={text!r} must be a number of seconds.") from error
    if not 0 < given < float("inf"):
        raise InvalidInput(f"deadline must be a positive number of seconds, got {given}.")
    return given
