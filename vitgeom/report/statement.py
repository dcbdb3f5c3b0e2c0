"""A verdict and what it rests on: the first half is what a reader in a hurry reads."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.report.markup import Markup, element


@dataclass(frozen=True)
class Statement:
    """One thing that is said: ``verdict`` is a sentence with its subject first, ``evidence`` the numbers behind it, or empty."""

    verdict: str
    evidence: str = ""

    @property
    def words(self) -> str:
        """Both, as text."""
        return f"{self.verdict} {self.evidence}".strip()

    def paragraph(self) -> Markup:
        """Return both as a paragraph, the verdict in bold."""
        return element("p", element("b", self.verdict), f" {self.evidence}" if self.evidence else None)
