# SPDX-License-Identifier: Apache-2.0
"""The daemon with the arguments, the rights and the file systems that a deployment gives it."""
import contextlib
import os
import re
import signal
import tempfile
import time
from pathlib import Path

import cases
from cases import case, equal
from lab import Lab
from logged import logged
from recorder import Recorder

REPO = Path(__file__).resolve().parents[2]
NODE, OUTSIDE, POD = "203.0.113.1", "203.0.113.2", "10.98.1.2"
SECONDS = 30

# A container: a root that cannot be written to, no /run of the host, and none of the host's
# processes but one that is in the pod.
CONTAINER = """
exec 3</run/netns/"$POD"
nsenter --net=/proc/self/fd/3 sleep 1000 &
exec 3<&-
mount -t tmpfs none /run
mount -t tmpfs none /var/lib
for place in / /sys /sys/fs/cgroup /sys/fs/cgroup/unified; do
    mount -o remount,bind,ro "$place" 2>/dev/null
done
exec "$@"
"""


def with_rights(capabilities):
    """The command that takes all rights but these from another one."""
    names = ",".join(f"+{name.lower()}" for name in capabilities)
    return ["setpriv", f"--bounding-set=-all,{names}", "--no-new-privs"]


class Deployment:
    """What a manifest or a unit says."""

    def __init__(self, arguments, capabilities, policy, options=()):
        self.arguments, self.capabilities = arguments, capabilities
        if policy:
            at = arguments.index("--policy") + 1
            self.arguments[at] = str(policy)
        self.enters_pods = "--netns" in arguments or "netns = all" in options

    @staticmethod
    def manifest(file, folder):
        text = (REPO / "k8s" / folder / file).read_text(encoding="utf-8")
        said = {key: re.search(rf"^ *{key}: \[(.*)\]$", text, re.M)[1].split(", ")
                for key in ("args", "add")}
        limit = re.search(r"limits:\n *memory: (\d+)Mi$",
                          (REPO / "k8s/base/daemonset.yaml").read_text(encoding="utf-8"), re.M)[1]
        arguments = [limit if word == "$(MEMORY)" else word for word in said["args"]]
        return Deployment(arguments, said["add"], REPO / "k8s" / folder / "policy")

    @staticmethod
    def unit():
        text = (REPO / "share/ctxpropd.service.in").read_text(encoding="utf-8")
        start = re.search(r"^ExecStart=\S+ ?(.*)$", text, re.M)[1].split()
        file = REPO / "share/ctxpropd.conf"
        start += ["--config", str(file)]
        names = " ".join(re.findall(r"^CapabilityBoundingSet=(.*)$", text, re.M)).split()
        return Deployment(start, [name.removeprefix("CAP_") for name in names], None,
                          file.read_text(encoding="utf-8").splitlines())


class World:
    """A node with a pod behind it and a server outside; the daemon runs as deployed."""

    def __init__(self, lab, deployment):
        self.node, self.pod, outside = lab.host("node"), lab.host("pod"), lab.host("outside")
        lab.link(self.node, outside, f"{NODE}/24", f"{OUTSIDE}/24")
        lab.link(self.node, self.pod, "10.98.1.1/24", f"{POD}/24")
        self.node.sysctl("net.ipv4.ip_forward", 1)
        self.pod.run(["ip", "route", "add", "default", "via", "10.98.1.1"])
        outside.run(["ip", "route", "add", "10.98.0.0/16", "via", NODE])
        self.server = Recorder(outside, OUTSIDE)
        self.rights = with_rights(deployment.capabilities)
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        lab.at_close(self.remove)
        self.process = self.node.spawn(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
             CONTAINER, "container", *self.rights, f"{cases.BUILD}/ctxpropd",
             *deployment.arguments], env={**os.environ, "POD": self.pod.netns},
            stderr=open(self.log.name, "a"))

    def said(self):
        return Path(self.log.name).read_text(encoding="utf-8")

    def wait_logged(self, kind, *parts):
        end = time.monotonic() + SECONDS
        while not logged(self.said(), kind, *parts):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no [{kind}] with {parts}:\n{self.said()}")
            time.sleep(0.02)

    def daemon(self):
        """The process id of the daemon: `unshare` waits for it."""
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.path.samefile(entry / "exe", f"{cases.BUILD}/ctxpropd") and \
                        os.path.samefile(entry / "ns/net", f"/run/netns/{self.node.netns}"):
                    return int(entry.name)
        raise AssertionError(f"it does not run:\n{self.said()}")

    def probe(self):
        """Whether what the manifest's probes run, and what they ask by HTTP, succeeds."""
        text = (REPO / "k8s/base/daemonset.yaml").read_text(encoding="utf-8")
        (command, *commands) = set(re.findall(r"^ *command: \[(.*)\]$", text, re.M))
        (get, *gets) = re.findall(r"httpGet:\n *host: (\S+)\n *port: (\d+)\n *path: (\S+)$", text, re.M)
        equal((commands, gets), ([], []), "probes of other kinds")
        name, *words = command.split(", ")
        url = "http://{}:{}{}".format(*get)
        done = [self.node.run(argv, check=False).returncode == 0
                for argv in ([*self.rights, f"{cases.BUILD}/{name}", *words], ["curl", "-fsS", "-m", "5", url])]
        equal(len(set(done)), 1, "probes that succeed")
        return done[0]

    def stop(self):
        os.kill(self.daemon(), signal.SIGTERM)
        return self.process.wait(SECONDS)

    def remove(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SECONDS)
        for host in (self.node, self.pod):
            host.run([f"{cases.BUILD}/ctxprop", "detach", "--force"], check=False)
        self.server.close()
        self.log.close()


def works(deployment):
    """It gets ready, finds the pod, edits, follows, answers the probes, and ends in good order."""
    with Lab("deploy") as lab:
        world = World(lab, deployment)
        world.wait_logged("ready")
        if deployment.enters_pods:
            world.wait_logged("device-attached", " (sleep)/eth0: ")  # by the process that leads to it
        equal(world.probe(), True, "the probes, while it runs")
        world.pod.run(["curl", "-sS", "-m", "10", world.server.url])
        equal([len(request.traceparents) for request in world.server.requests], [1], "headers")
        for trouble in ("[not-following]", "[uprobes-failed]", "[uprobes-stopped]", "[runtime-failed]",
                        "[unix-sockets-failed]", "[store-failed]", " error: "):
            equal(trouble in world.said(), False, world.said())
        equal(world.stop(), 0, "exit status")
        equal(world.probe(), False, "the probes, when it has ended")


@case(seconds=90, slow=True)
def node_agent():
    """The DaemonSet of nodes: its capabilities are enough, nothing is written but pins."""
    works(Deployment.manifest("daemonset.yaml", "base"))


@case(seconds=90, slow=True)
def egress_gateway():
    """The DaemonSet of gateways: fewer capabilities, and what is forwarded gets a context."""
    works(Deployment.manifest("gateway-nodes.yaml", "egress-gateway"))


@case(seconds=90, slow=True)
def service_unit():
    """The systemd unit: its capabilities are enough."""
    works(Deployment.unit())
