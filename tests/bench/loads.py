# SPDX-License-Identifier: Apache-2.0
"""What is sent, and the client that sends it."""
import dataclasses
import json
import subprocess

HEADER_BYTES = 70  # "traceparent: " + 55 + CRLF


@dataclasses.dataclass(frozen=True)
class Load:
    """One kind of traffic; head and body in bytes."""
    name: str
    title: str
    head: int = 200
    body: int = 0
    connections: int = 2  # a small GET costs about 14 us then, switching tasks included
    pipeline: int = 1
    reconnect: bool = False
    by_packet: bool = False  # no super-packets: the client's TCP sends each segment by itself


SMALL = Load("small", "200-byte GET, keep-alive")
NEW = Load("new", "200-byte GET, new connection", connections=16, reconnect=True)
# 1400 + 70 bytes do not fit the 1448 that one segment carries.
EDGE = Load("edge", "1400-byte GET (MTU edge)", head=1400)
# What so many bytes cost there, whoever adds them: the client sends them itself.
EDGE_OWN = dataclasses.replace(EDGE, head=EDGE.head + HEADER_BYTES)
# And in two packets, as they go on the wire, rather than in one that is cut later, or never.
EDGE_OWN_TWO = dataclasses.replace(EDGE_OWN, by_packet=True)
LOADS = (
    SMALL,
    NEW,
    EDGE,
    Load("post", "64 KB POST", body=65536),
    Load("pipelined", "200-byte GET, pipelined x8", pipeline=8),
)
# Only for BPF times, packet by packet: nearly all that comes back are pure acknowledgements.
LONG_POST = Load("long", "16 MB POST, packet by packet", body=16_000_000)


class Client:
    """A running bench_load: it keeps its connections over all rounds."""

    def __init__(self, program, load, arm):
        self.process = arm.spawn([program, arm.address, arm.port, load.connections, load.head,
                                  load.body, load.pipeline, int(load.reconnect)],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.what = f"{load.title} through {arm.name}"
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.what}: bench_load ended with {self.process.wait()}")
        return line

    def run(self, milliseconds, rate=0):
        """Send for that long; the figures that bench_load printed."""
        self.process.stdin.write(f"run {milliseconds} {rate}\n")
        self.process.stdin.flush()
        return json.loads(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
