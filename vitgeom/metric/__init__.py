"""Metrics that a task puts on features, beyond one point."""

from vitgeom.metric.geodesic import Geodesic, geodesic

__all__ = ["Geodesic", "geodesic"]
