# SPDX-License-Identifier: Apache-2.0
"""Each capability of the manifests is taken away in turn: what is lost, and does the daemon say so?"""
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import cases
from cases import case, equal
from lab import Lab
from logged import logged
from recorder import Recorder
from test_deploy import Deployment, World, with_rights
from waiting import wait_until

SECONDS = 60
USER = "65534"
ID = "0af7651916cd43dd8448eb211c80319c"
ASKED = f"traceparent: 00-{ID}-b7ad6b7169203331-01"
SERVER, UPSTREAM = "10.79.4.1", "10.79.4.2"
SERVICE = """import http.server, sys, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        urllib.request.urlopen(sys.argv[1], timeout=10).read()
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
http.server.ThreadingHTTPServer(('', 8000), Handler).serve_forever()
"""

# What the daemon says when it ends for want of one.
REFUSED = {"NET_ADMIN": ("failed", "missing capabilities: CAP_NET_ADMIN"),
           "SYS_ADMIN": ("netns-failed", "CAP_SYS_ADMIN"),
           "NET_BROADCAST": ("devices-unknown", "CAP_NET_BROADCAST")}
# Without these it works, but does not follow all programs, and warns; without SYS_PTRACE it does not
# find the pods of others either.
WARNED = ("SYS_PTRACE", "DAC_READ_SEARCH")
# SYS_ADMIN stands for these where it is there.
STOOD_FOR = ("BPF", "PERFMON")


def without(deployment, name):
    deployment.capabilities.remove(name)
    return deployment


def refuses(deployment, kind, part):
    """It ends, and its last words name what is missing."""
    with Lab("rights") as lab:
        world = World(lab, deployment)
        equal(world.process.wait(SECONDS) != 0, True, "exit status")
        equal(any(part in line for line in world.said().splitlines()), True, f"{kind}, {part}:\n{world.said()}")


def injects(deployment, warning, finds_pods):
    """A request of the node gets a header, and a pod is found; the capability is named in a warning, or there is none."""
    with Lab("rights") as lab:
        world = World(lab, deployment)
        world.wait_logged("ready")
        world.node.run(["curl", "-sS", "-m", "10", world.server.url])
        equal([len(request.traceparents) for request in world.server.requests], [1], "headers")
        equal(logged(world.said(), "device-attached", " (sleep)/eth0: ") != [], finds_pods, world.said())
        said = [line for line in world.said().splitlines() if "[capability-missing]" in line]
        equal(([warning in line for line in said] if warning else said), [True] if warning else [], "warnings")


@case(seconds=180, slow=True)
def nodes():
    """Of nodes: without NET_ADMIN, SYS_ADMIN or NET_BROADCAST it does not start, without others it injects, and warns"""
    names = Deployment.manifest("daemonset.yaml", "base").capabilities
    equal(sorted(names), sorted([*REFUSED, *WARNED, *STOOD_FOR]), "every capability is looked at")
    for name in names:
        deployment = without(Deployment.manifest("daemonset.yaml", "base"), name)
        if name in REFUSED:
            refuses(deployment, *REFUSED[name])
        else:
            injects(deployment, f"CAP_{name}" if name in WARNED else "", name != "SYS_PTRACE")


@case(seconds=90, slow=True)
def gateways():
    """Of gateways: without BPF, NET_ADMIN or PERFMON it does not start, and says which one is missing"""
    for name in ("BPF", "NET_ADMIN", "PERFMON"):
        deployment = without(Deployment.manifest("gateway-nodes.yaml", "egress-gateway"), name)
        refuses(deployment, "failed", f"missing capabilities: CAP_{name}")


class Following:
    """A daemon, and a service in Python that is another user's, whose program only that user may read."""

    def __init__(self, lab, capabilities):
        self.host, outside = lab.host("app"), lab.host("upstream")
        lab.link(self.host, outside, f"{SERVER}/24", f"{UPSTREAM}/24")
        self.upstream = Recorder(outside, UPSTREAM)
        lab.at_close(self.upstream.close)
        self.folder = Path(tempfile.mkdtemp(prefix="ctxprop-rights-"))
        lab.at_close(shutil.rmtree, self.folder, True)
        self.log = self.folder / "log"
        self.host.spawn([*with_rights(capabilities), f"{cases.BUILD}/ctxpropd", "--store", "none", "--http", "none"],
                        stderr=open(self.log, "a"))
        wait_until(lambda: logged(self.log.read_text(), "ready"), self.log.read_text, SECONDS)
        self.host.spawn(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *self.program(),
                         self.upstream.url])
        self.host.wait_port(8000)

    def program(self):
        """The words that start the service."""
        os.chmod(self.folder, 0o755)
        program, script = self.folder / "python", self.folder / "service.py"
        shutil.copy(os.path.realpath(sys.executable), program)
        os.chown(program, int(USER), int(USER))
        os.chmod(program, 0o700)
        script.write_text(SERVICE, encoding="utf-8")
        return program, script

    def is_child(self):
        """Has the call of the service the trace of its request?"""
        self.host.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", "--header", ASKED, f"http://{SERVER}:8000/"])
        (got,) = self.upstream.requests[-1].traceparents
        return ID in str(got)


@case(seconds=180, slow=True)
def following():
    """Programs of other users are followed with SYS_PTRACE and DAC_READ_SEARCH; without one their calls begin new traces"""
    names = Deployment.manifest("daemonset.yaml", "base").capabilities
    with Lab("rights") as lab:
        whole = Following(lab, names)
        begin = time.monotonic()
        wait_until(whole.is_child, whole.log.read_text, SECONDS)
        took = time.monotonic() - begin
    for name in WARNED:
        with Lab("rights") as lab:
            less = Following(lab, [other for other in names if other != name])
            end = time.monotonic() + 2 * took + 2
            while time.monotonic() < end:
                equal(less.is_child(), False, f"followed without {name}")
                time.sleep(0.2)
