# SPDX-License-Identifier: Apache-2.0
"""What real servers and proxies read where we have added fields: the values arrive as they are meant.
Some keep blanks behind a value, as a part of it."""
import json

from cases import case, equal
from following import begin_call
from http1 import Reader, read_response
from queues import next_to_send
from receivers import SERVERS, proxy
from recorder import Recorder
from streams import connect
from test_child import TRACE, working
from worlds import common

# Of odd and even lengths, which makes the difference: a line's length is even.
STATES = ("a=1", "ab=1", "foo=1,bar=2", "foo=1, bar=2", "k=" + "v" * 255)
REQUEST = b"POST /state HTTP/1.1\r\nHost: peer\r\nContent-Length: 0\r\n\r\n"


def ask(world, port, cause, what):
    """One request that a cause explains; gives the body of the answer."""
    with connect(world.app, (world.PEER, port)) as client:
        begin_call(client, next_to_send(client), cause)
        client.sendall(REQUEST)
        answer, body = read_response(Reader(client.recv))
        equal(answer.start.split()[1], "200", f"status: {what}")
        return body


def arrives(fields, state, what):
    """The fields that a receiver has read are the two that were added, to the byte."""
    values = {}
    for name, value in fields:
        values.setdefault(name.lower(), []).append(value)
    equal(values.get("tracestate"), [state], f"tracestate: {what}")
    parent = values.get("traceparent", [""])[0]
    equal((len(parent), parent[:36]), (55, f"00-{TRACE}-"), f"traceparent: {what}")


def by_server(name, port):
    with SERVERS[name](common().peer, port):
        for state in STATES:
            with working(f"tracestate: {state}") as (world, cause, *_):
                arrives(json.loads(ask(world, port, cause, name))["fields"], state, name)


def by_proxy(program, port, *options):
    world = common()
    server = Recorder(world.peer, world.PEER)
    with proxy(program, world.peer, port, server, *options):
        for state in STATES:
            server.clear()
            with working(f"tracestate: {state}") as (world, cause, *_):
                ask(world, port, cause, program)
            equal(len(server.requests), 1, "requests passed on")
            arrives(server.requests[0].head.fields, state, program)
    server.close()


@case
def node():
    """Node's http"""
    by_server("node", 8501)


@case
def golang():
    """Go's net/http"""
    by_server("golang", 8502)


@case
def java():
    """Java's com.sun.net.httpserver"""
    by_server("java", 8503)


@case
def php():
    """PHP's own server"""
    by_server("php", 8504)


@case
def puma():
    """puma"""
    by_server("puma", 8505)


@case
def http_server():
    """Python's http.server"""
    by_server("http_server", 8506)


@case
def aiohttp():
    """aiohttp, whose parser is llhttp"""
    by_server("aiohttp", 8507)


@case
def uvicorn():
    """uvicorn with httptools, whose parser is llhttp"""
    by_server("uvicorn", 8508)


@case
def nginx():
    """nginx as a proxy"""
    by_proxy("nginx", 8509, "-c")


@case
def haproxy():
    """HAProxy"""
    by_proxy("haproxy", 8510, "-db", "-f")


@case
def apache():
    """Apache as a proxy, strict"""
    by_proxy("apache2", 8511, "-DFOREGROUND", "-f")
