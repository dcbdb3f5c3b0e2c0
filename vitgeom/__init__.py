"""Geometry of frozen Vision Transformers: which layers, directions and tokens a task depends on."""

__version__ = "0.1.0"
