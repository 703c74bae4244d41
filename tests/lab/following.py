# SPDX-License-Identifier: Apache-2.0
"""The requests that the agent follows, out of the maps of the node (bpf/context/model.h)."""
import contextlib
import re
import socket
import struct
from collections import namedtuple
from pathlib import Path

from bpf_map import Map

NODE = "/sys/fs/bpf/ctxprop/node"
SO_NETNS_COOKIE = 71
ROOT = 1 << 2

PLACES = 1024  # few requests share the first ones (request_drawn())

Request = namedtuple("Request", "id trace_id parent_id flags tracestate root")
Arrival = namedtuple("Arrival", "request seq")

_REQUEST = struct.Struct("=8s16s8sBB6x8s32xQQIIIIQQ")
_ARRIVALS, _ARRIVAL, SLOTS = struct.Struct("=IIII"), struct.Struct("=QII"), 8
_ARRIVALS_AT = _ARRIVALS.size + 8 + 8 + 16
_CALL, _CALLS_AT = struct.Struct("=16s8sBB6xQIBBBxII"), _ARRIVALS_AT + SLOTS * _ARRIVAL.size

_MODEL = Path(__file__).resolve().parents[2] / "bpf/context/model.h"


def _table(name):
    """{row: number} of one of the tables of the model."""
    text = _MODEL.read_text(encoding="utf-8").partition(f"#define CTXPROP_{name}(X)")[2]
    rows = re.findall(r"X\((\w+),", text.partition("\n\n")[0])
    return {row: number for number, row in enumerate(rows)}


EVIDENCE_THREAD, VETO_NO_EVIDENCE = _table("EVIDENCE")["THREAD"], _table("VETO")["NO_EVIDENCE"]


def node_map(name):
    """A map of the newest node layer."""
    found = sorted(Path(NODE).glob(f"v*/maps/{name}"), key=lambda path: path.stat().st_ino)
    return Map(found[-1])


def netns_of(host):
    """What tells the namespace of a host from others: the low half of its cookie."""
    with host.inside(), contextlib.closing(socket.socket()) as s:
        cookie = s.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
    return int.from_bytes(cookie, "little") & 0xffffffff


def open_requests(host):
    """{span id: Request} of the requests that have arrived in a host and are not over."""
    netns, found = netns_of(host), {}
    with node_map("requests") as requests, node_map("tracestates") as states:
        for value in requests.first_values(PLACES):
            key, trace, span, flags, state, parent, _, _, marks, _, _, where, _, _ = (
                _REQUEST.unpack(value))
            if any(key) and where == netns:
                line = states.get(key) if state else None
                found[span.hex()] = Request(int.from_bytes(key, "little"), trace.hex(), parent.hex(),
                                            flags, tracestate(line), bool(marks & ROOT))
    return found


def tracestate(value):
    """The value of the line that a struct tracestate holds, or None."""
    if value is None:
        return None
    length = int.from_bytes(value[:2], "little")
    line = value[16:16 + length].decode()
    name, _, text = line.partition(": ")
    assert name == "tracestate" and text.endswith("\r\n") and length % 2 == 0, line
    return text.strip()


def arrivals(sock):
    """The arrivals that a server's socket was told of, oldest first."""
    with node_map("sockets") as sockets:
        value = sockets.get(struct.pack("i", sock.fileno()))
    if value is None:
        return []
    _, _, end, _ = _ARRIVALS.unpack_from(value)
    told = [_ARRIVAL.unpack_from(value, _ARRIVALS_AT + _ARRIVAL.size * (i % SLOTS))
            for i in range(max(0, end - SLOTS), end)]
    return [Arrival(request, seq) for request, seq, _ in told]


def begin_call(sock, seq, cause=None, evidence=EVIDENCE_THREAD, veto=0):
    """Say of a client's socket, as the probes do, why it sends what begins with byte `seq`.

    cause: (span id, Request), or None when it is not known.
    """
    span, request = cause or ("00" * 8, Request(0, "00" * 16, "", 0, None, False))
    call = _CALL.pack(bytes.fromhex(request.trace_id), bytes.fromhex(span), request.flags,
                      request.tracestate is not None, request.id, seq,
                      evidence if cause else 0, veto, 1, 0, 0)
    key = struct.pack("i", sock.fileno())
    with node_map("sockets") as sockets:
        value = bytearray(sockets.get(key) or bytes(sockets.value_size))
        end = int.from_bytes(value[12:16], "little")
        at = _CALLS_AT + end % 4 * _CALL.size
        value[at:at + _CALL.size] = call
        value[12:16] = (end + 1).to_bytes(4, "little")
        sockets.set(key, bytes(value))
