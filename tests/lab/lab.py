# SPDX-License-Identifier: Apache-2.0
"""Hosts out of network namespaces, for every test that needs real packets.

    with Lab("demo") as lab:
        client, app = lab.host("client"), lab.host("app")
        lab.link(client, app, "10.77.0.1/24", "10.77.0.2/24")
        app.spawn(["nginx", ...]); client.run(["curl", ...])

Everything that a Lab made is gone when it ends, however it ends.
"""
import contextlib
import ctypes
import functools
import itertools
import os
import signal
import subprocess
import time

from waiting import CommandFailed

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x44000
BPFFS = "/sys/fs/bpf"
_libc = ctypes.CDLL(None, use_errno=True)


def _enter(netns_fd):
    if _libc.setns(netns_fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@functools.cache
def own_pins():
    """From here on this process and its children see a BPF file system of their own: what the
    agents of a lab pin is neither mixed with the node's agent nor with other tests."""
    if _libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    for argv in ((b"none", b"/", None, MS_REC_PRIVATE), (b"bpf", BPFFS.encode(), b"bpf", 0)):
        if _libc.mount(*argv, None):
            raise OSError(ctypes.get_errno(), f"mount {argv[1].decode()}")


def sh(*argv, check=True, **kw):
    """Run a command outside any namespace; its output on failure, as text on success."""
    done = subprocess.run(argv, capture_output=True, text=True, **kw)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Host:
    """One network namespace, with processes of its own."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.netns = f"{lab.name}-{os.getpid()}{lab.suffix}-{name}"
        self.devices = 0
        sh("ip", "netns", "add", self.netns)
        self.run(["ip", "link", "set", "lo", "up"])

    def argv(self, argv):
        # Not `ip netns exec`: that remounts /sys, and bpffs and cgroups vanish inside.
        return ["nsenter", f"--net=/run/netns/{self.netns}", *map(str, argv)]

    @contextlib.contextmanager
    def inside(self):
        """The calling thread is in this namespace for a while; sockets made then stay in it."""
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        there = os.open(f"/run/netns/{self.netns}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
            try:
                yield self
            finally:
                _enter(here)
        finally:
            os.close(here)
            os.close(there)

    def run(self, argv, check=True, **kw):
        """Run to the end; returns the CompletedProcess with text output."""
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        kw.setdefault("text", True)
        if kw["text"]:
            kw.setdefault("errors", "replace")  # it may end in the middle of a character
        done = subprocess.run(self.argv(argv), **kw)
        if check and done.returncode:
            raise CommandFailed(f"{self.name}: {' '.join(map(str, argv))}: exit {done.returncode}\n"
                                f"{done.stdout or ''}{done.stderr or ''}")
        return done

    def spawn(self, argv, **kw):
        """Start in the background; killed with the lab. Returns the Popen."""
        kw.setdefault("start_new_session", True)
        process = subprocess.Popen(self.argv(argv), **kw)
        self.lab.processes.append(process)
        return process

    def next_device(self):
        self.devices += 1
        return f"eth{self.devices - 1}"

    def sysctl(self, key, value):
        self.run(["sysctl", "-qw", f"{key}={value}"])

    def listens(self, port):
        """Whether something in this namespace listens on a TCP port."""
        return bool(self.run(["ss", "-Hltn", f"sport = :{port}"]).stdout.strip())

    def wait_port(self, port, address="127.0.0.1", seconds=120):
        """Wait until something in this namespace listens on a TCP port."""
        del address
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.listens(port):
                return
            time.sleep(0.02)
        raise RuntimeError(f"{self.name}: nothing listens on port {port} after {seconds} s")


class Lab:
    """A set of hosts and the links between them."""

    serial = itertools.count()

    def __init__(self, name):
        own_pins()
        self.name, self.hosts, self.processes = name, [], []
        number = next(self.serial)
        self.suffix = f".{number}" if number else ""
        self.leaving = contextlib.ExitStack()

    def at_close(self, call, *args):
        """Call this when the lab ends, before processes and namespaces go; last in, first out."""
        self.leaving.callback(call, *args)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def host(self, name):
        host = Host(self, name)
        self.hosts.append(host)
        return host

    def link(self, a, b, address_a, address_b, *more, mtu=1500, queues=1):
        """A veth pair; each address may be IPv4 or IPv6 with prefix. Returns the device names.

        `more` holds further (address_a, address_b) pairs.
        """
        dev_a, dev_b = a.next_device(), b.next_device()
        q = ["numtxqueues", str(queues), "numrxqueues", str(queues)] if queues > 1 else []
        sh("ip", "link", "add", "name", dev_a, "mtu", str(mtu), *q, "netns", a.netns, "type", "veth",
           "peer", "name", dev_b, "mtu", str(mtu), *q, "netns", b.netns)
        for host, dev, addresses in ((a, dev_a, [address_a] + [m[0] for m in more]),
                                     (b, dev_b, [address_b] + [m[1] for m in more])):
            for address in addresses:
                nodad = ["nodad"] if ":" in address else []
                host.run(["ip", "addr", "add", address, "dev", dev, *nodad])
            host.run(["ip", "link", "set", dev, "up"])
        return dev_a, dev_b

    def close(self):
        try:
            self.leaving.close()
        finally:
            self.remove()

    def remove(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for process in self.processes:
            process.wait()
        for host in self.hosts:
            sh("ip", "netns", "del", host.netns, check=False)
        self.processes, self.hosts = [], []
