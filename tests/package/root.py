# SPDX-License-Identifier: Apache-2.0
"""A bare Debian of the release that this machine runs, as a folder and as a machine."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lab import sh
from logged import logged
from waiting import CommandFailed, wait_until

# What apt and dpkg keep for themselves, and what is no file of the root.
NOT_OURS = {"dev", "proc", "sys", "tmp", "packages", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg"}
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
# The first process of a machine, which waits for those that have lost their parents.
FIRST = 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "while sleep 1; do :; done"'
DAEMON_SECONDS = 60


def suite():
    """The name of this machine's release, such as bookworm."""
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]


def mirror(of):
    """Where this machine gets the packages of a release."""
    said = sh("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)")
    rows = [line.split() for line in said.splitlines()]
    return next(row[2] for row in rows if row[:2] == [of, "main"])


def bare(of):
    """The folder with a root that debootstrap has made once, and that nobody may change."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-debian"
    if not (cache / of).exists():
        cache.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(dir=cache)
        sh("debootstrap", "--variant=minbase", of, f"{made}/root", mirror(of), timeout=300)
        os.rename(f"{made}/root", cache / of)
        os.rmdir(made)
    return cache / of


class Root:
    """That root, with what is changed in it kept in memory until the lab ends."""

    def __init__(self, lab):
        own = tempfile.mkdtemp(prefix="ctxprop-root-")
        lab.at_close(self.remove, own)
        sh("mount", "-t", "tmpfs", "-o", "mode=755,size=1g", "none", own)
        self.folder = Path(own, "root")
        self.make(own)
        for name in ("/sys", "/dev"):
            sh("mount", "--rbind", "--make-rslave", name, f"{self.folder}{name}")
        self.bpffs = Path(f"{self.folder}/sys/fs/bpf")
        sh("mount", "-t", "bpf", "none", self.bpffs)  # nobody else's pins are there
        shutil.copy("/etc/resolv.conf", self.folder / "etc")
        os.mkdir(self.folder / "packages")

    def make(self, own):
        """What is in the root."""
        for name in ("upper", "work", "root"):
            os.mkdir(f"{own}/{name}")
        sh("mount", "-t", "overlay", "none", self.folder, "-o",
           f"lowerdir={bare(suite())},upperdir={own}/upper,workdir={own}/work")

    @staticmethod
    def remove(own):
        sh("umount", "--recursive", "--lazy", own, check=False)
        os.rmdir(own)  # empty, or it is still a mount

    def paths(self):
        """Every file and folder that a package or a daemon may have made, relative to the root."""
        found = set()
        for folder, folders, files in os.walk(self.folder):
            here = os.path.relpath(folder, self.folder)
            named = [os.path.normpath(f"{here}/{name}") for name in (*folders, *files)]
            found |= {name for name in named if name not in NOT_OURS}
            folders[:] = [name for name in folders if os.path.normpath(f"{here}/{name}") not in NOT_OURS]
        return found


class Stranger(Root):
    """Another distribution, of which there is next to nothing: busybox, and no library at all."""

    def make(self, own):
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp", "usr"):
            (self.folder / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", self.folder / "bin")
        sh("chroot", self.folder, "/bin/busybox", "--install", "-s", "/bin")


class Machine:
    """A root that runs in a host of a lab, with processes of its own: nobody else's are seen there."""

    def __init__(self, host, root):
        self.host, self.root = host, root
        self.outer = host.spawn(["unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", "-c", FIRST, root.folder])
        self.first = wait_until(lambda: self.started(self.outer.pid), "the machine does not start")
        self.log = tempfile.NamedTemporaryFile("w+", prefix="ctxpropd-", suffix=".log")
        self.daemon = None

    @staticmethod
    def child(pid):
        """The process id of the only child of a process, or 0."""
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text() or 0)

    def started(self, outer):
        """The machine's first process, once it has its root; else 0."""
        first = self.child(outer)
        return first if Path(f"/proc/{first}/root/packages").exists() else 0

    def end(self):
        """All its processes end with the one that has started it."""
        self.outer.kill()
        self.outer.wait(DAEMON_SECONDS)

    def argv(self, argv, online=False):
        """The command in this machine; online: with the network of the host that runs the test."""
        net = [] if online else ["--net"]
        return ["nsenter", f"--target={self.first}", "--pid", "--mount", *net, "--root", "--wd=/", *argv]

    def run(self, *argv, online=False, check=True, **environment):
        """Run to the end; the CompletedProcess with text output, stderr in it."""
        done = subprocess.run(self.argv(argv, online), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, env={**os.environ, **ENVIRONMENT, **environment})
        if check and done.returncode:
            raise CommandFailed(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}")
        return done

    def unit(self):
        """{key: value} of the service's unit, as it is installed."""
        (file,) = (self.root.folder / "usr").glob("**/lib/systemd/system/ctxpropd.service")
        lines = file.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")

    def start(self):
        """Start the daemon by the words of the unit, and wait until it is ready."""
        self.log.truncate(0)
        argv = self.argv(self.unit()["ExecStart"].split())
        self.daemon = subprocess.Popen(argv, stderr=open(self.log.name, "a"), start_new_session=True,
                                       env={**os.environ, **ENVIRONMENT})
        self.host.lab.processes.append(self.daemon)
        wait_until(lambda: self.logged("ready") or self.daemon.poll() is not None, self.said, DAEMON_SECONDS)
        if not self.logged("ready"):
            raise CommandFailed(f"ctxpropd has ended:\n{self.said()}")

    def said(self):
        """The daemon's log since its last start."""
        return Path(self.log.name).read_text(encoding="utf-8")

    def logged(self, kind, *parts):
        return logged(self.said(), kind, *parts)

    def signal(self, number):
        """Send the daemon a signal, and wait for its end. Its exit status."""
        os.kill(self.child(self.daemon.pid), number)
        return self.daemon.wait(DAEMON_SECONDS)
