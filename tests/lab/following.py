# SPDX-License-Identifier: Apache-2.0
"""The requests that the agent follows, out of the maps of the node (bpf/engine/model.h)."""
import contextlib
import re
import socket
import struct
from collections import namedtuple
from pathlib import Path

from bpf_map import Map
from waiting import wait_until

NODE = "/sys/fs/bpf/ctxprop/node"
SO_NETNS_COOKIE = 71
ROOT = 1 << 2
WANTED = 1  # enum runtime_kind: user space was asked what the process runs

PLACES = 1024  # few requests share the first ones (request_drawn())

Request = namedtuple("Request", "id trace_id parent_id flags tracestate root")
Arrival = namedtuple("Arrival", "request seq")

_REQUEST = struct.Struct("=8s16s8sBB6x8s32xQQIIIIQQ8x")
_SOCKET = struct.Struct("=IIQQ48s")  # as far as its own inbox
_INBOX, _ARRIVAL, SLOTS = struct.Struct("=QII"), struct.Struct("=QII"), 8
_CALL = struct.Struct("=16s8sBB6xQIBBBxII8x")
_CALLS_END, _CALLS_AT = 4, _SOCKET.size + _INBOX.size + SLOTS * _ARRIVAL.size
_INBOX_PLACE_BITS, _INBOX_OWN = 14, 1

_MODEL = Path(__file__).resolve().parents[2] / "bpf/engine/model.h"


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


def kind_of(tgid):
    """What the probes know of a process (enum runtime_kind); None: nothing."""
    with node_map("runtimes") as runtimes:
        value = runtimes.get(struct.pack("I", tgid))
    return struct.unpack_from("I", value)[0] if value else None


def known_as(tgid):
    """The same, once it was found out: until then its requests are not followed."""
    wait_until(lambda: kind_of(tgid) not in (None, WANTED), "what the process runs is known")
    return kind_of(tgid)


def all_known():
    """Wait until of every process that listens, or has had a request, it is known what it runs."""
    def kinds():
        with node_map("runtimes") as runtimes:
            values = [runtimes.get(key) for key in runtimes.keys()]
        return [struct.unpack_from("I", value)[0] for value in values if value]

    wait_until(lambda: WANTED not in kinds(), "what all processes run is known")


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
    start = 16 + value[15]
    line = value[start:start + length].decode()
    read = re.fullmatch("tracestate:  ?([^ \t,](.*[^ \t,])?)\r\n", line)
    assert read and length % 2 == 0, line
    return read[1]


def arrivals(sock):
    """The arrivals that a server's socket was told of, oldest first."""
    with node_map("sockets") as sockets:
        value = sockets.get(struct.pack("i", sock.fileno()))
    if value is None:
        return []
    box, number = value[_SOCKET.size:], _SOCKET.unpack_from(value)[2]
    if number > _INBOX_OWN:
        with node_map("inboxes") as inboxes:
            box = inboxes.get(struct.pack("I", number >> (64 - _INBOX_PLACE_BITS)))
    _, _, end = _INBOX.unpack_from(box)
    told = [_ARRIVAL.unpack_from(box, _INBOX.size + _ARRIVAL.size * (i % SLOTS))
            for i in range(max(0, end - SLOTS), end)]
    return [Arrival(request, seq) for request, seq, _ in told]


def inboxes():
    """How many inboxes are in use, in all namespaces of this layer."""
    with node_map("inboxes") as boxes:
        return sum(any(box[:8]) for box in boxes.first_values(1 << _INBOX_PLACE_BITS))


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
        end = int.from_bytes(value[_CALLS_END:_CALLS_END + 4], "little")
        at = _CALLS_AT + end % 4 * _CALL.size
        value[at:at + _CALL.size] = call
        value[_CALLS_END:_CALLS_END + 4] = (end + 1).to_bytes(4, "little")
        sockets.set(key, bytes(value))
