# SPDX-License-Identifier: Apache-2.0
"""What `ctxprop flows` tells of the socket at our end: compared with /proc and with what was sent."""
import contextlib
import functools
import json
import os
import platform
import socket
import threading
import time

import iterators
from cases import Skip, case, equal
from test_policy import cgroup
from test_serving import Far
from worlds import common

GET = b"GET / HTTP/1.1\r\nHost: record\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@functools.cache
def need_sockets():
    """Skip where the kernel lets nobody walk through what is known of sockets: there `ctxprop flows`
    tells of flows only, and `flows -p` says why."""
    if iterators.refused("bpf_sk_storage_map"):
        raise Skip("this kernel refuses iterators over the storage of sockets, whatever they do")


def inode_of(sport, dport):
    """That of the connection with these ports, by the kernel's table of its namespace."""
    for name in ("tcp", "tcp6"):
        with common().app.inside(), open(f"/proc/thread-self/net/{name}", encoding="ascii") as table:
            for line in list(table)[1:]:
                columns = line.split()
                ports = [int(column.rsplit(":", 1)[1], 16) for column in columns[1:3]]
                if ports == [sport, dport]:
                    return int(columns[9])
    raise AssertionError(f"no socket {sport} -> {dport}")


def fd_of(pid, inode):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        if os.readlink(f"/proc/{pid}/fd/{fd}") == f"socket:[{inode}]":
            return int(fd)
    raise AssertionError(f"process {pid} holds no socket {inode}")


def cgroup_of(pid):
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        return next(line.rstrip("\n")[3:] for line in file if line.startswith("0::"))


def told(server, sport, dport):
    """The connection's row and its socket, as ctxprop tells."""
    rows = [row for row in common().agent.flows()
            if (row["server"], row["sport"], row["dport"]) == (server, sport, dport)]
    equal(len(rows), 1, f"rows of {sport} -> {dport}")
    return rows[0]["socket"]


def check(got, pid, ports, exchanges, bytes_in, bytes_out):
    """All that does not depend on who reads and who writes."""
    inode = inode_of(*ports)
    equal({name: got[name] for name in ("node", "state", "inode", "cgroup", "exchanges", "reused",
                                        "bytes_in", "bytes_out")},
          {"node": platform.node(), "state": "estab", "inode": inode, "cgroup": cgroup_of(pid),
           "exchanges": exchanges, "reused": exchanges > 1, "bytes_in": bytes_in,
           "bytes_out": bytes_out}, "the socket")
    return inode


def thread(pid, tid, inode):
    with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as file:
        return {"pid": pid, "tid": tid, "name": file.read().rstrip("\n"), "fd": fd_of(pid, inode)}


def in_thread(call):
    """Run it in a thread of its own, which goes on until the result is thrown away."""
    done, stay = threading.Event(), threading.Event()
    found = []

    def run():
        found.append(threading.get_native_id())
        call()
        done.set()
        stay.wait(20)

    threading.Thread(target=run, daemon=True).start()
    equal(done.wait(10), True, "the thread is done")
    return found[0], stay


@contextlib.contextmanager
def served(address):
    """A connection from the peer to this process: (its far end, our socket)."""
    world = common()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with world.app.inside():
        listener = socket.create_server((address, 0), family=family)
    far = Far(world.peer)
    with listener:
        number = far.call("connect", address, listener.getsockname()[1])
        ours, _ = listener.accept()
        with ours:
            ours.settimeout(10)
            yield far, number, ours
    far.process.kill()
    far.process.wait()


def serve_and_look(address):
    with served(address) as (far, number, ours):
        ports = ours.getsockname()[1], ours.getpeername()[1]
        for count in range(1, 4):
            far.call("send", number, GET.decode())
            reader, stay_reader = in_thread(lambda: equal(ours.recv(4096), GET, "request"))
            writer, stay_writer = in_thread(lambda: ours.sendall(OK))
            equal(far.call("read", number, len(OK)), OK.decode(), "answer")
            got = told(True, *ports)
            inode = check(got, os.getpid(), ports, count, count * len(GET), count * len(OK))
            equal(got["reader"], thread(os.getpid(), reader, inode), "who has read")
            equal(got["writer"], thread(os.getpid(), writer, inode), "who has written")
            equal((got["request"], got["call"]), (None, None), "an answered request")
            stay_reader.set()
            stay_writer.set()


@case
def server_of_two_threads():
    """One thread reads the requests of a connection, another one answers."""
    need_sockets()
    serve_and_look(common().APP)


@case
def server_ipv6():
    """The same over IPv6."""
    need_sockets()
    serve_and_look(common().APP6)


