from __future__ import annotations

import pytest

from vitgeom.backbones.pretraining.pictures import ScenePool, render_pool


@pytest.fixture(scope="session")
def pool() -> ScenePool:
    """A few rendered scenes with their geometry."""
    return render_pool(20, seed=3)
