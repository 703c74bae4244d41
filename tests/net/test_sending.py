# SPDX-License-Identifier: Apache-2.0
"""Ways to send, and features of TCP that change what a packet looks like."""
import contextlib
import ctypes
import fcntl
import hashlib
import os
import socket
import struct
import tempfile
import termios
import time

from cases import Skip, case, equal
from firewall import rules
from messages import GET, OK, WORK_OUT, answered, padded, post, receive_lossy, untouched, work_out
from queues import put_back, take_out
from streams import Sending, accept, connect, joined, listen, receive
from waiting import wait_until
from wire import LINE_LENGTH, compare
from worlds import Pair, common, counted, pair

IPPROTO_MPTCP = 262
MSG_ZEROCOPY, SO_ZEROCOPY = 0x4000000, 60
MSG_FASTOPEN, TCP_FASTOPEN = 0x20000000, 23
TCP_MD5SIG = 14


def link():
    return joined(common().app, common().peer, common().PEER)


def check_arrival(c, s, requests):
    """What was sent by other means arrives with a header each."""
    length = sum(len(head + body) for head, body in requests)
    got = receive(s, length + LINE_LENGTH * len(requests))
    equal(compare(got, requests), [True] * len(requests), "headers")
    s.sendall(OK)
    equal(receive(c, len(OK)), OK, "answer")


@case
def sendfile():
    """Head and body by sendfile(): the file itself is not written to."""
    for request in ((GET, b""), padded(1420), padded(6000), post(os.urandom(40_000))):
        content = request[0] + request[1]
        with tempfile.TemporaryFile() as file, link() as (c, s):
            file.write(content)
            file.flush()
            answered(c, s, [(GET, b"")])
            c.setblocking(True)
            equal(os.sendfile(c.fileno(), file.fileno(), 0, len(content)), len(content), "sent")
            check_arrival(c, s, [request])
            equal(hashlib.md5(os.pread(file.fileno(), len(content) + 1, 0)).hexdigest(),
                  hashlib.md5(content).hexdigest(), "the file afterwards")


@case
def zero_copy():
    """MSG_ZEROCOPY: the sender's own pages are not written to."""
    for request in ((GET, b""), padded(1420), padded(6000), post(os.urandom(40_000))):
        content = request[0] + request[1]
        buffer = ctypes.create_string_buffer(content, len(content))
        with link() as (c, s):
            try:
                c.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
            except OSError as error:
                raise Skip(f"SO_ZEROCOPY: {error}") from error
            answered(c, s, [(GET, b"")])
            c.setblocking(True)
            equal(c.send(buffer, MSG_ZEROCOPY), len(content), "sent")
            check_arrival(c, s, [request])
            equal(buffer.raw == content, True, "the sender's memory is unchanged")


def unacknowledged(sock):
    """Bytes that the peer has not acknowledged."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


@case
def checkpoint():
    """A connection is taken out of its socket and put into another one, as CRIU does: it goes on."""
    with link() as (c, s):
        for _ in range(3):
            answered(c, s, [(GET, b""), padded(1420), post(os.urandom(40_000))])
            # nobody answers for the connection while it is nowhere: nothing may come again then
            wait_until(lambda c=c: not unacknowledged(c) and not unacknowledged(s), "all is acknowledged")
            with counted(common().agent, injected=1, joined=0):
                state = take_out(c)
                c = put_back(common().app, state)
                c.settimeout(s.gettimeout())
                answered(c, s, [(GET, b"")])
        c.close()


@case
def gathered_writes():
    """writev() of many small pieces, and MSG_MORE."""
    head, body = post(os.urandom(5000))
    with link() as (c, s):
        c.sendmsg([head[i:i + 7] for i in range(0, len(head), 7)] + [body])
        check_arrival(c, s, [(head, body)])
        c.send(head, socket.MSG_MORE)
        c.send(body)
        check_arrival(c, s, [(head, body)])


@contextlib.contextmanager
def setting(host, key, value):
    """A sysctl of a host for a while."""
    before = host.run(["sysctl", "-n", key]).stdout.strip()
    host.sysctl(key, value)
    try:
        yield
    finally:
        host.sysctl(key, before)


@case
def without_timestamps_sack_scaling():
    """Connections without one of TCP's usual options, and without all of them."""
    keys = [f"net.ipv4.tcp_{name}" for name in ("timestamps", "sack", "window_scaling")]
    for key in keys:
        work_with({key: 0})
    work_with({key: 0 for key in keys})


@case
def explicit_congestion_notification():
    """ECN: CWR and ECE flags beside the data."""
    work_with({"net.ipv4.tcp_ecn": 1})


def work_with(settings):
    world = common()
    with contextlib.ExitStack() as stack:
        for key, value in settings.items():
            for host in (world.app, world.peer):
                stack.enter_context(setting(host, key, value))
        c, s = stack.enter_context(link())
        with counted(world.agent, injected=WORK_OUT, dropped=0):
            work_out(c, s)


@case
def fast_open():
    """TCP Fast Open: data in the SYN makes the flow opaque; all arrives."""
    world = common()
    # 0x4, 0x200: client and server do without a cookie.
    with setting(world.app, "net.ipv4.tcp_fastopen", 0x5), \
            setting(world.peer, "net.ipv4.tcp_fastopen", 0x202), \
            listen(world.peer, Pair.PEER, before=lambda s: s.setsockopt(
                socket.IPPROTO_TCP, TCP_FASTOPEN, 16)) as listener:
        with world.app.inside():
            c = socket.socket()
        with c, counted(world.agent, injected=0, syn_data=1):
            c.settimeout(10)
            equal(c.sendto(GET, MSG_FASTOPEN, listener.getsockname()), len(GET), "sent")
            with accept(listener) as s:
                equal(receive(s, len(GET)), GET, "data of the SYN")
                s.sendall(OK)
                receive(c, len(OK))
                untouched(c, s, GET)


