#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The image, from `./run image` to the header that a pod's request gets. Needs root.

What is in it is read by the specification of OCI; then crun runs it with the rights that the manifest
of the node agent gives it (k8s/base), on a node with a pod and a server outside.
Each step builds on the one before; the first that fails ends the test.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/lab"))

import bills  # noqa: E402
from container import RUNTIME_DEFAULT, Container  # noqa: E402
from lab import Lab, sh  # noqa: E402
from manifest import Manifest  # noqa: E402
from node import Node  # noqa: E402
from recorder import Recorder  # noqa: E402
from steps import equal, run, skip  # noqa: E402
from unpacked import Image  # noqa: E402
from waiting import wait_until  # noqa: E402

LIMIT = 40 << 20  # bytes of the image
TIME = 1700000000  # seconds since 1970, of everything in it
CREATED = "2023-11-14T22:13:20Z"
VERSION = "0.0.1-test"
ARCHIVE = f"ctxprop-{VERSION}-image.tar"
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": str(TIME)}
ID = "0af7651916cd43dd8448eb211c80319c"
SERVICE = """import http.server, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        urllib.request.urlopen('{upstream}', timeout=10).read()
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
http.server.ThreadingHTTPServer(('', 8000), Handler).serve_forever()
"""
INSTALLED = {"usr/sbin/ctxprop", "usr/sbin/ctxpropd", "etc/ctxprop/policy", "usr/share/ctxprop/profile-tags",
             "usr/share/ctxprop/seccomp.json", "usr/share/ctxprop/grafana/ctxprop.json", "usr/share/doc/ctxprop/copyright",
             "usr/share/doc/ctxprop/sbom.cdx.json"}
SHELLS = re.compile(r"(^|/)(ba|da|k|z|c|tc|fi|a)?sh$|busybox|/(perl|python|env|coreutils)[\d.]*$")
LABELS = {"title": "ctxprop", "version": VERSION, "licenses": "Apache-2.0 AND GPL-2.0-only", "created": CREATED}
NODE, OUTSIDE, POD, POD_GATEWAY = "203.0.113.1", "203.0.113.2", "10.98.1.2", "10.98.1.1"
POD_DEVICE = " (sleep)/eth0: "  # found by the process that leads to it
TROUBLE = ("[not-following]", "[uprobes-failed]", "[uprobes-stopped]", "[runtime-failed]", "[unix-sockets-failed]",
           "[store-failed]", " error: ")
REFUSED = {"mount", "ptrace", "init_module", "unshare", "chroot", "keyctl", "io_uring_setup", "process_vm_writev", "kexec_load"}
CAPABILITIES = {"DAC_READ_SEARCH": 2, "NET_BROADCAST": 11, "NET_ADMIN": 12, "SYS_PTRACE": 19, "SYS_ADMIN": 21, "SYSLOG": 34,
                "PERFMON": 38, "BPF": 39}


class World:
    """A node with a pod behind it, and a server outside."""

    def __init__(self, lab):
        host, self.pod, outside = lab.host("node"), lab.host("pod"), lab.host("outside")
        lab.link(host, outside, f"{NODE}/24", f"{OUTSIDE}/24")
        lab.link(host, self.pod, f"{POD_GATEWAY}/24", f"{POD}/24")
        host.sysctl("net.ipv4.ip_forward", 1)
        self.pod.run(["ip", "route", "add", "default", "via", POD_GATEWAY])
        outside.run(["ip", "route", "add", "10.98.0.0/16", "via", NODE])
        self.server = Recorder(outside, OUTSIDE)
        lab.at_close(self.server.close)
        self.node = Node(host)
        self.node.pod(self.pod)
        self.folder = Path(tempfile.mkdtemp(prefix="ctxprop-image-"))
        lab.at_close(shutil.rmtree, self.folder, True)
        self.manifest, self.image, self.container = Manifest(), None, None

    def make(self):
        """Builds the image, and keeps a copy. What was said."""
        said = subprocess.run(["./run", "image", VERSION], cwd=REPO, check=True, stdout=subprocess.PIPE, text=True,
                              env=ENVIRONMENT).stdout
        shutil.copytree(REPO / "build-package/image", self.folder / "first")
        shutil.copy(REPO / f"build-package/{ARCHIVE}", self.folder / "first.tar")
        return said.splitlines()[-1]

    def child(self, host):
        """Has the call of the service the trace of the request? None is of another one: it may be a new trace until
        the program is known."""
        host.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", "--header", f"traceparent: 00-{ID}-b7ad6b7169203331-01",
                  f"http://{NODE}:8000/"])
        (got,) = self.server.requests[-1].traceparents
        return ID in str(got)

    def curl(self):
        """How many headers the request of a program in the pod has got."""
        self.pod.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", self.server.url])
        return len(self.server.requests[-1].traceparents)


