#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages, from `./run package` to the last file that a purge leaves. Needs root.

A bare Debian of the release that runs here, made by debootstrap once (~/.cache/ctxprop-debian), is
given the packages in a network namespace, with processes and a BPF file system of its own.
Each step builds on the one before; the first that fails ends the test.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/lab"))

import bills  # noqa: E402
import hooks  # noqa: E402
from lab import Lab, sh  # noqa: E402
from manager import stand_in  # noqa: E402
from recorder import Recorder  # noqa: E402
from root import Machine, Root  # noqa: E402
from steps import equal, run, skip  # noqa: E402
from traffic import Live  # noqa: E402

KERNELS = {"progs.debug", "maps.debug"}  # files of the kernel in each BPF file system
OLD, NEW = "0.0.1~old", "0.0.1~new"
APP, SERVER = "10.79.0.1", "10.79.0.2"
PAGES = "README accuracy agent api glossary install logs otlp performance production profile scale schema spans"
CONFIGURATION = {"etc/ctxprop/policy", "etc/ctxprop/ctxpropd.conf"}
FILES = {*CONFIGURATION, "usr/sbin/ctxprop", "usr/sbin/ctxpropd", "usr/lib/systemd/system/ctxpropd.service",
         "usr/share/bash-completion/completions/ctxprop", "usr/share/bash-completion/completions/ctxpropd",
         "usr/share/ctxprop/profile-tags", "usr/share/ctxprop/seccomp.json", "usr/share/ctxprop/grafana/ctxprop.json",
         *(f"usr/share/man/man8/{name}.8.gz" for name in ("ctxprop", "ctxpropd", "ctxprop-profile")),
         "usr/share/man/man5/ctxprop-policy.5.gz", "usr/share/man/man7/ctxprop-stats.7.gz",
         *(f"usr/share/doc/ctxprop/{name}" for name in ("copyright", "changelog.gz", "changelog.Debian.gz", "sbom.cdx.json")),
         *(f"usr/share/doc/ctxprop/{name}.md" for name in PAGES.split())}
DEV_FILES = {"usr/include/ctxprop_labels.h", "usr/include/ctxprop_traces.h",
             *(f"usr/share/doc/ctxprop-dev/{name}" for name in ("copyright", "changelog.gz", "changelog.Debian.gz"))}
LISTED = re.compile(r"^(?P<mode>\S+) (?P<owner>\S+) +\d+ \S+ \S+ \./(?P<path>.*)$")
LABELS = """#include <ctxprop_labels.h>
int main(void) { ctxprop_label_set("tenant", "a"); return 0; }
"""
TRACES = """#include <ctxprop_traces.h>
int main(void) { struct traces_ctx works_on = {{0}, {0}}; return (int)traces_ctx_span(&works_on); }
"""


class World:
    """The machine, a server beside it, and the packages."""

    def __init__(self, lab):
        self.host, outside = lab.host("app"), lab.host("server")
        self.device, _ = lab.link(self.host, outside, f"{APP}/24", f"{SERVER}/24")
        self.server = Recorder(outside, SERVER)
        lab.at_close(self.server.close)
        self.root = Root(lab)
        self.machine = Machine(self.host, self.root)
        self.live, self.before = None, None

    def packages(self, version, name="ctxprop"):
        """The file of a package in the root."""
        (found,) = (self.root.folder / "packages").glob(f"{name}_{version}-*.deb")
        return found

    def dpkg(self, *words, **environment):
        return self.machine.run("dpkg", *words, **environment).stdout

    def install(self, version):
        return self.dpkg("--install", f"/packages/{self.packages(version).name}")

    def curl(self):
        """How many headers the request of a program of the machine has got."""
        self.host.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", self.server.url])
        return len(self.server.requests[-1].traceparents)

    def attached(self):
        """What of anybody stands at the hooks of the device, and whether they were made for it."""
        ids = [hooks.tcx_ids(self.host, self.device, hook) for hook in ("in", "out")] if hooks.has_tcx() else []
        filters = [hooks.clsact_filters(self.host, self.device, hook) for hook in ("in", "out")]
        return sum(len(list_) for list_ in ids + filters)


