"""``vitgeom ui``: look at recorded studies in the browser."""

from __future__ import annotations

import argparse
import os
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


def _become_server(uri: str, port: int) -> NoReturn:
    print(f"studies in {uri}: open http://{HOST}:{port} (Ctrl-C ends)", flush=True)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", uri, "--host", HOST]
    os.execv(sys.executable, [*command, "--port", str(port), "--workers", "1"])