def build(world):
    """./run image makes a layout whose blobs are what they are called, and a tar file of it"""
    said = world.make()
    world.image = Image(world.folder / "first")
    equal(world.image.files(), world.image.used, "files of the layout")
    equal(world.image.descriptor["digest"] in said, True, said)
    subprocess.run(["tar", "-xf", "first.tar", "--one-top-level=packed"], cwd=world.folder, check=True)
    subprocess.run(["diff", "-r", "first", "packed"], cwd=world.folder, check=True)


def again(world):
    """Of the same files, elsewhere and made later, another one has the same digest"""
    folder = world.folder / "again"
    shutil.copytree(REPO / "build-package/installed", folder / "installed", copy_function=shutil.copyfile)
    subprocess.run([sys.executable, "-B", "ship/image.py", "--build", "build-package", "--installed", folder / "installed",
                    "--out", folder / "image"], cwd=REPO, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    equal(Image(folder / "image").descriptor, world.image.descriptor, "the second image")
    equal((folder / ARCHIVE).read_bytes() == (world.folder / "first.tar").read_bytes(), True, "tar files are equal")


def contents(world):
    """It is small, has our files, no shell, nothing that others may write, and one time"""
    members = world.image.members()
    equal((world.folder / "first.tar").stat().st_size <= LIMIT, True, "size")
    ours = {path for path, info in members.items() if info.isreg() and "ctxprop" in path}
    equal(ours, INSTALLED, "our files")
    equal([path for path in members if SHELLS.search(path)], [], "shells")
    equal({"usr/share/common-licenses/GPL-2", "usr/share/common-licenses/Apache-2.0"} <= set(members), True, "licences")
    programs = {path for path, info in members.items() if info.isreg() and info.mode & 0o111 and "/lib" not in path}
    equal(programs, {"usr/sbin/ctxprop", "usr/sbin/ctxpropd"}, "programs")
    for path, info in members.items():
        equal((info.uid, info.gid, info.mtime), (0, 0, TIME), path)
        equal(info.mode & 0o6022, 0 if not info.issym() and path != "tmp" else info.mode & 0o6022, f"mode of {path}")


def labels(world):
    """It says what it is, as annotation and as label"""
    annotations = world.image.manifest["annotations"]
    equal(world.image.config["config"]["Labels"], annotations, "labels")
    short = {key.removeprefix("org.opencontainers.image."): value for key, value in annotations.items()}
    equal({key: short.get(key) for key in LABELS}, LABELS, "labels")
    head = subprocess.run(["git", "-c", f"safe.directory={REPO}", "rev-parse", "HEAD"], cwd=REPO, capture_output=True,
                          text=True).stdout.strip()
    equal(short.get("revision", "").removesuffix("-dirty"), head, "revision")
    equal(world.image.descriptor["annotations"]["io.containerd.image.name"], f"{world.manifest.image()}:{VERSION}", "name")


def bill(world):
    """The bill of materials in it is one by CycloneDX's schema, and has every library and what is compiled in"""
    text = world.image.read("usr/share/doc/ctxprop/sbom.cdx.json").decode()
    equal(bills.complaints(text), "null", "what the schema says")
    equal(bills.complaints(text.replace('"SHA-256"', '"SHA-255"')) == "null", False, "a bill that is wrong passes")
    rows = json.loads(text)["components"]
    listed = {file["name"][1:]: file["hashes"][0]["content"] for row in [*rows, json.loads(text)["metadata"]["component"]]
              for file in row.get("components", ())}
    shipped = {path: hashlib.sha256(world.image.read(path)).hexdigest() for path, info in world.image.members().items()
               if info.isreg() and (".so" in path or path.startswith("usr/sbin/") or path.endswith(".crt"))}
    equal(listed, shipped, "files with their digests")
    for row in rows:
        said = sh("dpkg-query", "--show", "--showformat", "${Version} ${source:Package} ${source:Version}", row["name"])
        equal(said, f"{row['version']} {row['properties'][0]['value']}", row["name"])
    equal(bool({row["name"] for row in rows} & {"node-llhttp", "libllhttp9.2", "libllhttp9.3"}), True, "llhttp is listed")


def start(world):
    """It starts with what the manifest gives it, and nothing more: its capabilities, a seccomp filter, a root that is read-only"""
    world.container = Container(world.node, world.image, world.manifest)
    world.container.start()
    status = world.container.status()
    mask = sum(1 << CAPABILITIES[name.removeprefix("CAP_")] for name in world.manifest.capabilities())
    equal([int(status[kind], 16) & ~mask for kind in ("CapBnd", "CapPrm", "CapEff", "CapInh", "CapAmb")], [0] * 5, "capabilities")
    equal((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"), "seccomp, no new privileges")
    root = world.node.run("sh", "-c", f"touch /proc/{world.container.pid()}/root/usr/sbin/x 2>&1 || :")
    equal("Read-only file system" in root, True, root)


def inject(world):
    """A request of a pod gets a header"""
    container = world.container
    wait_until(lambda: container.logged("device-attached", POD_DEVICE) or container.logged("device-replaced", POD_DEVICE),
               container.said)
    equal(world.curl(), 1, "headers")
    for trouble in TROUBLE:
        equal(trouble in world.container.said(), False, world.container.said())


def probes(world):
    """The probes of the manifest succeed"""
    commands = world.manifest.probes()
    for kind, words in commands.items():
        done = world.container.execute(*words)
        equal(done.returncode, 0, f"{kind}: {done.stdout}{done.stderr}")
    version = world.container.execute("ctxprop", "--version").stdout
    equal(VERSION in version, True, version)


def stop(world):
    """It ends in good order, and requests get no header then"""
    equal(world.container.stop(), 0, "exit status")
    equal(world.curl(), 0, "headers")


def own_profile(world):
    """With the seccomp profile that is in the image, and lets it do what it needs only, all that goes as well"""
    profile = json.loads(world.image.read("usr/share/ctxprop/seccomp.json"))
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    equal((profile["defaultAction"], allowed & REFUSED), ("SCMP_ACT_ERRNO", set()), "what is not needed")
    world.container = Container(world.node, world.image, world.manifest.own_seccomp())
    world.container.start()
    inject(world)
    probes(world)
    stop(world)


def follow(world):
    """With that profile it follows: the call of a service in Python is a child of the request that it is made for"""
    node = Node(world.node.host, own_pids=False)
    world.container = Container(node, world.image, world.manifest, without=("--netns", "all"))
    world.container.start()
    script = world.folder / "service.py"
    script.write_text(SERVICE.format(upstream=world.server.url), encoding="utf-8")
    node.host.spawn([sys.executable, script], stderr=subprocess.DEVNULL)
    node.host.wait_port(8000)
    wait_until(lambda: world.child(node.host), world.container.said)
    for trouble in TROUBLE:
        equal(trouble in world.container.said(), False, world.container.said())
    equal(world.container.stop(), 0, "exit status")


STEPS = (build, again, contents, labels, bill, start, inject, probes, stop, own_profile, follow)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    missing = [name for name in ("crun", "node", "npm", str(RUNTIME_DEFAULT)) if not shutil.which(name) and not os.path.exists(name)]
    if os.geteuid() or missing:
        return skip(missing)
    with Lab("image") as lab:
        return run(World(lab), STEPS)


if __name__ == "__main__":
    sys.exit(main())
