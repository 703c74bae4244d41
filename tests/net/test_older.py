# SPDX-License-Identifier: Apache-2.0
"""Connections that are older than the agent. The case itself is the application."""
import contextlib
import os
import re

from cases import case, equal
from far import OK, Client, Far, head
from following import known_as
from messages import GET
from streams import joined, listen, receive
from worlds import Pair, counted, pair

LINE = re.compile(rb"traceparent: 00-([0-9a-f]{32})-[0-9a-f]{16}-01\r\n")


@contextlib.contextmanager
def older():
    """A Pair with an agent, and what was there before: a listener, a client on a connection to
    it, and a connection to the peer.
    """
    with pair(agent=False) as world, listen(world.app, Pair.APP) as listener, \
            joined(world.app, world.peer, Pair.PEER) as upstream, \
            contextlib.closing(Client(Far(world.peer), listener, Pair.APP)) as client:
        client.ask()
        client.socket.recv(4096)
        client.answered()
        world.start_agent()
        known_as(os.getpid())
        yield world, listener, client, upstream


def serve(client, c, s, added):
    """A request, and a call for it; returns whether the call was its child."""
    trace = client.ask()
    receive(client.socket, len(head(trace)))
    c.sendall(GET)
    got = receive(s, len(GET) + added)
    s.sendall(OK)
    receive(c, len(OK))
    client.answered()
    return LINE.findall(got) == [trace.encode()]


@case(slow=True)
def calls_on_an_older_connection():
    """A thread that works on a request calls on a connection that was there before the agent"""
    with older() as (world, listener, older_client, upstream), \
            contextlib.closing(Client(older_client.far, listener, Pair.APP)) as client:
        equal(serve(client, *upstream, 0), False, "what the connection is must be proven first")
        for _ in range(3):
            with counted(world.agent, injected=1, by_thread=1):
                equal(serve(client, *upstream, 70), True, "a child")


@case(slow=True)
def requests_on_an_older_connection():
    """Requests are followed once it is proven what the connection is; nothing was learnt before"""
    with older() as (world, _, client, _), joined(world.app, world.peer, Pair.PEER) as new:
        children = []
        for _ in range(4):
            with counted(world.agent, injected=1):
                children.append(serve(client, *new, 70))
        equal(children, [False, True, True, True], "children")
