# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers of a TCP socket, and whole connections, by TCP_REPAIR."""
import socket
import struct

TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
RECEIVE, SEND = 1, 2
OFF_WITHOUT_PROBE = -1
TCP_TIMESTAMP, TCP_REPAIR_OPTIONS, TCP_REPAIR_WINDOW = 24, 22, 29
REPAIR_WINDOW_SIZE = 20
OPTION_WINDOW_SCALE, OPTION_SACK, OPTION_TIMESTAMPS = 3, 4, 8
TCP_INFO_SCALES = 6  # offset of a byte: that of the peer in the low half, ours in the high one


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


def take_out(sock):
    """Close a connection without a word to its peer. What put_back() wants to know of it."""
    state = {queue: _next(sock, queue) for queue in (RECEIVE, SEND)}
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    state["clock"] = sock.getsockopt(socket.IPPROTO_TCP, TCP_TIMESTAMP)
    state["window"] = sock.getsockopt(socket.IPPROTO_TCP, TCP_REPAIR_WINDOW, REPAIR_WINDOW_SIZE)
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_SCALES + 1)
    state["scales"] = info[TCP_INFO_SCALES]
    state["ends"] = sock.getsockname(), sock.getpeername()
    sock.close()
    return state


def put_back(host, state):
    """The connection again, as CRIU makes it: a new socket in a host."""
    with host.inside():
        sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    for queue in (RECEIVE, SEND):
        sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, queue)
        sock.setsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ, struct.pack("I", state[queue]))
    sock.bind(state["ends"][0])
    sock.connect(state["ends"][1])
    scales = (state["scales"] & 15) | state["scales"] >> 4 << 16
    options = struct.pack("6I", OPTION_WINDOW_SCALE, scales, OPTION_SACK, 0, OPTION_TIMESTAMPS, 0)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_OPTIONS, options)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_TIMESTAMP, state["clock"])
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_WINDOW, state["window"])
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, OFF_WITHOUT_PROBE)
    return sock
