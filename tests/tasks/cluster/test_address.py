"""Addresses that may not be joined."""

from __future__ import annotations

import socket

import pytest

from tasks.cluster.address import check_address, reach
from vitgeom.errors import InvalidInput


@pytest.mark.parametrize(
    "address", ["auto", "", "ray://head:10001", "head", "head:", "http://head:8265", "local:"]
)
def test_an_address_that_is_not_exact_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="address must be 'local' or 'host:port'"):
        check_address(address, num_cpus=None)


@pytest.mark.parametrize("address", ["local", "127.0.0.1:6379", "ray-head.ns.svc:6379", "[::1]:6379"])
def test_exact_addresses_are_accepted(address: str) -> None:
    check_address(address, num_cpus=None)


def test_only_a_private_ray_can_be_told_its_size() -> None:
    check_address("local", num_cpus=2)
    with pytest.raises(InvalidInput, match="num_cpus=2 goes with address='local' only"):
        check_address("head:6379", num_cpus=2)
    with pytest.raises(InvalidInput, match="num_cpus must be >= 1, got 0"):
        check_address("local", num_cpus=0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_somebody_who_listens_is_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach(f"{host}:{server.getsockname()[1]}")


def test_nobody_is_not_reached() -> None:
    with pytest.raises(OSError, match="refused"):
        reach("127.0.0.1:1")
