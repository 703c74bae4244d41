# SPDX-License-Identifier: Apache-2.0
"""The clients and the upstream of the matrix, in one event loop of this process."""
import asyncio
import random
import secrets
import socket

UPSTREAM_MS = 10  # the upstream answers after 0 to so many ms
SECONDS = 60      # longest wait for one answer
HEALTH_MS = 5     # pause of each client that checks health


def fields_of(head):
    """[(name, value)] of a head, names in lower case."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = [line.split(":", 1) for line in lines if ":" in line]
    return [(name.lower(), value.strip()) for name, value in pairs]


class Upstream:
    """Answers every request and tells the ledger."""

    def __init__(self, host, address, ledger, size):
        """size: bytes of each answer's body."""
        self.ledger = ledger
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"ok" * (size // 2)
        with host.inside():
            self.listener = socket.create_server((address, 0), backlog=4096)
        self.address = f"{address}:{self.listener.getsockname()[1]}"

    async def start(self):
        self.server = await asyncio.start_server(self.serve, sock=self.listener)

    async def serve(self, reader, writer):
        writer.transport.get_extra_info("socket").setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                fields = fields_of(await reader.readuntil(b"\r\n\r\n"))
                one = dict(fields)
                self.ledger.call(one.get("x-truth"), [v for n, v in fields if n == "traceparent"])
                await asyncio.sleep(random.uniform(0, UPSTREAM_MS) / 1000)
                writer.write(self.answer)
                if one.get("connection", "").lower() == "close":
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass  # closed by the application, or the traffic is over
        finally:
            writer.close()


class Client:
    """One connection after the other to the application."""

    def __init__(self, host, address):
        self.host, self.address, self.streams = host, address, None

    async def connect(self):
        with self.host.inside():
            sock = socket.socket()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, self.address)
        self.streams = await asyncio.open_connection(sock=sock)

    async def ask(self, target, fields, last):
        """One request and its whole answer; None or what went wrong."""
        if not self.streams:
            await self.connect()
        reader, writer = self.streams
        lines = [f"GET {target} HTTP/1.1", "Host: app", *(f"{n}: {v}" for n, v in fields.items())]
        writer.write("\r\n".join([*lines, *["Connection: close"] * last, "", ""]).encode())
        head = await reader.readuntil(b"\r\n\r\n")
        ends = await self.read_body(reader, dict(fields_of(head)))
        if last or ends:
            self.close()
        else:
            await asyncio.sleep(0)  # the end of the connection may be on its way
            if reader.at_eof():
                self.close()
        status = head.split(b" ", 2)[1]
        return None if status == b"200" else f"status {status.decode()}"

    async def read_body(self, reader, fields):
        """Reads an answer's body; whether the connection ends with it."""
        if "content-length" in fields:
            await reader.readexactly(int(fields["content-length"]))
        elif fields.get("transfer-encoding", "").lower() == "chunked":
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        else:
            await reader.read()
            return True
        return fields.get("connection", "").lower() == "close"

    def close(self):
        if self.streams:
            self.streams[1].close()
        self.streams = None


class Traffic:
    """A number of requests for one row, so many of them in flight."""

    def __init__(self, row, host, address, ledger):
        self.row, self.host, self.address, self.ledger = row, host, address, ledger
        self.left, self.failed = 0, []

    def plan(self):
        """(target, number of calls)"""
        calls = random.randint(*self.row.calls)
        pauses = [random.randint(*self.row.pauses) for _ in range(3)]
        return "/" + "/".join(map(str, [*pauses, calls, random.choice(self.row.modes)])), calls

    def request(self):
        """(target, fields) of the next request."""
        target, calls = self.plan()
        truth, traceparent = self.ledger.request(calls, self.row.asks != "root")
        fields = {"x-truth": truth}
        if traceparent:
            fields["traceparent"] = traceparent
        if self.row.asks == "id":
            fields["x-request-id"] = secrets.token_hex(16)
        return target, fields

    async def client(self):
        client = Client(self.host, self.address)
        while self.left:
            self.left -= 1
            target, fields = self.request()
            last = random.random() < self.row.new_connections
            try:
                failed = await asyncio.wait_for(client.ask(target, fields, last), SECONDS)
            except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
                failed = repr(error)
                client.close()
            if failed:
                self.failed.append(failed)
        client.close()

    async def health(self):
        """Asks for nothing, without x-truth, until it is cancelled."""
        client = Client(self.host, self.address)
        try:
            while True:
                await client.ask("/0/0/0/0/s", {}, random.random() < self.row.new_connections)
                await asyncio.sleep(random.uniform(0, 2 * HEALTH_MS) / 1000)
        finally:
            client.close()

    async def run(self, requests, in_flight):
        """Send all; returns what failed, in words."""
        self.left, self.failed = requests, []
        checks = [asyncio.create_task(self.health()) for _ in range(4 * self.row.health)]
        await asyncio.gather(*[self.client() for _ in range(in_flight)])
        for check in checks:
            check.cancel()
        for outcome in await asyncio.gather(*checks, return_exceptions=True):
            if not isinstance(outcome, asyncio.CancelledError):
                self.failed.append(f"health check: {outcome!r}")
        return [f"{len(self.failed)} requests failed, first: {self.failed[0]}"] \
            if self.failed else []
