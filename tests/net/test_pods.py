# SPDX-License-Identifier: Apache-2.0
"""One agent for a node and its pods: network namespaces that are found, attended and given back."""
import contextlib
import json
import os
import subprocess
from pathlib import Path

import cases
from agent import Agent
from cases import case, equal
from following import known_as
from hooks import cookie
from lab import Lab, sh
from messages import GET, OK, answered, post, work_out
from recorder import Recorder
from streams import accept, connect, joined, listen, receive
from tun import Tunnel
from waiting import wait_until

PINS = Path("/sys/fs/bpf/ctxprop")
SERVICE = Path(__file__).resolve().parents[1] / "w3c/service.py"


class Node:
    """A node with the agent, its pods behind it, and a server outside."""

    NODE, OUTSIDE = "10.97.0.1", "10.97.0.2"

    def __init__(self, lab, *options):
        self.lab, self.pods = lab, 0
        self.node, self.outside = lab.host("node"), lab.host("outside")
        lab.link(self.node, self.outside, f"{self.NODE}/24", f"{self.OUTSIDE}/24")
        self.node.sysctl("net.ipv4.ip_forward", 1)
        self.outside.run(["ip", "route", "add", "10.98.0.0/16", "via", self.NODE])
        self.early = self.pod()
        self.agent = Agent(self.node, cases.BUILD, "--netns", self.pattern(), *options)

    def pattern(self):
        return self.node.netns.replace("-node", "-pod*")

    def pod(self):
        """A pod: a namespace with an address of its own."""
        self.pods += 1
        pod = self.lab.host(f"pod{self.pods}")
        pod.address = f"10.98.{self.pods}.2"
        self.lab.link(self.node, pod, f"10.98.{self.pods}.1/24", f"{pod.address}/24")
        pod.run(["ip", "route", "add", "default", "via", f"10.98.{self.pods}.1"])
        return pod


    def attended(self, pod):
        """Wait until the agent works in a pod."""
        for device in ("lo", "eth0"):
            wait_until(lambda device=device: f"{pod.netns}/{device}: " in self.agent.said(), self.agent.said)
        return pod

    def remove(self, pod):
        sh("ip", "netns", "del", pod.netns)


@contextlib.contextmanager
def node(*options):
    with Lab("pods") as lab:
        yield Node(lab, *options)


def flows_of(world, pod, *options):
    done = world.agent.host.run([f"{world.agent.build}/ctxprop", "--netns", pod.netns, "flows",
                                 "-j", *options])
    return json.loads(done.stdout)


@case(seconds=120)
def found():
    """Pods that are there and that come are attended; their requests get one header each."""
    with node() as world:
        for pod in (world.attended(world.early), world.attended(world.pod())):
            before = world.agent.stats()
            with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
                work_out(c, s)
                flow, = flows_of(world, pod)
                equal((flow["src"], flow["requests"]), (pod.address, 9), "the pod's own flow")
            # The node forwards them: it sees that they were decided about, and counts none twice.
            after = world.agent.stats()
            grown = {k: after[k] - before[k] for k in ("injected", "present", "dropped")}
            equal(grown, {"injected": 9, "present": 0, "dropped": 0}, "counted")
            with joined(pod, pod, "127.0.0.1") as (c, s):
                work_out(c, s)


@case
def paused_from_a_pod():
    """pause, by way of a pod, holds for all that the daemon does, and it says who has asked."""
    with node() as world:
        world.attended(world.early)
        for word, said in (("pause", "paused"), ("resume", "resumed")):
            with world.node.spawn([f"{cases.BUILD}/ctxprop", "--netns", world.early.netns, word],
                                  stdout=subprocess.DEVNULL) as command:
                equal(command.wait(timeout=30), 0, word)
            world.agent.wait_logged("ordered", f" info: {said}: by process {command.pid} of user 0")
            with joined(world.node, world.outside, Node.OUTSIDE) as (c, s):
                answered(c, s, [(GET, b"")], [word == "resume"])


