"""Environment switches of the libraries beneath, set in one place before they are imported.

Telemetry of every component is off; servers stay on loopback; the work itself writes nothing into the home folder. A value that the user has set wins,
except where only one value keeps data at home.
"""

from __future__ import annotations

import os

TELEMETRY_OFF = {
    "DO_NOT_TRACK": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
    "DVC_NO_ANALYTICS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}

DEFAULTS = {
    # A temporary Prefect server can need longer than its default 20 s on a busy small machine.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "GIT_PYTHON_REFRESH": "quiet",
    # Local Ray binds to 127.0.0.1 instead of the outer interface.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Some S3 servers answer range requests with the checksum of the whole object.
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
}


def apply() -> None:
    """Set the switches in this process and in every process that it starts."""
    os.environ.update(TELEMETRY_OFF)
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
