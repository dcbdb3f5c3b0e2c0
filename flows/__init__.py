"""Composition only: order, retries, caching, progress, report. No arithmetic."""

from tasks import environment

environment.apply()