@case
def same_tuple():
    """Pods with the same loopback address and the same ports do not mix."""
    with node() as world, contextlib.ExitStack() as stack:
        links = []
        for host in (world.early, world.pod(), world.node):
            if host is not world.node:
                world.attended(host)
            listener = stack.enter_context(listen(host, "127.0.0.1", 8080))
            c = stack.enter_context(connect(host, ("127.0.0.1", 8080), ("127.0.0.1", 4444)))
            links.append((c, stack.enter_context(accept(listener))))
        for size in (0, 10, 2000, 100_000):
            for number, (c, s) in enumerate(links):
                for _ in range(1 + number):
                    answered(c, s, [post(os.urandom(size + 1000 * number))])
        listed = json.loads(world.agent.command("flows", "-j", "--all"))
        outbound = [(flow["netns"], flow["requests"]) for flow in listed
                    if flow["sport"] == 4444 and not flow["server"]]
        equal(sorted(requests for _, requests in outbound), [4, 8, 12], "three flows, not mixed")
        equal(len({netns for netns, _ in outbound}), 3, "their namespaces")


@case
def decided_in_the_pod():
    """A rule that skips a pod's requests holds although the node forwards them."""
    with node() as world:
        pod = world.attended(world.early)
        world.agent.command("policy", "add", "dir", "out", "from", f"{pod.address}/32", "action",
                            "skip")
        other = world.attended(world.pod())
        for host, injected in ((pod, False), (other, True)):
            with joined(host, world.outside, Node.OUTSIDE) as (c, s):
                work_out(c, s, injected=injected)