@case
def multipath_tcp():
    """Multipath TCP is left alone."""
    world = common()

    def make(host):
        with host.inside():
            try:
                return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
            except OSError as error:
                raise Skip(f"no Multipath TCP in this kernel: {error}") from error

    with make(world.peer) as listener, make(world.app) as c:
        listener.bind((Pair.PEER, 0))
        listener.listen()
        listener.settimeout(10)
        c.settimeout(10)
        c.connect(listener.getsockname())
        with accept(listener) as s, counted(world.agent, injected=0):
            untouched(c, s, GET)
            untouched(c, s, post(os.urandom(3000))[0])
    equal(world.agent.stats()["mptcp"] >= 1, True, "Multipath TCP was counted")


def md5_key(peer):
    address = struct.pack("=H2s4s120x", socket.AF_INET, b"\0\0", socket.inet_aton(peer))
    return address + struct.pack("=BBHI80s", 0, 0, 6, 0, b"secret")


@case
def signed_tcp():
    """TCP MD5 signatures: the bytes are signed, so nothing is changed."""
    world = common()
    try:
        with listen(world.peer, Pair.PEER, before=lambda s: s.setsockopt(
                socket.IPPROTO_TCP, TCP_MD5SIG, md5_key(Pair.APP))) as listener:
            with connect(world.app, listener.getsockname(), before=lambda s: s.setsockopt(
                    socket.IPPROTO_TCP, TCP_MD5SIG, md5_key(Pair.PEER))) as c:
                with accept(listener) as s, counted(world.agent, injected=0):
                    untouched(c, s, GET)
                    s.sendall(OK)
                    receive(c, len(OK))
                    untouched(c, s, GET)
    except OSError as error:
        if not isinstance(error, TimeoutError):
            raise Skip(f"no TCP MD5 in this kernel: {error}") from error
        raise


@case
def bulk_beside_requests():
    """A thousand requests while 60 MB pass on other connections of the same link."""
    world, block = common(), os.urandom(1 << 20)
    with contextlib.ExitStack() as stack:
        bulk = [stack.enter_context(link()) for _ in range(2)]
        sending = [Sending(c, block * 30) for c, _ in bulk]
        c, s = stack.enter_context(link())
        end = time.monotonic() + 60
        for number in range(1000):
            assert time.monotonic() < end, f"only {number} requests in a minute"
            c.sendall(GET)
            equal(compare(receive(s, len(GET) + LINE_LENGTH), [(GET, b"")]), [True], "header")
            s.sendall(OK)
            receive(c, len(OK))
            if number % 100 == 0:
                for _, other in bulk:
                    equal(receive(other, len(block)) == block, True, "bulk data")
        for one, (_, other) in zip(sending, bulk):
            equal(receive(other, 20 * len(block)) == block * 20, True, "bulk data")
            one.finish()


def large_heads():
    """Heads of up to 64 KiB: one field that is nearly all of it, and many fields, written at once."""
    for kib in (5, 13, 16, 24, 40, 63):
        size = kib * 1024
        fields = b"".join(b"X-%04d: %s\r\n" % (i, b"v" * 500) for i in range(size // 511))
        yield padded(size)
        yield GET[:-2] + fields + b"\r\n", b""


def large_heads_arrive(client, server, address):
    """Each as the first request of a connection, and behind another one."""
    for request in large_heads():
        with joined(client, server, address) as (c, s):
            answered(c, s, [request])
            answered(c, s, [request])


@case(seconds=120)
def heads_of_every_size():
    """Over a link, where the stack cuts a head anywhere, and over lo, where a packet has up to 32 KiB."""
    world = common()
    large_heads_arrive(world.app, world.peer, Pair.PEER)
    large_heads_arrive(world.app, world.app, "127.0.0.1")


@case(seconds=120, slow=True)
def lost_parts_of_large_heads():
    """What is sent again lies deep as well, and is the same as before."""
    world = common()
    with rules(world.peer, "lossy", "filter", "input", "meta l4proto tcp numgen inc mod 7 == 3 drop"):
        for request in large_heads():
            with link() as (c, s):
                receive_lossy(c, s, [request])


def posts_in_jumbo_packets(world, address):
    """Requests whose packets grow as large as the devices take them, some of which are lost."""
    requests = [post(os.urandom(400_000)) for _ in range(10)]
    with joined(world.app, world.peer, address) as (c, s):
        for request in requests:
            answered(c, s, [request])
        with rules(world.peer, "lossy", "filter", "input",
                   "meta l4proto tcp numgen inc mod 13 == 3 drop"):
            for request in requests:
                receive_lossy(c, s, [request])


@case(seconds=120)
def packets_above_64_kilobytes():
    """BIG TCP, where IPv6 has the length in a header of its own: injected like any other."""
    with pair() as world:
        for host, device in ((world.app, world.device), (world.peer, world.peer_device)):
            host.run(["ip", "link", "set", "dev", device, "gso_max_size", 200_000,
                      "gro_max_size", 200_000])
        for address in (Pair.PEER, Pair.PEER6):
            with counted(world.agent, injected=20, ip_options=0, dropped=0):
                posts_in_jumbo_packets(world, address)
