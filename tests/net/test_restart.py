# SPDX-License-Identifier: Apache-2.0
"""Rules that say restart or strip: what servers and proxies make of the requests that arrive."""
import contextlib
import json
import os
import re
import time

from cases import case, equal
from http1 import Reader, read_response
from receivers import SERVERS, proxy
from recorder import Recorder
from streams import connect, joined, receive
from worlds import Pair, common, counted

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
OWN = f"00-{TRACE}-{SPAN}-00"
NEW = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-03")
LEFT = ("x-ctxprop-0", "x-ctxprop0")
BODY = os.urandom(3000)

# Trace fields right behind the request line, behind what servers read bodies by, and at the end.
FIELDS = (("traceparent", OWN), ("Host", "peer"), ("X-Before", "b"), ("tracestate", "a=1,b=2"),
          ("Transfer-Encoding", "chunked"), ("TraceState", "c=3"), ("X-After", "a"),
          ("Traceparent", OWN))
KEPT = [field for field in FIELDS if not field[0].lower().startswith("trace")]
CHUNKS = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (1000, BODY[:1000], 2000, BODY[1000:])


def head(fields=FIELDS):
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"POST /up HTTP/1.1\r\n{lines}\r\n".encode()


@contextlib.contextmanager
def rule(action, **wanted):
    """A rule for all requests; how often which reason is counted meanwhile."""
    world = common()
    world.app.run([f"{world.agent.build}/ctxprop", "policy", "restore"],
                  input=f"policy add {action}\n")
    with counted(world.agent, **wanted):
        yield world
    world.app.run([f"{world.agent.build}/ctxprop", "policy", "flush"])


def values_of(fields, *names):
    return [value for name, value in fields if name.lower() in names]


def check(fields, length, action, what):
    """What a server says that has arrived is as the rule wants it."""
    parents = values_of(fields, "traceparent")
    equal(values_of(fields, "tracestate"), [], f"tracestate: {what}")
    equal(length, len(BODY), f"length of the body: {what}")
    # Apache joins fields of one name.
    equal("".join(values_of(fields, *LEFT)).strip("=, "), "", f"what is left of the fields: {what}")
    for name, value in KEPT:
        if name not in ("Host", "Transfer-Encoding"):
            equal(values_of(fields, name.lower()), [value], f"{name}: {what}")
    if action == "strip":
        equal(parents, [], f"traceparent: {what}")
    elif len(parents) != 1 or not NEW.fullmatch(parents[0]) or TRACE in parents[0]:
        raise AssertionError(f"traceparent: {what}: {parents}")


def ask(world, port, what):
    """Requests on one connection: in one packet, and cut between the lines. Gives the answers."""
    with connect(world.app, (world.PEER, port)) as client:
        reader = Reader(client.recv)
        for cut in (0, head().index(b"X-After")):
            client.sendall(head()[:cut])
            time.sleep(0.02 if cut else 0)
            client.sendall(head()[cut:] + CHUNKS)
            answer, body = read_response(reader)
            equal(answer.start.split()[1], "200", f"status: {what}")
            yield body


def by_server(name, port):
    """A server that shows what its HTTP library makes of a request."""
    world = common()
    with SERVERS[name](world.peer, port):
        for action, reason in (("strip", "stripped"), ("restart", "restarted")):
            with rule(f"action {action}", **{reason: 2, "no_place": 0}):
                for body in ask(world, port, name):
                    seen = json.loads(body)
                    check(seen["fields"], seen["length"], action, name)


def by_proxy(program, port, *options):
    """A proxy that passes on what it takes for fields."""
    world = common()
    server = Recorder(world.peer, world.PEER)
    with proxy(program, world.peer, port, server, *options):
        for action, reason in (("strip", "stripped"), ("restart", "restarted")):
            server.clear()
            with rule(f"action {action}", **{reason: 2, "no_place": 0}):
                list(ask(world, port, program))
            equal((len(server.requests), server.broken), (2, []), "requests passed on")
            for request in server.requests:
                check(request.head.fields, request.length, action, program)
    server.close()


@case
def node():
    """Node's http"""
    by_server("node", 8401)


