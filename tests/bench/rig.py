# SPDX-License-Identifier: Apache-2.0
"""The namespaces, the servers, the agent, and the arms of the comparison.

"plain" and "watched" are two application namespaces alike, with a link each to "upstream". The
agent lives in "watched" only, so that the arms can alternate without starting and stopping it.
For the arm "follow" there is one more such pair with an agent on both sides: what one request
costs as a call and as a request that is served. Its probes are taken off for the other arms. The
pair of the arm "spans" is like it, and its agents store a span of each request on either side.
For the arm "profile" the whole machine is sampled; for the others the clocks of that stand still.
Everything runs on one CPU: a closed loop then runs as fast as a request is cheap.
"""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import string
import subprocess
import sys
import tempfile
import time

from bpf import Objects, Programs
from probes import Probes
from profiler import Profiler
from machine import Cgroup, cgroup2

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from lab import Lab  # noqa: E402 (the path is set just above)
from logged import logged  # noqa: E402

PORT, BULK_PORT = 8080, 5201
FLOWS = 131072  # room for the many flows of one round
ARMS = ("none", "idle", "inject", "follow", "spans", "profile", "skmsg", "nginx", "haproxy")
PROFILE_HZ = 99
STORED_SECONDS = 1.5  # within these a span is stored


class Arm:
    """One way for a request to go from an application to the upstream."""

    def __init__(self, rig, name, host, address, port=PORT, cgroup=None, paused=None, server=None):
        self.rig, self.name, self.host = rig, name, host
        self.address, self.port, self.server = address, port, server or rig.upstream
        self.cgroup, self.paused = cgroup or rig.cgroup_apps, paused
        self.settles = 0  # seconds until its agents have done what its requests leave to them

    def spawn(self, argv, **kw):
        """Start an application process of this arm."""
        return self.host.spawn(argv, preexec_fn=self.rig.placed(self.cgroup), **kw)

    def run(self, argv):
        return self.host.run(argv, preexec_fn=self.rig.placed(self.cgroup)).stdout

    def ready(self):
        """Call before each measurement: two arms share one agent, all share the kernel."""
        if self.rig.probes:
            self.rig.probes.attach(self.name in ("follow", "spans"))
        if self.rig.profiler:
            self.rig.profiler.sample(self.name == "profile")
        if self.paused is not None:
            self.rig.objects.pause(self.paused)

    def direct(self):
        """No proxy in between: bytes at the server tell what was added."""
        return self.address != "127.0.0.1"


