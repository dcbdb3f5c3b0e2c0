"""A parameter file of the smallest study that still has everything."""

from __future__ import annotations

from pathlib import Path

TEMPLATE = """
profile: {name}
profiles:
  {name}:
    seed: 0
    datasets: {datasets}
    backbones: {backbones}
    extract:
      tokens: [cls, mean]
      token_layers: []
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
    recoverability: {{num_bootstrap: 50}}
    fusion:
      methods: [last_layer, best_layer, vfusion]
      seeds: [0, 1]
      num_folds: 2
      fold_tol: 1.0e-3
      num_bootstrap: 50
      device: cpu
      threads: 1
      encoder: {{layer_scaling: quality, latent_dim: 4, hidden_dim: 8, orth_weight: 0.1, dropout: 0.1, l2: 0.01, learning_rate: 3.0e-3,
        max_epochs: 2, patience: 1, batch_size: null, components: 16}}
      gate: {{components: 4, hidden_dim: 4, dropout: 0.1, learning_rate: 2.0e-3, weight_decay: 0.01, batch_size: 64, max_epochs: 2, patience: 1}}
      concatenation: {{l2: [0.1, 1.0], max_components: 64}}
    sweep:
      datasets: []
      space: {{selection: [holistic, last], layer_scaling: [none], latent_dim: [null], orth_weight: [0.0, 0.1], hidden_dim: [4]}}
      num_samples: null
      early_stopping: asha
      grace_epochs: 1
      reduction_factor: 2
      metric: log_loss
      threads: 1
    shift: {{datasets: [], corruptions: [contrast], severities: [1, 5]}}
    diagnose: {{datasets: [], decoders: [cls, patch_mean], layers: [10], images: 3, rank: 4, recipe: auto, budget: 200, storage: float32,
      rows_per_range: 2, num_bootstrap: 50, device: cpu, threads: 1}}
    metric:
      datasets: []
      decoders: [cls]
      layers: [10]
      images: {{train: 6, val: 3, test: 3}}
      rank: 4
      recipe: auto
      budget: 200
      storage: float32
      rows_per_range: 4
      learn: [importance, spn]
      target: importance
      seeds: [0, 1]
      model: {{hidden: 8, heads: 2, blocks: 1}}
      training: {{epochs: 2, batch_size: 4, learning_rate: 1.0e-3, weight_decay: 0.01, warm_up: 0.1, clip_norm: 1.0, patience: 2, beta: 0.1,
        precision: float32}}
      bottleneck: {{registers: 2, latent: 4, kl_weight: 3.0, task_weight: 1.0, budget: 100, images: 6, epochs: 2, learning_rate: 1.0e-3}}
      sweep: {{ranks: [2, 4], hidden: [8], grace_epochs: 1, reduction_factor: 2}}
      num_bootstrap: 50
      workers: 1
      device: cpu
      threads: 1
    engine: {{kind: serial, address: local, num_cpus: null, max_in_flight: 2, retries: 0}}
    tracking: {{experiment: small, uri: null}}
"""


NOISE = "[{name: noise, options: {n: 60, classes: 3, size: 32}}]"
# Twelve blocks on four patches, with random weights: small, and not tied to any weights file.
RANDOM_VIT = "[{name: vit_tiny_patch16_224, options: {pretrained: false, image_size: 32}}]"


def small(*, name: str = "small", datasets: str = NOISE, backbones: str = "[nano_supervised]") -> str:
    """Return the text of a file with one profile; datasets and backbones are YAML."""
    return TEMPLATE.format(name=name, datasets=datasets, backbones=backbones)


def write_small(
    folder: Path, *, name: str = "small", datasets: str = NOISE, backbones: str = "[nano_supervised]"
) -> Path:
    """Write such a file as ``params.yaml`` into a folder and return its path."""
    path = folder / "params.yaml"
    path.write_text(small(name=name, datasets=datasets, backbones=backbones))
    return path