@case
def golang():
    """Go's net/http"""
    by_server("golang", 8402)


@case
def python():
    """Python's http.server, which strips no blanks"""
    by_server("http_server", 8403)


@case
def aiohttp():
    """aiohttp, whose parser keeps blanks behind a value"""
    by_server("aiohttp", 8408)


@case
def uvicorn():
    """uvicorn with httptools, whose parser keeps blanks behind a value"""
    by_server("uvicorn", 8409)


@case
def java():
    """Java's com.sun.net.httpserver"""
    by_server("java", 8410)


@case
def puma():
    """puma"""
    by_server("puma", 8411)


@case
def nginx():
    """nginx as a proxy"""
    by_proxy("nginx", 8404, "-c")


@case
def haproxy():
    """HAProxy"""
    by_proxy("haproxy", 8405, "-db", "-f")


@case
def apache():
    """Apache as a proxy, strict"""
    by_proxy("apache2", 8406, "-DFOREGROUND", "-f")


@case
def lighttpd():
    """lighttpd as a proxy"""
    by_proxy("lighttpd", 8407, "-D", "-f")


@case
def byte_by_byte():
    """Not a byte more or less arrives, and all but the trace fields as it was; IPv4 and IPv6."""
    body = os.urandom(300_000)
    fields = [*FIELDS[:4], ("Content-Length", str(len(body))), *FIELDS[5:]]
    sent = head(fields) + body
    for action, reason in (("strip", "stripped"), ("restart", "restarted")):
        for address in (Pair.PEER, Pair.PEER6):
            with rule(f"action {action}", **{reason: 3}) as world:
                with joined(world.app, world.peer, address) as (client, server):
                    for _ in range(3):
                        client.sendall(sent)
                        got = receive(server, len(sent))
                        unchanged(got, sent, action)
                    equal([flow["offset"] for flow in world.agent.flows()
                           if flow["sport"] == client.getsockname()[1]], [0], "offset")


def unchanged(got, sent, action):
    end = sent.index(b"\r\n\r\n") + 4
    equal(got[end:] == sent[end:], True, "body")
    for mine, other in zip(sent[:end].split(b"\r\n"), got[:end].split(b"\r\n"), strict=True):
        equal(len(other), len(mine), "length of a line")
        if not mine.lower().startswith(b"trace"):
            equal(other, mine, "another line")
        elif action == "strip" or other[:12].lower() != b"traceparent:":
            equal(re.fullmatch(rb"x-ctxprop-?0:=+", other) is not None, True, f"line {other}")


@case
def restart_is_a_new_trace():
    """Every request another trace; one without traceparent, or with an unreadable one, gets a header."""
    world = common()
    server = Recorder(world.peer, world.PEER)
    requests = [[("Host", "a"), ("traceparent", value)] if value is not None else [("Host", "a")]
                for value in (OWN, None, "", "00-1-2-03", OWN, f"cc-{OWN[3:]}-more")]
    with rule("action restart", restarted=3, injected=3), \
            connect(world.app, (server.address, server.port)) as client:
        reader = Reader(client.recv)
        for fields in requests:
            client.sendall(head([*fields, ("Content-Length", "0")]))
            read_response(reader)
    values = [request.traceparents for request in server.requests]
    for found in values:
        equal((len(found), bool(NEW.fullmatch(found[0]))), (1, True), f"traceparents {found}")
    equal(len({found[0][3:35] for found in values}), len(requests), "different traces")
    server.close()


@case
def by_host():
    """Rules for hosts: each request of a connection by its own."""
    world = common()
    server = Recorder(world.peer, world.PEER)
    with rule("host in.side action skip\npolicy add host out.side action strip", skipped=2,
              stripped=2, present=2), \
            connect(world.app, (server.address, server.port)) as client:
        reader = Reader(client.recv)
        for host in ("in.side", "out.side", "else") * 2:
            client.sendall(head([("traceparent", OWN), ("Host", host), ("Content-Length", "0")]))
            read_response(reader)
    equal([request.traceparents for request in server.requests], [[OWN], [], [OWN]] * 2,
          "traceparents by host")
    server.close()