def pinned(world):
    """What is in the machine's BPF file system, without what the kernel puts there."""
    root = world.root.bpffs
    return [os.path.relpath(f"{folder}/{name}", root) for folder, folders, files in os.walk(root)
            for name in (*folders, *files) if name not in KERNELS]


def build(world):
    """./run package makes both packages, in two versions"""
    for version in (OLD, NEW):
        sh("./run", "package", version, cwd=REPO)
        for package in (REPO / "build-package").glob("*.deb"):
            shutil.copy(package, world.root.folder / "packages")
        for name in ("ctxprop", "ctxprop-dev"):
            world.packages(version, name)


def lintian(world):
    """lintian finds no error"""
    sh("lintian", "--fail-on", "error", world.packages(NEW), world.packages(NEW, "ctxprop-dev"))


def contents(world):
    """The packages have the files that they are to have, root's, and writable for nobody else"""
    for name, wanted in (("ctxprop", FILES), ("ctxprop-dev", DEV_FILES)):
        rows = [LISTED.match(line) for line in sh("dpkg-deb", "-c", world.packages(OLD, name)).splitlines()]
        equal({row["path"] for row in rows if row["mode"][0] != "d"}, wanted, f"files of {name}")
        for row in rows:
            programs = row["mode"][0] == "d" or row["path"].startswith("usr/sbin/")
            equal((row["owner"], row["mode"][1:]), ("root/root", "rwxr-xr-x" if programs else "rw-r--r--"), row["path"])


def bill(world):
    """The bill of materials is one by CycloneDX's schema; it has what the package depends on, and the programs' digests"""
    folder = world.root.folder / "tmp/runtime"
    sh("dpkg-deb", "-x", world.packages(OLD), folder)
    text = (folder / "usr/share/doc/ctxprop/sbom.cdx.json").read_text(encoding="utf-8")
    equal(bills.complaints(text), "null", "what the schema says")
    whole = json.loads(text)
    listed = {file["name"][1:]: file["hashes"][0]["content"] for file in whole["metadata"]["component"]["components"]}
    equal(listed, {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in listed}, "digests")
    equal(set(listed), {path for path in FILES if path.startswith("usr/sbin/")}, "programs")
    depends = re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:, |$)", sh("dpkg-deb", "-f", world.packages(OLD), "Depends").strip())
    equal(set(depends) - {row["name"] for row in whole["components"]}, set(), "what it depends on, and is not in the bill")


def headers(world):
    """Programs are compiled with the headers of ctxprop-dev: labels in C and C++, the map's in C"""
    folder = world.root.folder / "tmp/dev"
    sh("dpkg-deb", "-x", world.packages(OLD, "ctxprop-dev"), folder)
    for source, *words in ((LABELS, "gcc", "-xc"), (LABELS, "g++", "-xc++"), (TRACES, "gcc", "-xc")):
        sh(*words, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{folder}/usr/include", "-", input=source)


def install(world):
    """What the package depends on is enough: its programs find their libraries. Nothing is started"""
    depends = sh("dpkg-deb", "-f", world.packages(OLD), "Depends").strip()
    world.machine.run("apt-get", "-qq", "update", online=True)
    world.machine.run("apt-get", "-qq", "-y", "satisfy", "--no-install-recommends", depends, online=True)
    world.before = world.root.paths()
    world.install(OLD)
    for name in ("ctxprop", "ctxpropd"):
        libraries = world.machine.run("ldd", f"/usr/sbin/{name}").stdout
        equal(("libbpf.so" in libraries, "not found" in libraries), (True, False), libraries)
        equal(OLD in world.machine.run(name, "--version").stdout, True, f"{name} --version")
    equal((world.curl(), pinned(world), world.attached()), (0, [], 0), "headers, pins, hooks after an installation")


def start(world):
    """The daemon starts by the words of the unit, and a request gets a header"""
    world.machine.start()
    equal(world.machine.logged("starting", OLD) != [], True, world.machine.said())
    equal(world.curl(), 1, "headers")
    equal((world.attached() > 0, pinned(world) != []), (True, True), "hooks and pins are there")
    equal((world.root.folder / "var/lib/ctxprop").stat().st_mode & 0o777, 0o700, "mode of /var/lib/ctxprop")
    world.live = Live(world.host, world.server)
    equal(world.live.ask(), 1, "headers on a connection that stays")


def upgrade(world):
    """An upgrade to another version keeps a live connection, and the policy that was changed"""
    policy = world.root.folder / "etc/ctxprop/policy"
    changed = policy.read_text(encoding="utf-8") + "# changed\n"
    policy.write_text(changed, encoding="utf-8")
    with stand_in(world.root) as asked:
        world.install(NEW)
        equal([line for line in asked() if "ctxpropd" in line], ["systemctl try-restart ctxpropd.service"], "orders")
    equal(world.live.ask(), 1, "headers while the old daemon runs")
    equal(world.machine.signal(signal.SIGTERM), 0, "exit status of the old daemon")
    equal(world.live.ask(), 0, "headers between two daemons")
    world.machine.start()
    equal(world.machine.logged("starting", NEW) != [], True, world.machine.said())
    equal(world.live.ask(), 1, "headers of the new daemon")
    equal(policy.read_text(encoding="utf-8"), changed, "the policy")


def remove_live(world):
    """A removal breaks no live connection: the daemon goes on until it ends, then nothing is attached"""
    said = world.dpkg("--remove", "ctxprop", CTXPROP_DRAIN_SECONDS="2")
    equal("live connections carry its headers" in said, True, said)
    left = world.root.paths()
    equal((FILES - CONFIGURATION) & left, set(), "files")
    equal(world.live.ask(), 0, "headers after the removal")
    equal(world.curl(), 0, "headers of a new connection")
    equal(world.attached() > 0, True, "the connection is served")
    world.live.close()
    equal(world.machine.daemon.wait(60), 0, "exit status of the daemon, once nothing needs it")
    equal((world.attached(), world.curl()), (0, 0), "what is attached, headers")


def crash_and_remove(world):
    """A daemon is killed, then the package is removed: nothing stays attached. What the removal says."""
    world.install(NEW)
    world.machine.start()
    equal(world.curl(), 1, "headers")
    world.machine.signal(signal.SIGKILL)
    equal((world.attached() > 0, world.curl()), (True, 1), "what is attached, headers without a daemon")
    said = world.dpkg("--remove", "ctxprop")
    equal("ctxprop:" in said, False, said)
    equal((world.attached(), world.curl()), (0, 0), "what is attached, headers")
    equal([path for path in pinned(world) if path.startswith("ctxprop")], [], "pins")


def remove_after_crash(world):
    """A removal takes away what a daemon that was killed has left"""
    crash_and_remove(world)


def remove_with_systemd(world):
    """The same where systemd runs: it is asked to run what drains"""
    with stand_in(world.root) as asked:
        crash_and_remove(world)
        equal([line for line in asked() if " stop " in line or "systemd-run" in line],
              ["systemctl stop ctxpropd.service",
               "systemd-run --quiet --collect --unit=ctxpropd-drain "
               "ctxpropd --config none --netns all --drain --store none --http none"], "orders")


def purge(world):
    """A purge leaves nothing in /etc, /var, the BPF file system or at a device"""
    world.install(NEW)
    world.machine.run("deb-systemd-helper", "enable", "ctxpropd.service", DPKG_MAINTSCRIPT_PACKAGE="ctxprop")
    world.dpkg("--remove", "ctxprop")
    left = {*CONFIGURATION, "var/lib/ctxprop/ctxprop.db",
            "etc/systemd/system/multi-user.target.wants/ctxpropd.service"}
    equal(left - world.root.paths(), set(), "what is missing after a removal")
    world.dpkg("--purge", "ctxprop")
    equal(world.root.paths() - world.before, set(), "files")
    equal((pinned(world), world.attached()), ([], 0), "pins, hooks")


STEPS = (build, lintian, contents, bill, headers, install, start, upgrade, remove_live, remove_after_crash, remove_with_systemd,
         purge)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    if os.geteuid():
        return skip([])
    with Lab("package") as lab:
        return run(World(lab), STEPS)


if __name__ == "__main__":
    sys.exit(main())