@case
def device_of_the_node():
    """`dev` in a rule is a device of the node, not one of the same number in a pod."""
    with node() as world:
        pod = world.attended(world.early)
        # Both have the number 2.
        world.agent.command("policy", "add", "dev", "eth0", "action", "skip")
        with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")])
        with joined(world.node, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")], [False])


@case(seconds=120)
def gone():
    """A pod that goes takes its pins and its flows with it; others are left alone."""
    with node() as world, contextlib.ExitStack() as stack:
        stays, goes = world.attended(world.early), world.attended(world.pod())
        pins = [PINS / f"{cookie(pod):x}" for pod in (stays, goes)]
        c, s = stack.enter_context(joined(stays, world.outside, Node.OUTSIDE))
        answered(c, s, [(GET, b"")])
        with joined(goes, world.outside, Node.OUTSIDE) as link:
            answered(*link, [(GET, b"")])
            equal([pin.exists() for pin in pins], [True, True], "pins")
        world.remove(goes)
        world.agent.wait_logged("netns-gone", f" {goes.netns}: ")
        wait_until(lambda: not pins[1].exists(), f"{pins[1]} is still there")
        equal(pins[0].exists(), True, "the other's pins")
        listed = json.loads(world.agent.command("flows", "-j", "--all"))
        equal([flow["src"] for flow in listed if flow["src"].startswith("10.98.")
               and not flow["forwarded"]], [stays.address], "flows that are left")
        answered(c, s, [(GET, b"")])
        world.attended(world.pod())


@case(slow=True)
def daemon_dies():
    """kill -9, restart, stop and start: connections of pods live on; a pod may come meanwhile."""
    with node() as world, contextlib.ExitStack() as stack:
        pod = world.attended(world.early)
        c, s = stack.enter_context(joined(pod, world.outside, Node.OUTSIDE))
        answered(c, s, [(GET, b"")] * 3)
        world.agent.stop(9)
        answered(c, s, [post(os.urandom(20_000))])
        late = world.pod()
        world.agent.start()
        world.attended(late)
        answered(c, s, [(GET, b"")])
        with joined(late, world.outside, Node.OUTSIDE) as link:
            answered(*link, [(GET, b"")])
        world.agent.stop()
        answered(c, s, [(GET, b"")], [False])
        world.agent.start()
        answered(c, s, [(GET, b"")])


@case(seconds=120, slow=True)
def tunnel():
    """A pod's TUN device, for which the agent loads programs when it comes; a start replaces them."""
    with node() as world:
        pod = world.attended(world.early)
        with Tunnel(pod, "10.99.0.1/24", world.outside, "10.99.0.2/24"):
            world.agent.wait_logged("device-attached", f" {pod.netns}/tun0: ")
            with joined(pod, world.outside, "10.99.0.2") as (c, s):
                work_out(c, s)
                world.agent.stop(9)
                answered(c, s, [post(os.urandom(20_000))])
                world.agent.start()
                world.agent.wait_logged("device-replaced", f" {pod.netns}/tun0: ")
                work_out(c, s)


@case(seconds=120, slow=True)
def without_netns():
    """A start without --netns: pods are edited no more, their live connections go on; and back."""
    with node() as world, contextlib.ExitStack() as stack:
        pod, options = world.attended(world.early), world.agent.options
        c, s = stack.enter_context(joined(pod, world.outside, Node.OUTSIDE))
        inside = stack.enter_context(joined(pod, pod, "127.0.0.1"))
        for link in ((c, s), inside):
            answered(*link, [(GET, b"")] * 2)
        world.agent.stop()
        world.agent.options = ()
        world.agent.start()
        world.agent.wait_logged("netns-left", ": 1 network namespace ")
        answered(*inside, [post(os.urandom(20_000))] * 2, [False] * 2)
        with joined(pod, pod, "127.0.0.1") as link:
            answered(*link, [(GET, b"")], [False])
        # What the node forwards is the node's.
        answered(c, s, [(GET, b"")] * 2)
        world.agent.stop()
        world.agent.options = ("--netns", "nothing-like-that")
        world.agent.start()
        world.agent.wait_logged("netns-edited", ": 1 network namespace ")
        world.agent.stop()
        world.agent.options = options
        world.agent.start()
        world.attended(pod)
        answered(*inside, [(GET, b"")])
        equal(world.agent.logged("netns-left") + world.agent.logged("netns-edited"), [], "all are worked in")


@case
def pod_goes_while_no_daemon_runs():
    """What was kept for a pod is given back at the next start."""
    with node() as world:
        pod = world.attended(world.early)
        pins = PINS / f"{cookie(pod):x}"
        with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")])
            world.agent.stop(9)
        world.remove(pod)

        # The kernel takes its time to end a namespace: until then its pins stay.
        def gone_at_start():
            world.agent.start()
            if pins.exists():
                world.agent.stop()
            return not pins.exists()

        wait_until(gone_at_start, f"{pins} is still there")
        flows = json.loads(world.agent.command("flows", "-j", "--all"))
        equal([flow for flow in flows if not flow["forwarded"]], [], "flows of the pod")
        equal(world.agent.logged("flows-sweep-failed"), [], "flows that could not be looked for")


@case(slow=True)
def two_daemons():
    """Of two agents that want a namespace one gets it; the other says so, and takes it later."""
    with node() as world:
        pod = world.attended(world.early)
        second = Agent(world.outside, cases.BUILD, "--netns", world.pattern())
        second.wait_logged("already-running", f" {pod.netns}: ")
        with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")])
            world.agent.stop()
            second.wait_logged("device-attached", f" {pod.netns}/eth0: ")
            # The first one's programs go on translating, the second one's begin anew.
            with joined(pod, world.outside, Node.OUTSIDE) as link:
                answered(*link, [(GET, b"")])
            c.sendall(GET)
            got = receive(s, len(GET))
            while b"\r\n\r\n" not in got:
                got += s.recv(100)
            s.sendall(OK)
            equal(receive(c, len(OK)), OK, "the answer on the old connection")
        equal(second.stop(), 0, "exit status")


@case
def served():
    """Requests that come into a pod are read there: the calls for one are its children."""
    with node() as world:
        pod = world.attended(world.early)
        recorder = Recorder(world.outside, Node.OUTSIDE)
        service = pod.spawn(["/usr/bin/python3", "-B", SERVICE, "8080", Node.OUTSIDE,
                             recorder.port])
        pod.wait_port(8080)
        known_as(service.pid)  # the first one of its runtime: its probes have to be loaded
        trace = "0af7651916cd43dd8448eb211c80319c"
        world.outside.run(["curl", "-s", "-H", f"traceparent: 00-{trace}-b7ad6b7169203331-03",
                           f"http://{pod.address}:8080/name/3"])
        got = [line.split("-")[1] for request in recorder.requests for line in request.traceparents]
        equal(got, [trace] * 3, "the traces of the calls")
        recorder.close()


@case(slow=True)
def many_pods():
    """Forty pods cost the agent little memory, and no start takes long."""
    with node() as world:
        pods = [world.early, *(world.pod() for _ in range(39))]
        for pod in pods:
            world.attended(pod)
        status = Path(f"/proc/{world.agent.process.pid}/status")
        # Probes of a runtime that is just loaded take more for a moment.
        wait_until(lambda: int(status.read_text().split("VmRSS:")[1].split()[0]) < 32 * 1024,
                   lambda: f"less than 32 MiB resident: {status.read_text()}", seconds=10)
        with joined(pods[-1], world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")])
