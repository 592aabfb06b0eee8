"""Ports of this machine that nobody uses."""

import socket


def find_free_ports(number: int) -> list[int]:
    """Return ports that are free now, each different."""
    sockets = [socket.socket() for _ in range(number)]
    for bound in sockets:
        bound.bind(("127.0.0.1", 0))
    ports = [bound.getsockname()[1] for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports
