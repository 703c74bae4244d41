#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The service as systemd runs it, with all that the unit takes from it. Needs root.

A bare Debian with systemd as its first process gets the package, in a network namespace with a pod
beside it. Each step builds on the one before; the first that fails ends the test. (Calls are not
followed there: systemd is the first process of a pid namespace, and the probes see the initial one.)
"""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/lab"))

from booted import Booted  # noqa: E402
from lab import Lab, sh  # noqa: E402
from recorder import Recorder  # noqa: E402
from root import Machine, Root  # noqa: E402
from steps import equal, run, skip  # noqa: E402
from waiting import wait_until  # noqa: E402

VERSION = "0.0.1~service"
EXPOSURE = "30"  # tenths: the most that systemd-analyze may find
APP, SERVER, POD = "10.79.2.1", "10.79.2.2", "10.79.3.2"
TROUBLE = ("[not-following]", "[uprobes-failed]", "[uprobes-stopped]", "[runtime-failed]", "[unix-sockets-failed]",
           "[store-failed]", " error: ")
SERVICE = ("import http.server, urllib.request\n"
           "class Handler(http.server.BaseHTTPRequestHandler):\n"
           "    def do_GET(self):\n"
           "        urllib.request.urlopen('{upstream}', timeout=10).read()\n"
           "        self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()\n"
           "http.server.ThreadingHTTPServer(('{address}', 8000), Handler).serve_forever()\n")
ID = "0af7651916cd43dd8448eb211c80319c"
ASKED = f"traceparent: 00-{ID}-b7ad6b7169203331-01"


class World:
    """The machine, a pod of it, and a server outside."""

    def __init__(self, lab):
        self.host, self.pod, outside = lab.host("app"), lab.host("pod"), lab.host("server")
        lab.link(self.host, outside, f"{APP}/24", f"{SERVER}/24")
        lab.link(self.host, self.pod, "10.79.3.1/24", f"{POD}/24")
        self.host.sysctl("net.ipv4.ip_forward", 1)
        self.pod.run(["ip", "route", "add", "default", "via", "10.79.3.1"])
        outside.run(["ip", "route", "add", "10.79.3.0/24", "via", APP])
        self.server = Recorder(outside, SERVER)
        lab.at_close(self.server.close)
        self.root = Root(lab)
        self.machine = None

    def curl(self, host, url, *words):
        """How many headers the last request to the server has got."""
        host.run(["curl", "-sS", "-m", "20", "-o", "/dev/null", *words, url])
        return len(self.server.requests[-1].traceparents)

    def posts(self):
        """How many times spans have come to the server."""
        return sum(request.head.start.startswith("POST /v1/traces") for request in self.server.requests)

    def in_pod(self, *argv):
        """Starts a process of the machine that has the pod's network."""
        enter = ["nsenter", f"--target={self.machine.first}", "--pid", "--mount", "--root", "--wd=/",
                 f"--net=/run/netns/{self.pod.netns}", *argv]
        self.host.lab.processes.append(subprocess.Popen(enter, start_new_session=True, stderr=subprocess.DEVNULL))


def install(world):
    """The package is installed on a Debian that systemd runs"""
    sh("./run", "package", VERSION, cwd=REPO)
    (package,) = (REPO / "build-package").glob(f"ctxprop_{VERSION}-*.deb")
    shutil.copy(package, world.root.folder / "packages")
    setup = Machine(world.host, world.root)
    depends = sh("dpkg-deb", "-f", package, "Depends").strip()
    setup.run("apt-get", "-qq", "update", online=True)
    setup.run("apt-get", "-qq", "-y", "satisfy", "--no-install-recommends", f"{depends}, systemd, python3", online=True)
    setup.run("dpkg", "--install", f"/packages/{package.name}")
    setup.end()
    world.machine = Booted(world.host, world.root)
    equal(world.machine.state("ctxpropd"), "inactive", "the service")


def exposure(world):
    """systemd-analyze finds that the unit exposes little"""
    said = world.machine.run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}",
                             "/usr/lib/systemd/system/ctxpropd.service", check=False)
    equal(said.returncode, 0, said.stdout)


def start(world):
    """systemctl start: the daemon tells systemd that it is ready; requests of the host and of a pod get headers"""
    world.in_pod("sleep", "1000")
    world.machine.order("start")
    wait_until(lambda: world.machine.logged("device-attached", " (sleep)/eth0: "), world.machine.said)
    equal((world.curl(world.host, world.server.url), world.curl(world.pod, world.server.url)), (1, 1), "headers")


def record(world):
    """Spans of a request of a pod's server are in the store of the unit's folder; nothing was amiss"""
    script = world.root.folder / "tmp/service.py"
    script.write_text(SERVICE.format(upstream=world.server.url, address=POD), encoding="utf-8")
    world.in_pod("python3", "/tmp/service.py")
    world.pod.wait_port(8000)
    world.curl(world.host, f"http://{POD}:8000/", "--header", ASKED)
    rows = wait_until(lambda: world.machine.run("ctxprop", "trace", ID, check=False).stdout, "no trace in the store")
    equal("python3" in rows, True, rows)
    equal((world.root.folder / "var/lib/ctxprop").stat().st_mode & 0o777, 0o700, "mode of /var/lib/ctxprop")
    for trouble in TROUBLE:
        equal(trouble in world.machine.said(), False, world.machine.said())


def confined(world):
    """It has the capabilities of the unit, a filter, and no more than a few places to write to"""
    status = dict(line.split(":\t", 1) for line in
                  Path(f"/proc/{world.machine.main_pid()}/status").read_text().splitlines() if ":\t" in line)
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no new privileges, seccomp")
    equal(int(status["CapBnd"], 16).bit_count() <= 7, True, status["CapBnd"])


def reload(world):
    """systemctl reload and restart work; a restart has no trouble either"""
    world.machine.order("reload")
    world.machine.order("restart")
    equal((world.machine.state("ctxpropd"), world.curl(world.host, world.server.url)), ("active", 1), "state, headers")


def elsewhere(world):
    """Spans go to another host once the unit lets them: IPAddressAllow=. Until then the log says why they may not"""
    equal(world.machine.logged("addresses-filtered"), [], "notices while all stays on this host")
    start = ("ExecStart=", f"ExecStart=/usr/sbin/ctxpropd --netns all --otlp {world.server.url}")
    world.machine.drop_in(*start)
    world.machine.order("restart")
    equal(len(world.machine.logged("addresses-filtered")), 1, f"notices in\n{world.machine.said()}")
    world.curl(world.host, world.server.url)
    wait_until(lambda: world.machine.logged("otlp-retry"), world.machine.said)
    equal(world.posts(), 0, "what was sent")
    world.machine.drop_in(*start, f"IPAddressAllow={SERVER}")
    world.machine.order("restart")
    world.curl(world.host, world.server.url)
    wait_until(world.posts, world.machine.said)


def stop(world):
    """systemctl stop: the daemon ends in good order, and requests get no header"""
    world.machine.order("stop")
    equal(world.machine.run("systemctl", "show", "--property=Result", "--value", "ctxpropd").stdout.strip(), "success", "result")
    equal(world.curl(world.host, world.server.url), 0, "headers")


STEPS = (install, exposure, start, record, confined, reload, elsewhere, stop)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    if os.geteuid() or not shutil.which("debootstrap"):
        return skip(["debootstrap"])
    with Lab("service") as lab:
        return run(World(lab), STEPS)


if __name__ == "__main__":
    sys.exit(main())
