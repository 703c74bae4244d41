#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tarball for other distributions, from `./run tarball` to the last file that a removal leaves. Needs root.

It is installed where there is busybox and no library, in a network namespace, with processes and a BPF
file system of its own. Each step builds on the one before; the first that fails ends the test.
"""
import hashlib
import json
import os
import shutil
import signal
import sys
import tarfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/lab"))

import bills  # noqa: E402
from lab import Lab, sh  # noqa: E402
from recorder import Recorder  # noqa: E402
from root import Machine, Stranger  # noqa: E402
from steps import equal, run, skip  # noqa: E402
from traffic import Live  # noqa: E402

OLD, NEW = "0.0.1-old", "0.0.1-new"
APP, SERVER = "10.79.1.1", "10.79.1.2"
HOME = "usr/local/lib/ctxprop"
KEPT = {"etc/ctxprop", "var/lib/ctxprop"}


def name_of(version):
    return f"ctxprop-{version}-linux-{sh('dpkg', '--print-architecture').strip()}"


def make(version):
    """Builds the tarball, once more if it is there. The file."""
    sh("./run", "tarball", version, cwd=REPO, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return REPO / f"build-package/{name_of(version)}.tar.gz"


class World:
    """The machine, and a server beside it."""

    def __init__(self, lab):
        self.host, outside = lab.host("app"), lab.host("server")
        lab.link(self.host, outside, f"{APP}/24", f"{SERVER}/24")
        self.server = Recorder(outside, SERVER)
        lab.at_close(self.server.close)
        self.root = Stranger(lab)
        self.machine = Machine(self.host, self.root)
        self.packages = self.root.folder / "packages"
        self.before, self.live = None, None

    def unpack(self, version):
        """Checks and unpacks a tarball there."""
        name = name_of(version)
        self.machine.run("sh", "-c", f"cd /packages && sha256sum -c {name}.tar.gz.sha256 && tar -xzf {name}.tar.gz")
        return self.packages / name

    def install(self, version, *words, check=True):
        return self.machine.run(f"/packages/{name_of(version)}/install.sh", *words, check=check)

    def curl(self):
        """How many headers the request of a program of the machine has got."""
        self.host.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", self.server.url])
        return len(self.server.requests[-1].traceparents)


def build(world):
    """./run tarball makes tarballs in two versions, with their checksums; again it makes the same bytes"""
    for version in (OLD, NEW):
        file = make(version)
        shutil.copy(file, world.packages)
        shutil.copy(f"{file}.sha256", world.packages)
        world.unpack(version)
    equal(make(NEW).read_bytes() == (world.packages / f"{name_of(NEW)}.tar.gz").read_bytes(), True, "the same bytes")
    with tarfile.open(world.packages / f"{name_of(NEW)}.tar.gz") as packed:
        for info in packed.getmembers():
            equal((info.uid, info.gid, info.mtime, info.mode & 0o6022), (0, 0, 1700000000, 0), info.name)
    world.before = world.root.paths()


def damaged(world):
    """Where one byte of one file is another, nothing is installed"""
    file = world.packages / name_of(OLD) / "root" / HOME / "libc.so.6"
    data = file.read_bytes()
    file.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    done = world.install(OLD, check=False)
    equal((done.returncode, "differ from SHA256SUMS" in done.stdout), (1, True), done.stdout)
    equal(world.root.paths(), world.before, "files")
    file.write_bytes(data)


def install(world):
    """Its programs run where there is no library: they load what they bring. Nothing is started"""
    said = world.install(OLD).stdout
    equal(OLD in said, True, said)
    for name in ("ctxprop", "ctxpropd"):
        (loader,) = (world.root.folder / HOME).glob("ld-linux*")
        listed = world.machine.run(f"/{HOME}/{loader.name}", "--list", f"/usr/local/sbin/{name}").stdout
        paths = [word for word in listed.split() if word.startswith("/")]
        equal([path for path in paths if not path.startswith(f"/{HOME}/")], [], listed)
        equal((len(paths) > 10, "not found" in listed), (True, False), listed)
    equal((world.curl(), (world.root.bpffs / "ctxprop").exists()), (0, False), "headers, pins")


def bill(world):
    """Its bill of materials is one by CycloneDX's schema, and has the digests of the files"""
    text = (world.root.folder / "usr/local/share/doc/ctxprop/sbom.cdx.json").read_text(encoding="utf-8")
    equal(bills.complaints(text), "null", "what the schema says")
    whole = json.loads(text)
    listed = {file["name"][1:]: file["hashes"][0]["content"] for row in [*whole["components"], whole["metadata"]["component"]]
              for file in row.get("components", ())}
    files = [*(world.root.folder / HOME).glob("*.so*"), *(world.root.folder / "usr/local/sbin").glob("*")]
    equal(listed, {str(file.relative_to(world.root.folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
          "files with their digests")


def start(world):
    """The daemon starts by the words of the unit, and a request gets a header"""
    world.machine.start()
    equal(world.machine.logged("starting", OLD) != [], True, world.machine.said())
    world.live = Live(world.host, world.server)
    equal((world.curl(), world.live.ask()), (1, 1), "headers")


def upgrade(world):
    """Another version is installed beside a daemon that runs: its connections live, and the policy that was changed is kept"""
    policy = world.root.folder / "etc/ctxprop/policy"
    changed = policy.read_text(encoding="utf-8") + "# changed\n"
    policy.write_text(changed, encoding="utf-8")
    gone = world.root.folder / HOME / "libold.so.1"  # as if the old version had it
    gone.touch()
    with open(world.root.folder / HOME / "installed", "a", encoding="utf-8") as files:
        files.write(f"{HOME}/{gone.name}\n")
    world.install(NEW)
    equal(world.live.ask(), 1, "headers while the old daemon runs")
    equal(world.machine.signal(signal.SIGTERM), 0, "exit status of the old daemon")
    world.machine.start()
    equal(world.machine.logged("starting", NEW) != [], True, world.machine.said())
    equal((world.live.ask(), gone.exists(), policy.read_text(encoding="utf-8")), (1, False, changed), "headers, old files, policy")


def remove(world):
    """A removal is refused while something is attached; after it only the policy and the store are left"""
    done = world.install(NEW, "--remove", check=False)
    equal((done.returncode, "ctxprop drain" in done.stdout), (1, True), done.stdout)
    world.live.close()
    world.machine.run("ctxprop", "drain", PATH="/usr/local/sbin:/bin")
    world.machine.signal(signal.SIGTERM)
    world.install(NEW, "--remove")
    left = world.root.paths() - world.before
    own = {path for path in left if not any(path.startswith(f"{kept}/") or path == kept for kept in KEPT)}
    equal([path for path in own if not (world.root.folder / path).is_dir()], [], "files")
    equal([path for path in own if "ctxprop" in path], [], "folders of ours")
    equal((world.root.folder / "etc/ctxprop/policy").exists(), True, "the policy is kept")


STEPS = (build, damaged, install, bill, start, upgrade, remove)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    missing = [name for name in ("busybox", "node", "npm", "patchelf") if not shutil.which(name)]
    if os.geteuid() or missing:
        return skip(missing)
    with Lab("tarball") as lab:
        return run(World(lab), STEPS)


if __name__ == "__main__":
    sys.exit(main())
