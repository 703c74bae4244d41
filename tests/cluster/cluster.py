#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster under load while everything is done to it that ctxprop can do.

    cluster.py [--build DIR] [--requests N]

Two nodes, pods that come and go, a gateway with masquerade, a server outside (world.py). Over each
connection (load.py) N requests are sent between two steps; every one of them has to arrive as
`ctxprop policy show` says (oracle.py), no byte may be another, no connection may break. Prints
"ok" or "not ok" for each step.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from load import Load
from oracle import Policy
from world import CLUSTER, LOOPBACK_PORT, OUTSIDE, PORT, Cluster

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
import iterators  # noqa: E402
from lab import Lab  # noqa: E402
from recorder import Recorder  # noqa: E402

REPO = Path(__file__).resolve().parents[2]
SERVICE = REPO / "tests/w3c/service.py"
SERVICE_PORT = 8090
CALLS = 3
SECONDS = 30


def wait_until(holds, what):
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


class Run:
    """One cluster with its load; a step is a method whose docstring is its title."""

    def __init__(self, lab, args):
        self.requests = args.requests
        self.cluster = Cluster(lab, args.build)
        self.load = Load(self.cluster)
        self.first, self.second = self.cluster.nodes
        self.paused, self.working = set(), set(self.cluster.agents())
        self.news = tempfile.NamedTemporaryFile("w+")
        self.monitor = self.first.host.spawn([f"{args.build}/ctxprop", "monitor"],
                                             stdout=self.news)

    def learn(self):
        """Read the rules that hold from here on."""
        return {agent: Policy(agent, agent in self.paused) for agent in self.working}

    def change(self, *commands):
        """(agent, words...) each, in one step as far as the load is concerned."""
        self.load.rules.begin_change()
        for agent, *words in commands:
            agent.command(*words)
        self.load.rules.end_change(self.learn())

    def switch(self, agent, word):
        """Pause or resume."""
        self.load.rules.begin_change()
        agent.command(word)
        (self.paused.add if word == "pause" else self.paused.discard)(agent)
        self.load.rules.end_change(self.learn())

    def connect(self, pod):
        others = [other for other in self.cluster.pods() if other is not pod]
        self.load.add(pod, (OUTSIDE, PORT), ("127.0.0.1", LOOPBACK_PORT),
                      *((other.address, PORT) for other in others[:3:2]))

    def built_in(self):
        """By the built-in rules every request has one traceparent, its own or ours"""
        self.change()
        for node in self.cluster.nodes:
            for pod in node.pods:
                wait_until(lambda: node.attended(pod), node.agent.said())
        for pod in self.cluster.pods():
            self.connect(pod)

    def gateway_rules(self):
        """The gateway gives contexts to what leaves the cluster, and leaves the rest alone"""
        gateway = self.cluster.gateway_agent
        self.change(*((agent, "set", "cluster", "add", CLUSTER, "127.0.0.0/8")
                      for agent in self.working),
                    (gateway, "policy", "add", "prio", "10", "dir", "forward", "to", "cluster",
                     "action", "skip"),
                    (self.first.agent, "policy", "add", "prio", "10", "action", "skip"),
                    (self.second.agent, "policy", "add", "prio", "20", "to", "!cluster", "action",
                     "observe"),
                    (self.second.agent, "policy", "add", "prio", "30", "dir", "forward", "action",
                     "skip"))

    def gateway_restarts(self):
        """At the gateway traces begin anew, or end, by the host that is asked for"""
        gateway = self.cluster.gateway_agent
        self.change((gateway, "policy", "add", "prio", "5", "dir", "forward", "to", "!cluster",
                     "host", "*.inner.test", "action", "strip"),
                    (gateway, "policy", "add", "prio", "6", "dir", "forward", "to", "!cluster",
                     "action", "restart", "sample", "0.5"))

    def pods_change(self):
        """Pods restart and strip by address and port; a rule is replaced, one deleted"""
        agent = self.first.agent
        self.change((agent, "policy", "replace", "prio", "10", "port", str(LOOPBACK_PORT),
                     "action", "strip"),
                    (agent, "policy", "add", "prio", "11", "from",
                     f"{self.first.pods[0].address}/32", "action", "restart"),
                    (agent, "policy", "add", "to", "cluster", "action", "inject", "sample", "0.25",
                     "tracestate", "no"),
                    (self.second.agent, "policy", "del", "prio", "20"))

    def namespace_leaves(self):
        """A pod's namespace is detached: nothing is done in it; and attached again"""
        pod, agent = self.first.pods[1], self.first.agent
        self.load.stop(lambda c: c.pod is pod or c.to[0] == pod.address)
        self.load.rules.begin_change()
        wait_until(lambda: not agent.host.run(
            [f"{agent.build}/ctxprop", "detach", "netns", pod.host.netns],
            check=False).returncode, "it is not detached")
        self.load.rules.end_change(self.learn())
        self.load.run(self.requests)
        if agent.host.run([f"{agent.build}/ctxprop", "--netns", pod.host.netns, "stats"],
                          check=False).returncode != 1:
            raise AssertionError("something is pinned for a namespace that is detached")
        self.change((agent, "attach", "netns", pod.host.netns))
        self.connect(pod)

    def pods_come(self):
        """Pods come under load, are attended and have the same rules"""
        for node in self.cluster.nodes:
            pod = node.add_pod()
            wait_until(lambda: node.attended(pod), node.agent.said())
            self.connect(pod)

    def pods_go(self):
        """Pods go; the others do not notice"""
        for node in self.cluster.nodes:
            pod = node.pods[-1]
            self.load.stop(lambda c: c.pod is pod or c.to[0] == pod.address)
            node.remove(pod)

    def device_leaves(self):
        """A device is detached when no connection needs it, left alone, and attached again"""
        pod, agent = self.first.pods[0], self.first.agent
        lo = ("lo", "netns", pod.host.netns)
        if agent.host.run([f"{agent.build}/ctxprop", "detach", *lo], check=False).returncode != 1:
            raise AssertionError("it is detached although connections are shifted")
        self.load.stop(lambda c: c.pod is pod or c.to[0] == pod.address)
        # Editing is off for a moment, when it is done.
        self.load.rules.begin_change()
        wait_until(lambda: not agent.host.run([f"{agent.build}/ctxprop", "detach", *lo],
                                              check=False).returncode, "it is not detached")
        self.load.rules.end_change(self.learn())
        self.load.run(self.requests)
        self.change((agent, "attach", *lo))
        self.connect(pod)

    def daemon_dies(self):
        """kill -9 of a node's agent, and a new one: no rule is forgotten at any time"""
        self.first.agent.stop(signal.SIGKILL)
        self.load.run(self.requests)
        self.first.agent.start()

    def paused_and_resumed(self):
        """The kill switch acts at once"""
        self.change(*((agent, "policy", "flush") for agent in self.working))
        self.switch(self.first.agent, "pause")
        self.load.run(self.requests)
        self.switch(self.first.agent, "resume")

    def callers(self):
        """Whose context is believed: the calls that a service makes for a request tell it"""
        agent, pod = self.second.agent, self.second.pods[0]
        known, unknown = self.first.pods[0], self.first.pods[1]
        self.change((agent, "policy", "add", "dir", "in", "from", f"{known.address}/32", "action",
                     "accept"),
                    (agent, "policy", "add", "dir", "in", "from", CLUSTER, "port",
                     str(SERVICE_PORT), "action", "ignore"))
        upstream = Recorder(self.cluster.outside, OUTSIDE)
        pod.host.spawn(["/usr/bin/python3", "-B", SERVICE, str(SERVICE_PORT), OUTSIDE,
                        str(upstream.port)])
        pod.host.wait_port(SERVICE_PORT)
        policy = Policy(agent)
        for caller in (known, unknown, known):
            trace = os.urandom(16).hex()
            caller.host.run(["curl", "-s", "-m", "10", "-H",
                             f"traceparent: 00-{trace}-b7ad6b7169203331-03",
                             f"http://{pod.address}:{SERVICE_PORT}/{trace}/{CALLS}"])
            got = {line.split("-")[1] for request in upstream.requests
                   if request.target.startswith(f"/{trace}/") for line in request.traceparents}
            action = policy.action("in", caller.address, pod.address, SERVICE_PORT, pod.address)
            if len(got) != 1 or ((action == "accept") != (got == {trace})):
                raise AssertionError(f"{caller.name}, trace {trace}, rule {action}: calls of {got}")
        hits = {rule["action"]: rule["hits"] for rule in Policy(agent).rules
                if rule["dir"] == "in" and not rule["builtin"]}
        if hits["ignore"] != 1 or hits["accept"] < 2:
            raise AssertionError(f"the rules have decided {hits}")
        upstream.close()

    def restored(self):
        """Rules and sets are saved, flushed and restored; sets change what rules mean"""
        agent = self.cluster.gateway_agent
        self.change((agent, "set", "near", "add", CLUSTER),
                    (agent, "policy", "add", "dir", "forward", "to", "near", "action", "skip"))
        saved = agent.command("policy", "save")
        self.load.run(self.requests)
        self.change((agent, "set", "near", "del", CLUSTER))
        self.load.run(self.requests)
        with tempfile.NamedTemporaryFile("w", suffix=".policy") as file:
            file.write(saved)
            file.flush()
            self.change((agent, "set", "near", "flush"), (agent, "policy", "restore", file.name))
        if agent.command("policy", "save") != saved:
            raise AssertionError("what was restored is not what was saved")

    def looked_at(self):
        """Everything can be shown meanwhile, and nothing was dropped or is in doubt"""
        sockets = () if iterators.refused("bpf_sk_storage_map") else ("-p", "-e")
        for agent in self.working:
            for words in (("stats", "-s"), ("-s", "policy"), ("-j", "stats"), ("flows", "--all", *sockets), ("flows", "-j"),
                          ("set", "cluster", "show"), ("doctor",), ("policy", "--help")):
                if not agent.command(*words):
                    raise AssertionError(f"ctxprop {' '.join(words)} says nothing")
            if agent.stats()["dropped"]:
                raise AssertionError(f"{agent.stats()['dropped']} packets were dropped")
        said = Path(self.news.name).read_text(encoding="utf-8")
        for word in ("set cluster add", "action skip", "action strip", "detached lo", "attached lo"):
            if word not in said:
                raise AssertionError(f"monitor did not tell '{word}':\n{said}")

    def drained(self):
        """A node is drained: nothing breaks, and in the end nothing of ours is there"""
        mine = lambda c: c.pod.node is self.second
        self.load.rules.begin_change()
        drain = self.second.host.spawn([f"{self.second.agent.build}/ctxprop", "drain"],
                                       stdout=subprocess.DEVNULL)
        self.second.agent.wait_logged("draining")
        self.paused.add(self.second.agent)
        self.load.rules.end_change(self.learn())
        self.load.run(self.requests)
        if drain.poll() is not None:
            raise AssertionError("the drain ends while connections are shifted")
        self.load.stop(lambda c: mine(c) or any(hop[0] is self.second.agent for hop in c.hops))
        wait_until(lambda: drain.poll() is not None, "the drain does not end")
        self.load.rules.begin_change()
        self.working.discard(self.second.agent)
        self.load.rules.end_change(self.learn())
        if drain.returncode or self.second.agent.process.wait(SECONDS):
            raise AssertionError(f"exit status: {drain.returncode}\n{self.second.agent.said()}")
        for pod in self.second.pods:
            self.connect(pod)

    def gateway_stops(self):
        """The gateway's agent stops: live connections go on, then all of it is removed"""
        self.load.rules.begin_change()
        gateway = self.cluster.gateway_agent
        gateway.stop()
        self.working.discard(gateway)
        self.load.rules.end_change(self.learn())
        self.load.run(self.requests)
        detach = [f"{gateway.build}/ctxprop", "detach"]
        if gateway.host.run(detach, check=False).returncode != 1:
            raise AssertionError("it is removed although connections are shifted")
        self.load.stop(lambda c: any(hop[0] is gateway for hop in c.hops))
        wait_until(lambda: not gateway.host.run(detach, check=False).returncode, "not removed")
        for pod in self.second.pods:
            self.connect(pod)

    STEPS = (built_in, gateway_rules, gateway_restarts, pods_change, pods_come, daemon_dies,
             device_leaves, namespace_leaves, pods_go, looked_at, paused_and_resumed, callers,
             restored, drained, gateway_stops)

    def do(self, step):
        """Returns what went wrong, or None."""
        before = self.load.count()
        try:
            step(self)
            self.load.run(self.requests)
        except (AssertionError, OSError, RuntimeError, TimeoutError) as error:
            return f"{type(error).__name__}: {error}"
        if wrong := self.load.wrong():
            return "\n".join(wrong[:5])
        if self.load.count()[1] == before[1]:
            return "not one request was judged"
        return None


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=REPO / "build", help="build folder")
    parser.add_argument("--requests", type=int, default=20, metavar="N",
                        help="per connection between two steps (20)")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    return args


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = 0
    with Lab("cluster") as lab:
        run = Run(lab, args)
        for number, step in enumerate(Run.STEPS, 1):
            begin = time.monotonic()
            wrong = run.do(step)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {step.__doc__} "
                  f"({time.monotonic() - begin:.1f} s)", flush=True)
            if wrong:
                print("".join(f"# {line}\n" for line in wrong.splitlines()[:30]), end="", flush=True)
                break
        run.load.stop()
        print("# %d requests, %d of them held against the rules" % run.load.count())
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
