# SPDX-License-Identifier: Apache-2.0
"""From when to when a thread works on a request: the case itself is the server, byte by byte.

The client is a process of its own, so that this one's threads do nothing but serve.
"""
import contextlib
import os
import re
import socket
import threading

import bpf_map
import cases
from agent import Agent
from cases import case, equal
from far import Client, Far, OK, head
from following import inboxes, known_as
from lab import Lab
from waiting import wait_until

PIN = "/sys/fs/bpf/otel/traces_ctx_v1"
BEFORE_6_3 = {"unix-send", "unix-recv"}  # events that older kernels have no hook for
ADDRESS, ADDRESS6 = "10.96.0.2", "fd00:96::2"


@cases.shared
@contextlib.contextmanager
def world():
    with Lab("serving") as lab:
        far, here = lab.host("far"), lab.host("here")
        lab.link(far, here, "10.96.0.1/24", f"{ADDRESS}/24", ("fd00:96::1/64", f"{ADDRESS6}/64"))
        agent = Agent(here, cases.BUILD)
        # Some events are optional, so that the others work on a kernel that refuses their probe.
        missing = set(re.findall(r"event '(.*?)'.* \[hook-missing\]", agent.said()))
        equal(missing - BEFORE_6_3, set(), f"events without a hook:\n{agent.said()}")
        with here.inside(), socket.create_server((ADDRESS, 0)):
            known_as(os.getpid())
        yield Far(far), Far(here), here


@contextlib.contextmanager
def connections(count=1, address=ADDRESS, loopback=False):
    """So many connections from the far client, or over loopback from one beside the server."""
    far, near, here = world()
    address = "127.0.0.1" if loopback else address
    with here.inside(), contextlib.ExitStack() as stack:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = stack.enter_context(socket.create_server((address, 0), family=family))
        made = [stack.enter_context(contextlib.closing(
            Client(near if loopback else far, listener, address))) for _ in range(count)]
        yield made[0] if count == 1 else made
    equal(mine(), {}, "entries of closed connections")


def mine():
    """{thread: trace id} of this process."""
    return {thread: ids[0] for thread, ids in bpf_map.entries_of(PIN, os.getpid()).items()}


def works_on(trace, what):
    """The calling thread works on this request (None: on none), and no other thread on any."""
    me = (os.getpid(), threading.get_native_id())
    equal(mine(), {me: trace} if trace else {}, what)


def taken(client, *request):
    """A request of the client's that the calling thread has read; returns its trace id."""
    trace = client.ask(*request)
    client.socket.recv(4096)
    works_on(trace, "read")
    return trace


def over(client, answer=OK):
    """Answer the only request that is open."""
    client.answered(answer)
    works_on(None, "answered")


@case
def whole():
    """From the read to the answer"""
    with connections() as client:
        for number in range(3):
            trace = client.ask()
            works_on(None, f"request {number} has arrived")
            client.socket.recv(4096)
            works_on(trace, f"request {number} is read")
            client.answered()
            works_on(None, f"request {number} is answered")


@case
def ipv6():
    """The same over IPv6"""
    with connections(address=ADDRESS6) as client:
        taken(client)
        over(client)


@case
def loopback():
    """The same over loopback: the client's own send is no request that is served"""
    with connections(loopback=True) as client:
        taken(client)
        over(client)


@case
def peeked():
    """MSG_PEEK takes nothing up"""
    with connections() as client:
        trace = client.ask()
        client.socket.recv(4096, socket.MSG_PEEK)
        works_on(None, "peeked")
        client.socket.recv(4096)
        works_on(trace, "read")
        over(client)


@case
def byte_by_byte():
    """A head that is read in single bytes"""
    with connections() as client:
        trace = client.ask()
        client.socket.recv(1)
        works_on(trace, "its first byte is read")
        client.socket.recv(4096)
        works_on(trace, "all is read")
        over(client)


@case
def head_in_pieces():
    """A head whose end arrives when its beginning was read"""
    with connections() as client:
        trace = os.urandom(16).hex()
        text = head(trace)
        for piece in (text[:30], text[30:80], text[80:]):
            client.send(piece)
            client.socket.recv(4096)
        works_on(trace, "all is read")
        over(client)


@case
def body():
    """A request with a body that is read after the head; a long body"""
    with connections() as client:
        trace = client.ask("POST / HTTP/1.1", "Content-Length: 300000\r\n", "x" * 300_000)
        left = 300_000 + len(head(trace, "POST / HTTP/1.1", "Content-Length: 300000\r\n"))
        while left:
            left -= len(client.socket.recv(65536))
            works_on(trace, "while it is read")
        over(client)


@case(slow=True)
def answer_in_pieces():
    """The request is over with the last byte of the answer, not the first"""
    with connections() as client:
        trace = taken(client)
        for begin, end in ((0, 1), (1, 17), (17, len(OK) - 1)):
            client.socket.sendall(OK[begin:end])
            works_on(trace, f"{end} bytes of the answer are sent")
        client.socket.sendall(OK[-1:])
        client.got(OK)
        works_on(None, "answered")


