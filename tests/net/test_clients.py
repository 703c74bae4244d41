# SPDX-License-Identifier: Apache-2.0
"""Real programs as clients and as servers."""
import asyncio
import contextlib
import http.client
import os
import re
import socket
import string
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from arrivals import ADDED, arriving, curl, file_of, recorder
from cases import case, equal, need_program
from recorder import Recorder
from worlds import common, counted

HERE = Path(__file__).resolve().parent
OWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@case
def curl_get():
    """curl: five GETs on one connection."""
    with arriving(5) as server:
        curl(*[server.url + "/"] * 5)


@case
def curl_head():
    """curl: HEAD requests on one connection."""
    with arriving(2) as server:
        curl("-I", server.url + "/a", server.url + "/b")


@case
def curl_http_1_0():
    """curl: HTTP/1.0."""
    with arriving(1) as server:
        curl("--http1.0", server.url + "/")


@case
def curl_post():
    """curl: POST of 2 MB."""
    body = os.urandom(2_000_000)
    with file_of(body) as path, arriving(2, body) as server:
        curl("-H", "Expect:", "--data-binary", f"@{path}", server.url + "/a", server.url + "/b")


@case
def curl_expect_100():
    """curl: POST that waits for 100 Continue."""
    body = os.urandom(300_000)
    with file_of(body) as path, arriving(1, body) as server:
        curl("-H", "Expect: 100-continue", "--data-binary", f"@{path}", server.url + "/")


@case
def curl_chunked():
    """curl: chunked upload of 1 MB."""
    body = os.urandom(1_000_000)
    with file_of(body) as path, arriving(1, body) as server:
        curl("-H", "Transfer-Encoding: chunked", "-H", "Expect:", "--data-binary", f"@{path}",
             server.url + "/")


@case
def curl_own_traceparent():
    """curl: a traceparent of its own is the only one."""
    with arriving(2, own=OWN) as server:
        curl("-H", f"TraceParent: {OWN}", server.url + "/a", server.url + "/b")


@case
def curl_http2_upgrade():
    """curl: an offer to upgrade to cleartext HTTP/2, which the server ignores."""
    with arriving(2) as server:
        curl("--http2", server.url + "/a", server.url + "/b")


@case
def curl_http2_prior_knowledge():
    """curl: HTTP/2 at once is not touched (the server refuses it)."""
    with counted(common().agent, injected=0, http2=1):
        recorder().clear()
        curl("--http2-prior-knowledge", recorder().url + "/", check=False)


@case
def curl_ipv6():
    """curl: over IPv6."""
    server = Recorder(common().peer, common().PEER6)
    with arriving(3, server=server):
        curl("-g", *[server.url + "/"] * 3)
    server.close()


@case
def curl_parallel():
    """curl: forty transfers on ten connections at once."""
    with arriving(40) as server:
        curl("-Z", "--parallel-max", "10", *[server.url + f"/{i}" for i in range(40)])


@case
def python_http_client():
    """Python http.client: keep-alive, head and body in two writes."""
    body = os.urandom(10_000)
    with arriving(20, body) as server, common().app.inside():
        connection = http.client.HTTPConnection(server.address, server.port, timeout=10)
        for number in range(20):
            connection.request("POST", f"/{number}", body)
            equal(connection.getresponse().read()[:1], b"{", "answer")
        connection.close()


@case
def python_urllib():
    """Python urllib: a new connection for each request."""
    with arriving(10) as server, common().app.inside():
        for number in range(10):
            with urllib.request.urlopen(f"{server.url}/{number}", timeout=10) as answer:
                equal(answer.status, 200, "status")


