from __future__ import annotations

from vitgeom.randnla.products import NOTHING_SPENT, Products


def test_costs_add_up() -> None:
    spent = Products(jvp=2, vjp=3) + Products(vjp=4)
    assert spent == Products(jvp=2, vjp=7)
    assert spent.total == 9
    assert spent.to_json() == {"jvp": 2, "vjp": 7, "total": 9}


def test_nothing_is_neutral() -> None:
    assert Products(jvp=1) + NOTHING_SPENT == Products(jvp=1)
