"""A parameter file of the smallest study that still has everything."""

from __future__ import annotations

from pathlib import Path

SMALL = """
profile: small
profiles:
  small:
    seed: 0
    datasets: [{name: noise, options: {n: 60, classes: 3, size: 32}}]
    backbones: [nano_supervised]
    extract:
      tokens: [cls, mean]
      precision: float32
      storage: float32
      batch_size: 16
      rows_per_range: 16
      image_size: null
      device: cpu
      threads: 1
    probe:
      token: cls
      last_layer: normed
      l2: [1.0e-3, 1.0e-1]
      tol: 1.0e-5
      max_iter: 200
      refit: false
      threads: 1
    recoverability: {num_bootstrap: 50}
    engine: {kind: serial, address: local, num_cpus: null, max_in_flight: 2, retries: 0}
    tracking: {experiment: small, uri: null}
"""


def write_small(folder: Path, *, datasets: str | None = None, backbones: str | None = None) -> Path:
    """Write the file into a folder and return its path; lists in YAML may replace its datasets and backbones."""
    text = SMALL
    if datasets:
        text = text.replace("[{name: noise, options: {n: 60, classes: 3, size: 32}}]", datasets)
    if backbones:
        text = text.replace("[nano_supervised]", backbones)
    path = folder / "params.yaml"
    path.write_text(text)
    return path
