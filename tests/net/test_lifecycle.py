# SPDX-License-Identifier: Apache-2.0
"""Connections that live while the agent starts, dies, stops and comes again."""
import asyncio
import contextlib
import json
import os
import signal
import socket
import time

from cases import case, equal
from messages import GET, OK, answered, expect, post, untouched
from recorder import Recorder
from streams import accept, connect, joined, listen
from waiting import wait_until
from worlds import Pair, common, pair


def alive():
    """The shared Pair with its agent running, whatever the case before left behind."""
    world = common()
    if world.agent.process.poll() is not None:
        world.agent.start()
    return world


@case
def open_before_the_agent():
    """Connections older than the agent: never harmed, injected from their second request on."""
    with pair(agent=False) as world, contextlib.ExitStack() as stack:
        links = [stack.enter_context(joined(world.app, world.peer, Pair.PEER)) for _ in range(8)]
        for number, (c, s) in enumerate(links):
            for _ in range(number % 3):
                answered(c, s, [post(os.urandom(500))], [False])
        # One is in the middle of a head, one in the middle of a body, one waits for its answer.
        head, body = post(os.urandom(9000))
        links[0][0].sendall(GET[:20])
        links[1][0].sendall(head + body[:4000])
        links[2][0].sendall(GET)
        world.start_agent()
        links[0][0].sendall(GET[20:])
        links[1][0].sendall(body[4000:])
        for number, sent in enumerate((GET, head + body, GET)):
            equal(read_all(links[number][1], len(sent)) == sent, True, f"stream {number}")
            links[number][1].sendall(OK)
            read_all(links[number][0], len(OK))
        for c, s in links:
            answered(c, s, [(GET, b"")], [False])
            answered(c, s, [(GET, b"")])
            answered(c, s, [post(os.urandom(30_000))])


def read_all(sock, n):
    data = b""
    while len(data) < n:
        data += sock.recv(n - len(data))
    return data


@case(slow=True)
def binary_before_the_agent():
    """Streams older than the agent in which requests appear without answers: never edited."""
    with pair(agent=False) as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        untouched(c, s, os.urandom(1000))
        world.start_agent()
        for _ in range(5):
            untouched(c, s, GET)
            s.sendall(b"not a status line")
            time.sleep(0.01)
        equal(world.agent.stats()["injected"], 0, "headers")


@case(slow=True)
def stopped_and_started():
    """SIGTERM: live flows stay whole, new requests are left as they are; started again: edited."""
    world = alive()
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        world.agent.stop()
        answered(c, s, [post(os.urandom(70_000))], [False])
        with joined(world.app, world.peer, Pair.PEER) as (c2, s2):
            answered(c2, s2, [(GET, b"")], [False])
            world.agent.start()
            answered(c, s, [(GET, b"")])
            answered(c2, s2, [(GET, b"")])


@case
def killed():
    """kill -9: the programs go on as they were; the next daemon takes them over."""
    world = alive()
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        world.agent.stop(signal.SIGKILL)
        answered(c, s, [post(os.urandom(70_000))])
        world.agent.start()
        answered(c, s, [(GET, b"")])
        assert world.agent.logged("tables-adopted"), world.agent.said()


@case
def paused_by_command():
    """ctxprop pause and resume act at once."""
    world = alive()
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        for _ in range(3):
            answered(c, s, [(GET, b"")])
            world.agent.command("pause")
            answered(c, s, [(GET, b"")], [False])
            world.agent.command("resume")


@case(slow=True)
def full_flow_table():
    """--flows 16 and forty connections: half of it for one sender, the others are left alone."""
    with pair("--flows", "16") as world, contextlib.ExitStack() as stack:
        for number in range(40):
            c, s = stack.enter_context(joined(world.app, world.peer, Pair.PEER))
            for _ in range(3):
                answered(c, s, [post(os.urandom(2000))], [number < 8])
        stats = world.agent.stats()
        equal((stats["injected"], stats["share-full"] >= 90), (24, True), f"counters {stats}")