@case
def client_in_a_cgroup():
    """A client in a cgroup of its own: its thread, descriptor and cgroup; what it sent, not what we added."""
    need_sockets()
    world = common()
    with world.peer.inside():
        listener = socket.create_server((world.PEER, 0))
    with listener, cgroup("pod") as (_, pod):
        near = Far(world.app)
        pid = near.process.pid
        try:
            (pod / "cgroup.procs").write_text(str(pid))
            began = time.monotonic()
            number = near.call("connect", world.PEER, listener.getsockname()[1])
            peer, _ = listener.accept()
            ports = peer.getpeername()[1], peer.getsockname()[1]
            for count in range(1, 3):
                near.call("send", number, GET.decode())
                got = b""
                while not got.endswith(b"\r\n\r\n"):
                    got += peer.recv(4096)
                equal(b"\r\ntraceparent: " in got, True, "a header was added")
                peer.sendall(OK)
                near.call("read", number, len(OK))
                got = told(False, *ports)
                inode = check(got, pid, ports, count, count * len(OK), count * len(GET))
                equal((got["reader"], got["writer"]), (thread(pid, pid, inode),) * 2, "who")
                equal((got["request"], got["call"]),
                      (None, {"evidence": "none", "veto": "none", "outstanding": False}), "call")
            age = (time.monotonic() - began) * 1000
            equal(0 <= got["age_ms"] <= age, True, f"age {got['age_ms']} of at most {age} ms")
            peer.close()
        finally:
            near.process.kill()
            near.process.wait()


@case
def text():
    """As text: -p names who reads and writes, -e the rest; without them a line stays short."""
    need_sockets()
    with served(common().APP) as (far, number, ours):
        far.call("send", number, GET.decode())
        equal(ours.recv(4096), GET, "request")
        port, me, name = ours.getpeername()[1], os.getpid(), threading.current_thread().native_id
        inode = inode_of(ours.getsockname()[1], port)
        comm = thread(me, name, inode)["name"]

        def line(*options):
            out = common().agent.command("flows", *options).splitlines()
            return next(row for row in out if f":{port}  server" in row)

        equal(line().endswith("  server"), True, "no more than the flow")
        who = f'reader:("{comm}",pid={me},tid={name},fd={ours.fileno()})'
        equal(line("-p").endswith(f"  server  {who}"), True, line("-p"))
        for part in (f" in:{len(GET)} out:0 exchanges:1 ino:{inode} ", f" cgroup:{cgroup_of(me)}"):
            equal(part in line("-e"), True, f"{part} in {line('-e')}")


@contextlib.contextmanager
def answering(ours, far, number):
    """A thread of this process answers again and again."""
    over = threading.Event()

    def run():
        found.append(threading.get_native_id())
        while not over.wait(0.05):
            far.call("send", number, GET.decode())
            ours.recv(4096)
            ours.sendall(OK)
            far.call("read", number, len(OK))

    found = []
    thread_of_its_own = threading.Thread(target=run, daemon=True)
    thread_of_its_own.start()
    try:
        yield found
    finally:
        over.set()
        thread_of_its_own.join()


@case
def stacks():
    """-k gathers the stacks of who sends, by file and function; without it nothing is gathered."""
    need_sockets()
    with served(common().APP) as (far, number, ours):
        ports = ours.getsockname()[1], ours.getpeername()[1]
        with answering(ours, far, number) as threads:
            rows = json.loads(common().agent.command("flows", "--json", "--stacks"))
            lines = common().agent.command("flows", "-k").splitlines()
        stack = next(row["stack"] for row in rows if (row["sport"], row["dport"]) == ports)
        equal((stack["pid"], [stack["tid"]]), (os.getpid(), threads), "who sends")
        first = stack["frames"][0]
        equal(first["function"] in ("send", "__send") and first["module"] in open_files(), True,
              f"where from: {first}")
        at = next(i for i, line in enumerate(lines) if f":{ports[1]}  server" in line)
        equal(f"pid={os.getpid()},tid={threads[0]}" in lines[at + 1], True, f"line {lines[at + 1]}")
        equal(" send+0x" in lines[at + 2] or " __send+0x" in lines[at + 2], True,
              f"line {lines[at + 2]}")
        row = next(r for r in common().agent.flows() if (r["sport"], r["dport"]) == ports)
        equal(row["stack"], None, "without -k")


def open_files():
    """Files that are mapped into this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {line.split(None, 5)[5].rstrip("\n") for line in maps if line.count(" /")}


@case
def open_request():
    """The request that is being served, until its answer is sent."""
    need_sockets()
    with served(common().APP) as (far, number, ours):
        ports = ours.getsockname()[1], ours.getpeername()[1]
        trace, parent = os.urandom(16).hex(), os.urandom(8).hex()
        far.call("send", number, "GET / HTTP/1.1\r\nHost: record\r\n"
                 f"traceparent: 00-{trace}-{parent}-01\r\n\r\n")
        equal(len(ours.recv(4096)) > 0, True, "it is read")
        time.sleep(0.01)
        got = told(True, *ports)["request"]
        equal((got["trace_id"], got["parent_id"], got["calls"]), (trace, parent, 0), "its ids")
        equal(len(got["span_id"]) == 16 and got["span_id"] != parent, True, "a span of its own")
        equal(got["age_us"] >= got["taken_us"] >= 10_000, True, f"times: {got}")
        ours.sendall(OK)
        far.call("read", number, len(OK))
        equal(told(True, *ports)["request"], None, "afterwards")


@case
def closed():
    """Nothing is told of a socket that is no more."""
    need_sockets()
    with served(common().APP) as (far, number, ours):
        ports = ours.getsockname()[1], ours.getpeername()[1]
        far.call("send", number, GET.decode())
        equal(ours.recv(4096), GET, "request")
        equal(told(True, *ports)["state"], "estab", "before")
        ours.shutdown(socket.SHUT_RDWR)
        far.call("close", number)
    left = [row for row in common().agent.flows() if (row["sport"], row["dport"]) == ports]
    equal([row["socket"] for row in left if row["socket"]], [], "sockets told of")