class Rig:
    """Everything that runs while the bench runs. A context manager. words: more options of its agents"""

    def __init__(self, build, cpu, wanted, words=()):
        self.build, self.cpu = pathlib.Path(build).resolve(), cpu
        self.missing, self.arms, self.objects, self.agent, self.words = {}, {}, None, None, words
        self.probes, self.profiler, self.followers, self.stores = None, None, {}, []
        self.bulk = bool(shutil.which("iperf3"))
        self.lab = Lab("bench")
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="ctxprop-bench-"))
        self.cgroup = Cgroup(f"{cgroup2()}/ctxprop-bench-{os.getpid()}")
        try:
            self.start(wanted)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.probes:
            self.probes.close()
        if self.profiler:
            self.profiler.release()
        self.lab.close()
        self.cgroup.close()
        shutil.rmtree(self.scratch)

    def placed(self, cgroup, pinned=True):
        """What a child process does before its program begins."""
        def place():
            cgroup.enter()
            if pinned:
                os.sched_setaffinity(0, {self.cpu})
        return place

    def start(self, wanted):
        self.cgroup_apps, self.cgroup_skmsg, self.cgroup_agent, self.cgroup_profile = map(
            self.cgroup.child, ("apps", "skmsg", "agent", "profile"))
        self.upstream = self.lab.host("upstream")
        self.plain = self.application("plain", 1, self.upstream)
        self.watched = self.application("watched", 2, self.upstream)
        self.serve(self.upstream)
        for name in wanted:
            self.missing_or_added(name)
        self.take_probes()

    def take_probes(self):
        """When all agents are up: from now on each arm says whether it wants the probes."""
        self.probes = Probes()
        for objects in self.followers.values():
            objects.programs.sides["probes"] = self.probes.ids

    def application(self, name, number, server):
        """A host with a link to a server, where its address is host.address."""
        host = self.lab.host(name)
        host.address = f"10.91.{number}.1"
        host.device, host.back = self.lab.link(host, server, f"10.91.{number}.2/24",
                                               f"{host.address}/24")
        host.net = f"10.91.{number}.0/24"
        host.sysctl("net.ipv4.ip_local_port_range", "1024 65535")
        return host

    def serve(self, server):
        place = self.placed(self.cgroup_apps)
        server.spawn([self.build / "bench_server", PORT], preexec_fn=place)
        server.wait_port(PORT)
        if self.bulk:
            server.spawn(["iperf3", "-s", "-p", BULK_PORT], preexec_fn=place,
                         stdout=subprocess.DEVNULL)
            server.wait_port(BULK_PORT)

    def missing_or_added(self, name):
        """Add one arm; a program that is not installed makes it missing, with the reason."""
        add = {"none": self.add_plain, "idle": self.add_agent, "inject": self.add_agent,
               "follow": self.add_followers, "spans": self.add_followers, "profile": self.add_profile,
               "skmsg": self.add_skmsg, "nginx": self.add_proxy, "haproxy": self.add_proxy}[name]
        reason = add(name)
        if reason:
            self.missing[name] = reason

    def add_plain(self, name):
        self.arms[name] = Arm(self, name, self.plain, self.plain.address)

    def add_agent(self, name):
        if not self.agent:
            self.agent = self.start_agent(self.watched)
            self.objects = Objects([self.agent.pid])
        self.arms[name] = Arm(self, name, self.watched, self.watched.address,
                              paused=name == "idle")

    def add_followers(self, name):
        served = self.lab.host(f"{name}-served")
        follower = self.application(name, 3 + len(self.followers), served)
        self.serve(served)
        if name == "spans":
            self.stores = [self.scratch / f"{host.name}.db" for host in (follower, served)]
        stores = self.stores if name == "spans" else ["none", "none"]
        agents = [self.start_agent(host, store) for host, store in zip((follower, served), stores)]
        self.followers[name] = Objects([agent.pid for agent in agents])
        self.arms[name] = Arm(self, name, follower, follower.address, server=served)
        self.arms[name].agents = agents
        self.arms[name].settles = STORED_SECONDS if name == "spans" else 0

    def add_profile(self, name):
        self.profiler = self.profile(PROFILE_HZ)
        self.add_plain(name)

    def profile(self, hz, *options, seconds=3600):
        """`ctxprop profile` of all CPUs, in a cgroup of its own."""
        place = self.placed(self.cgroup_profile, pinned=False)
        return Profiler(functools.partial(self.plain.spawn, preexec_fn=place), self.build, hz, *options,
                        seconds=seconds)

    def add_skmsg(self, name):
        loader = self.upstream.spawn([self.build / "bench_skmsg", self.cgroup_skmsg.path],
                                     stdout=subprocess.PIPE, text=True)
        if loader.stdout.readline().strip() != "ready":
            raise RuntimeError("bench_skmsg did not attach; its message stands above")
        self.arms[name] = Arm(self, name, self.plain, self.plain.address,
                              cgroup=self.cgroup_skmsg)

    def add_proxy(self, name):
        program = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            return f"{name} is not installed"
        template = {"nginx": "nginx.conf.in", "haproxy": "haproxy.cfg.in"}[name]
        port = {"nginx": 8081, "haproxy": 8082}[name]
        option = {"nginx": "-c", "haproxy": "-f"}[name]
        config = self.scratch / template.removesuffix(".in")
        config.write_text(Template((HERE / template).read_text()).substitute(
            dir=self.scratch, port=port, upstream=f"{self.plain.address}:{PORT}"))
        with open(self.scratch / f"{name}.log", "w", encoding="utf-8") as log:
            self.plain.spawn([program, option, config], preexec_fn=self.placed(self.cgroup_apps),
                             stderr=log)
        self.plain.wait_port(port)
        self.arms[name] = Arm(self, name, self.plain, "127.0.0.1", port)
        return None

    def start_agent(self, host, store="none"):
        """ctxpropd in a host; returns the process when it is attached."""
        log = self.scratch / f"ctxpropd-{host.name}.log"
        with open(log, "w", encoding="utf-8") as file:
            agent = host.spawn([self.build / "ctxpropd", "--flows", FLOWS, "--store", store,
                                "--http", "none", *self.words], stdout=file, stderr=file,
                               preexec_fn=self.placed(self.cgroup_agent, pinned=False))
        end = time.monotonic() + 30
        while not logged(log.read_text(), "ready"):
            if agent.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"ctxpropd did not log \"ready\" in 30 s (exit status "
                                   f"{agent.poll()}):\n{log.read_text()}")
            time.sleep(0.02)
        return agent

    @contextlib.contextmanager
    def packet_by_packet(self, quickack):
        """No super-packets out, for sockets that connect meanwhile.

        quickack: 1: each packet is acknowledged at once, else 0.
        """
        self.set_links(gso_max_segs=1, quickack=quickack)
        try:
            yield
        finally:
            self.set_links(gso_max_segs=65535, quickack=0)

    def set_links(self, gso_max_segs, quickack):
        for host in (self.plain, self.watched):
            host.run(["ip", "link", "set", "dev", host.device, "gso_max_segs", gso_max_segs])
            self.upstream.run(["ip", "route", "change", host.net, "dev", host.back, "proto",
                               "kernel", "scope", "link", "src", host.address, "quickack",
                               quickack])

    @contextlib.contextmanager
    def empty_programs(self):
        """Programs that do nothing on the link of "plain", for as long as this is held."""
        device = self.plain.device
        self.plain.run(["tc", "qdisc", "add", "dev", device, "clsact"])
        sides = {}
        for side, hook in (("out", "egress"), ("in", "ingress")):
            self.plain.run(["tc", "filter", "add", "dev", device, hook, "bpf", "da", "obj",
                            self.build / "bench_empty.o", "sec", "tc"])
            shown = json.loads(self.plain.run(["tc", "-j", "filter", "show", "dev", device,
                                               hook]).stdout)
            sides[side] = [entry["options"]["prog"]["id"] for entry in shown
                           if "prog" in entry.get("options", {})]
        try:
            yield Programs(sides)
        finally:
            self.plain.run(["tc", "qdisc", "del", "dev", device, "clsact"])


class Template(string.Template):
    """@name@ as in CMake: the configurations are full of dollars."""
    pattern = r"""@(?:(?P<escaped>@)|(?P<named>[a-z]+)@|(?P<braced>\b\B)|(?P<invalid>\b\B))"""