@case(slow=True)
def flood_of_connections():
    """--flows 64 and 200 half-closed connections: the next one has its header at once."""
    with pair("--flows", "64") as world, contextlib.ExitStack() as stack:
        first = stack.enter_context(joined(world.app, world.peer, Pair.PEER))
        answered(*first, [(GET, b"")])
        with contextlib.ExitStack() as flood:
            for _ in range(200):
                c, _s = flood.enter_context(joined(world.app, world.peer, Pair.PEER))
                c.shutdown(socket.SHUT_WR)
            with joined(world.app, world.peer, Pair.PEER) as (c, s):
                answered(c, s, [(GET, b"")])
            answered(*first, [(GET, b"")])
        assert world.agent.stats()["crowded-out"] > 100, world.agent.stats()
        world.agent.wait_logged("flow-table-full", seconds=15)


@case(slow=True)
def flows_are_forgotten():
    """Closed connections leave the flow table, however they end."""
    with pair("--flows", "64", "--gc-interval", "1") as world:
        for number in range(200):
            with joined(world.app, world.peer, Pair.PEER) as (c, s):
                expect(c, s, [(GET, b"")])
                if number % 3 == 0:
                    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                elif number % 3 == 1:
                    s.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: not world.agent.flows(), lambda: f"left: {world.agent.flows()[:3]}")


class Crowd:
    """A thousand keep-alive connections that POST without end and check every answer."""

    def __init__(self, world, server, count):
        self.asked, self.going, self.server = 0, True, server
        with world.app.inside():
            self.sockets = [socket.create_connection((server.address, server.port))
                            for _ in range(count)]

    async def one(self, sock, number):
        """Requests over one connection, until told to stop."""
        reader, writer = await asyncio.open_connection(sock=sock)
        body = os.urandom(1000 + number * 37 % 8000)
        head, _ = post(body)
        while self.going:
            writer.write(head + body)
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 15)
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            facts = json.loads(await asyncio.wait_for(reader.readexactly(length), 15))
            self.check(facts, len(body))
            await asyncio.sleep(0.2)
        writer.close()

    def check(self, facts, length):
        self.asked += 1
        equal(facts["length"], length, "body length that the server got")
        if len(facts["traceparents"]) > 1:
            raise AssertionError(f"several headers: {facts['traceparents']}")

    async def all(self, events):
        """Run the crowd while `events` (a function for a thread) goes on."""
        crowd = asyncio.gather(*(self.one(sock, n) for n, sock in enumerate(self.sockets)))
        story = asyncio.get_running_loop().run_in_executor(None, events, self)
        await asyncio.wait([crowd, story], return_when=asyncio.FIRST_COMPLETED)
        self.going = False
        await crowd
        await story

    def settle(self, more):
        """Wait until the crowd has asked so many more times."""
        goal, end = self.asked + more, time.monotonic() + 20
        while self.asked < goal and self.going:
            if time.monotonic() > end:
                raise AssertionError(f"only {more - (goal - self.asked)} of {more} answers in 20 s")
            time.sleep(0.02)


@case(seconds=150, slow=True)
def thousand_connections():
    """1,000 live connections while the agent is killed, started, stopped, started again."""
    world = alive()
    server = Recorder(world.peer, Pair.PEER)
    agent = world.agent
    before = agent.stats()["injected"]

    def events(crowd):
        crowd.settle(1500)
        for how in (signal.SIGKILL, signal.SIGTERM):
            agent.stop(how)
            crowd.settle(1500)
            agent.start()
            crowd.settle(1500)

    asyncio.run(Crowd(world, server, 1000).all(events))
    equal(server.broken, [], "connections that ended badly")
    injected = agent.stats()["injected"] - before
    assert injected > 3000, f"only {injected} headers: this run shows nothing"
    server.close()


@case
def reused_ports_across_a_restart():
    """The agent restarts between two connections with the same ports."""
    world = alive()
    with listen(world.peer, Pair.PEER) as listener:
        for how in (signal.SIGTERM, signal.SIGKILL):
            for _ in range(2):
                with connect(world.app, listener.getsockname(), (Pair.APP, 4445)) as c:
                    with accept(listener) as s:
                        answered(c, s, [(GET, b"")])
                        s.shutdown(socket.SHUT_RDWR)
                        c.recv(1)
            world.agent.stop(how)
            world.agent.start()
