"""``vitgeom ui``: look at recorded studies in the browser."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from typing import NoReturn

HOST = "127.0.0.1"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "ui", help="show recorded studies in the browser (MLflow, on this machine only)"
    )
    command.add_argument("--port", type=int, default=5000, help="port on 127.0.0.1 (default: %(default)s)")
    command.add_argument("--uri", help="tracking URI (default: $MLFLOW_TRACKING_URI or ./mlflow.db)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Become the MLflow server."""
    from tasks.tracking import tracking_uri

    uri = tracking_uri(arguments.uri)
    if not uri.startswith(("http://", "https://")):
        _become_server(uri, arguments.port)
    print(f"studies are recorded by a server: open {uri}")
    return 0


def _require_free(port: int) -> None:
    """Refuse a port on which another server would show other studies under the same address."""
    from vitgeom.errors import InvalidInput

    if not 0 < port < 65536:
        raise InvalidInput(f"--port must lie in 1..65535, got {port}.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise InvalidInput(
                f"--port {port} cannot be used on {HOST} ({error.strerror}). Choose another one: vitgeom ui --port {port + 1}"
            ) from error


def _become_server(uri: str, port: int) -> NoReturn:
    _require_free(port)
    print(
        f"studies in {uri}: starting MLflow, then open http://{HOST}:{port}/#/experiments (Ctrl-C ends)",
        flush=True,
    )
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", uri, "--host", HOST]
    os.execv(sys.executable, [*command, "--port", str(port), "--workers", "1"])
