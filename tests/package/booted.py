# SPDX-License-Identifier: Apache-2.0
"""A bare Debian that systemd runs: its first process, with a journal, and units of their own only."""
import shutil
from pathlib import Path

from root import Machine
from waiting import CommandFailed, wait_until

# What is the kernel's, and not of a namespace, is read-only there.
FIRST = r"""
mount --make-rprivate /
mount -t proc proc "$0/proc" && mount --bind "$0/proc/sys" "$0/proc/sys" && mount -o remount,bind,ro "$0/proc/sys" || exit
mount -t cgroup2 none "$0/sys/fs/cgroup" && mount -t tmpfs -o mode=755 none "$0/run" || exit
umount --recursive --lazy "$0/dev"
mount -t tmpfs -o mode=755 none "$0/dev" || exit
for name in null zero full random urandom tty; do
	touch "$0/dev/$name" && mount --bind "/dev/$name" "$0/dev/$name" || exit
done
mkdir "$0/dev/pts" "$0/dev/shm" "$0/dev/mqueue" "$0/dev/hugepages"
mount -t devpts -o newinstance,ptmxmode=666 none "$0/dev/pts" && ln -s pts/ptmx "$0/dev/ptmx" || exit
exec env -i container=lab PATH=/usr/sbin:/usr/bin chroot "$0" /lib/systemd/systemd --system --unit=basic.target --show-status=no --log-target=journal
"""
# What a Debian starts early is not ours, and some of it is for the machine.
WANTS = ("sysinit.target.wants", "local-fs.target.wants", "multi-user.target.wants", "sockets.target.wants",
         "timers.target.wants", "basic.target.wants")
JOURNAL = ("systemd-journald.socket", "systemd-journald-dev-log.socket")


def quiet(root):
    """Leaves the journal, of what is started by itself."""
    for folder in (root.folder / "usr/lib/systemd/system", root.folder / "etc/systemd/system"):
        for name in WANTS:
            shutil.rmtree(folder / name, ignore_errors=True)
    wants = root.folder / "etc/systemd/system/sockets.target.wants"
    wants.mkdir(parents=True)
    for name in JOURNAL:
        (wants / name).symlink_to(f"/usr/lib/systemd/system/{name}")


class Booted(Machine):
    """A machine whose daemon is the service."""

    def __init__(self, host, root):
        quiet(root)
        self.host, self.root = host, root
        self.outer = host.spawn(["unshare", "--pid", "--mount", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child",
                                 "sh", "-c", FIRST, root.folder])
        self.first = wait_until(lambda: self.started(self.outer.pid), "the machine does not start")
        wait_until(lambda: self.state() == "active", self.state)

    def state(self, unit="basic.target"):
        return self.run("systemctl", "is-active", unit, check=False).stdout.strip()

    def said(self):
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit=ctxpropd").stdout

    def order(self, what):
        """systemctl start, restart, reload or stop; the journal, if it fails."""
        done = self.run("systemctl", what, "ctxpropd", check=False)
        if done.returncode:
            raise CommandFailed(f"{done.stdout}{self.run('journalctl', '--no-pager', '--lines=60').stdout}")

    def drop_in(self, *lines):
        """What `systemctl edit` does."""
        folder = self.root.folder / "etc/systemd/system/ctxpropd.service.d"
        folder.mkdir(exist_ok=True)
        (folder / "override.conf").write_text("\n".join(("[Service]", *lines, "")), encoding="utf-8")
        self.run("systemctl", "daemon-reload")

    def main_pid(self):
        """The daemon's process id outside."""
        pid = self.run("systemctl", "show", "--property=MainPID", "--value", "ctxpropd").stdout.strip()
        for entry in Path("/proc").glob("[0-9]*/status"):
            text = entry.read_text(encoding="utf-8", errors="replace")
            if f"\t{pid}\n" in text and text.startswith("Name:\tctxpropd\n"):
                return int(entry.parent.name)
        raise AssertionError("ctxpropd does not run")
