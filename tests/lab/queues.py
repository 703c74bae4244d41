# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers of a TCP socket, by TCP_REPAIR."""
import socket

TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
RECEIVE, SEND = 1, 2
OFF_WITHOUT_PROBE = -1


def _next(sock, queue):
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, queue)
        return sock.getsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ) & 0xffffffff
    finally:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, OFF_WITHOUT_PROBE)


def next_to_arrive(sock):
    """The number of the byte that a socket waits for."""
    return _next(sock, RECEIVE)


def next_to_send(sock):
    """The number of the byte that the application writes next."""
    return _next(sock, SEND)