async def ask_async(server, sockets, number):
    reader, writer = await asyncio.open_connection(sock=sockets[number])
    for _ in range(5):
        writer.write(b"GET /async HTTP/1.1\r\nHost: p\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"Length: (\d+)", head)[1]))
    writer.close()


@case
def python_asyncio():
    """Python asyncio: fifty connections, five requests each."""
    async def all_of(server, sockets):
        await asyncio.wait_for(asyncio.gather(*(ask_async(server, sockets, i)
                                                for i in range(len(sockets)))), 20)

    with arriving(250) as server:
        with common().app.inside():
            sockets = [socket.create_connection((server.address, server.port))
                       for _ in range(50)]
        asyncio.run(all_of(server, sockets))


@case
def node_keep_alive():
    """Node: http.Agent with keepAlive, POSTs of 5 KB."""
    node(keep_alive=True)


@case
def node_new_connections():
    """Node: http.Agent without keepAlive, POSTs of 5 KB."""
    node(keep_alive=False)


def node(keep_alive):
    program = need_program("node")
    with arriving(30, b"n" * 5000) as server:
        common().app.run([program, HERE / "programs/node_client.js", server.url, 30, int(keep_alive)],
                         timeout=30)


@case
def node_server():
    """Node as the server: it parses what arrives with llhttp, strictly."""
    program = need_program("node")
    world = common()
    world.peer.spawn([program, HERE / "node_server.js", "8301"])
    world.peer.wait_port(8301)
    with counted(world.agent, injected=10):
        for _ in range(10):
            done = world.app.run(["curl", "-sS", "--max-time", "10", "-d", "x" * 3000,
                                  f"http://{world.PEER}:8301/"])
            method, headers, length = done.stdout.split()
            equal((method, headers, length), ("POST", "1", "3000"), "what Node saw")


@case
def wrk():
    """wrk: two seconds of load on sixteen connections, no error, each request with a header."""
    program = need_program("wrk", "nginx")
    with nginx("upstream", common().peer, 8302):
        before = common().agent.stats()
        done = common().app.run([program, "-t1", "-c16", "-d2",
                                 f"http://{common().PEER}:8302/"], timeout=20)
        after = common().agent.stats()
    if "Socket errors" in done.stdout or "Non-2xx" in done.stdout:
        raise AssertionError(done.stdout)
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    injected = after["injected"] - before["injected"]
    # wrk leaves up to one request per connection unanswered when its time is over.
    assert requests <= injected <= requests + 16, f"{requests} requests, {injected} injected"


@contextlib.contextmanager
def nginx(kind, host, port, upstream=""):
    """nginx with one of our configurations, in a host."""
    program = need_program("nginx")
    with tempfile.TemporaryDirectory(prefix="ctxprop-nginx-") as folder:
        conf = string.Template((HERE / f"nginx_{kind}.conf.in").read_text())
        path = Path(folder, "nginx.conf")
        path.write_text(conf.substitute(folder=folder, port=port, upstream=upstream))
        process = host.spawn([program, "-c", path, "-e", f"{folder}/error.log"])
        host.wait_port(port)
        yield
        process.terminate()
        process.wait(timeout=10)


@case(slow=True)
def nginx_upstream():
    """nginx as the server: it refuses nothing, and logs one header per request."""
    world = common()
    with nginx("upstream", world.peer, 8303), counted(world.agent, injected=20):
        for number in range(10):
            done = world.app.run(["curl", "-sS", "--max-time", "10", "-d", "x" * number * 1000,
                                  f"http://{world.PEER}:8303/a", f"http://{world.PEER}:8303/b"])
            equal(len(ADDED.findall(done.stdout)), 2, f"headers in {done.stdout!r}")


@case
def nginx_proxy_keep_alive():
    """nginx as a client: proxy_pass over kept connections, bodies of 100 KB."""
    body = os.urandom(100_000)
    world = common()
    with arriving(40, body) as server, file_of(body) as path:
        with nginx("proxy", world.app, 8304, f"{server.address}:{server.port}"):
            curl("-H", "Expect:", "--data-binary", f"@{path}",
                 *["http://127.0.0.1:8304/"] * 40)


HAPROXY = """
defaults
	mode http
	timeout connect 5s
	timeout client 10s
	timeout server 10s
	http-reuse always
listen front
	http-request del-header traceparent
	bind 127.0.0.1:8305
	server up $upstream
"""


@case
def haproxy_client():
    """HAProxy as a client, with connection reuse."""
    program = need_program("haproxy")
    world, body = common(), os.urandom(70_000)
    with arriving(40, body) as server, file_of(body) as path:
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as conf:
            upstream = f"{server.address}:{server.port}"
            conf.write(string.Template(HAPROXY).substitute(upstream=upstream))
            conf.flush()
            process = world.app.spawn([program, "-db", "-f", conf.name],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            world.app.wait_port(8305)
            curl("-H", "Expect:", "--data-binary", f"@{path}",
                 *["http://127.0.0.1:8305/"] * 40)
            process.terminate()
            process.wait(timeout=10)


@case
def server_that_counts_unread_bytes():
    """FIONREAD of a socket under the agent tells the truth (sk_msg injectors broke it)."""
    import fcntl
    import struct
    import termios
    import time
    from streams import joined
    world = common()
    with joined(world.app, world.peer, world.PEER) as (c, s):
        c.sendall(b"GET / HTTP/1.1\r\nHost: p\r\n\r\n")
        s.recv(4096)
        s.sendall(b"x" * 777)
        time.sleep(0.1)
        unread = struct.unpack("i", fcntl.ioctl(c, termios.FIONREAD, b"\0" * 4))[0]
        equal(unread, 777, "FIONREAD")