@case(slow=True)
def interim():
    """An interim answer ends nothing"""
    with connections() as client:
        fields = "Expect: 100-continue\r\nContent-Length: 2\r\n"
        trace = taken(client, "POST / HTTP/1.1", fields)
        client.answered(b"HTTP/1.1 100 Continue\r\n\r\n")
        works_on(trace, "behind 100 Continue")
        client.send("ab")
        client.socket.recv(2)
        client.answered(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
        works_on(trace, "behind 103 Early Hints")
        over(client)


@case(slow=True)
def answers_without_body():
    """Answers that end with their head: to HEAD, 204, 304"""
    with connections() as client:
        for start, answer in (("HEAD / HTTP/1.1", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
                              ("GET / HTTP/1.1", b"HTTP/1.1 204 No Content\r\n\r\n"),
                              ("GET / HTTP/1.1", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")):
            taken(client, start)
            over(client, answer)


@case
def chunked_answer():
    """An answer in chunks ends with the last of them"""
    with connections() as client:
        trace = taken(client)
        client.answered(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        works_on(trace, "a chunk is sent")
        client.answered(b"0\r\n\r\n")
        works_on(None, "the last chunk is sent")
        taken(client)
        over(client)


@case
def answer_until_close():
    """An answer without a length ends with the connection"""
    with connections() as client:
        trace = taken(client)
        client.answered(b"HTTP/1.1 200 OK\r\n\r\nhello")
        works_on(trace, "some of the answer is sent")
        client.socket.shutdown(socket.SHUT_WR)
        works_on(None, "no more will be sent")


@case
def long_answer():
    """An answer of megabytes ends with its last byte"""
    with connections() as client:
        trace = taken(client)
        data = b"x" * 3_000_000
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + data
        reader = threading.Thread(target=client.got, args=(answer,))
        reader.start()
        client.socket.sendall(answer[:-1])
        works_on(trace, "all but one byte is written")
        client.socket.sendall(answer[-1:])
        reader.join()
        works_on(None, "the client has it all")


@case
def one_in_another():
    """A second request while the first is open: then the first is taken up again"""
    with connections(2) as (first, second):
        a = taken(first)
        b = taken(second)
        second.answered()
        works_on(a, "the second is answered")
        over(first)


@case
def the_first_ends_first():
    """A second request while the first is open, which ends before it"""
    with connections(2) as (first, second):
        taken(first)
        b = taken(second)
        first.answered()
        works_on(b, "the first is answered")
        over(second)


@case
def pipelined():
    """Two requests in one read: each ends with its own answer"""
    with connections() as client:
        a, b = (os.urandom(16).hex() for _ in range(2))
        client.send(head(a) + head(b))
        client.socket.recv(4096)
        client.answered()
        works_on(b, "the first is answered")
        over(client)


@case
def read_by_threads_in_turn():
    """One connection, each request read by another thread"""
    def serve():
        trace = client.ask()
        client.socket.recv(4096)
        found.append(mine() == {(os.getpid(), threading.get_native_id()): trace})
        client.answered()
        found.append(mine() == {})

    with connections() as client:
        found = []
        for _ in range(4):
            thread = threading.Thread(target=serve)
            thread.start()
            thread.join()
        equal(found, [True] * 8, "entries while it is read, none when it is answered")


@case
def answered_by_a_child():
    """A process forked behind the read answers"""
    with connections() as client:
        trace = taken(client)
        child = os.fork()
        if not child:
            client.socket.sendall(OK)
            os._exit(0)
        os.waitpid(child, 0)
        client.got(OK)
        works_on(None, f"{trace} was answered by the child")


@case
def closed_without_an_answer():
    """The server closes the connection"""
    with connections() as client:
        taken(client)
        client.socket.close()
        works_on(None, "closed")


@case
def inboxes_go_with_their_sockets():
    """Each socket that a request has come for has an inbox, until it is closed, read or not"""
    with connections(0):
        before = inboxes()
    with connections(8) as clients:
        for client in clients:
            client.ask()
        wait_until(lambda: inboxes() == before + 8, "8 inboxes")
        for client in clients[:4]:
            client.socket.recv(4096)
        for client in clients:
            client.socket.close()
        wait_until(lambda: inboxes() == before, "none of them")


@case
def reset_by_the_client():
    """The client resets the connection"""
    with connections() as client:
        taken(client)
        client.far.call("reset", client.number)
        wait_until(lambda: not mine(), "the reset ends it")
        works_on(None, "reset")


@case
def no_http():
    """What is no HTTP is nobody's request"""
    with connections() as client:
        for text in ("\x16\x03\x01\x02\x00\x01", "SSH-2.0-OpenSSH\r\n", "GET and more of it\n"):
            client.send(text)
            client.socket.recv(4096)
            works_on(None, repr(text))


# The last one: from then on threads of this process are known to leave requests to others.
@case
def answered_by_another_thread():
    """The thread that read it does not work on it any more when another one has answered"""
    with connections() as client:
        taken(client)
        other = threading.Thread(target=client.answered)
        other.start()
        other.join()
        works_on(None, "answered")
