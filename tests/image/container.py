# SPDX-License-Identifier: Apache-2.0
"""An image that runs as a manifest says: what a kubelet and its runtime make of both, for crun."""
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from logged import logged
from manifest import config_map
from waiting import CommandFailed, wait_until

# Of containers-common; other runtimes' differ little.
RUNTIME_DEFAULT = Path("/usr/share/containers/seccomp.json")
OWN_PROFILE = "usr/share/ctxprop/seccomp.json"
READY_SECONDS = 60
# As every runtime has them.
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
          "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
MOUNTS = [{"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
          {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
          {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777"]},
          {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]}]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def applies(rule, capabilities):
    """Is a rule of a profile for this processor, and a container with these capabilities?"""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    architecture = ARCHITECTURES[platform.machine()]
    return (set(includes.get("caps") or ()) <= set(capabilities) and not set(excludes.get("caps") or ()) & set(capabilities)
            and architecture in (includes.get("arches") or [architecture])
            and architecture not in (excludes.get("arches") or ()))


def filter_of(profile, capabilities):
    """The seccomp part of a runtime's configuration, from a profile as engines have them."""
    rules = [{key: rule[key] for key in ("names", "action", "args", "errnoRet") if rule.get(key)}
             for rule in profile["syscalls"] if applies(rule, capabilities)]
    whole = {key: profile[key] for key in ("defaultAction", "defaultErrnoRet") if key in profile}
    return {**whole, "architectures": [f"SCMP_ARCH_{platform.machine().upper()}"], "syscalls": rules}


class Container:
    """The container of a manifest, on a node of the lab."""

    def __init__(self, node, image, manifest, without=()):
        """without: words that are left out of the manifest's arguments."""
        self.node, self.manifest, self.name = node, manifest, f"ctxprop-{os.getpid()}"
        self.arguments = [word for word in manifest.arguments() if word not in without]
        self.folder = Path(tempfile.mkdtemp(prefix="ctxprop-image-"))
        node.host.lab.at_close(shutil.rmtree, self.folder, True)
        image.unpack(self.folder / "rootfs")
        self.log = self.folder / "log"
        words = self.configuration(image.config, json.loads(self.profile().read_text(encoding="utf-8")))
        (self.folder / "config.json").write_text(json.dumps(words), encoding="utf-8")
        self.process = None

    def profile(self):
        """The file of the seccomp profile; on a node, one of its own is a copy of the image's."""
        kind = self.manifest.security["seccompProfile"]["type"]
        return {"RuntimeDefault": RUNTIME_DEFAULT, "Localhost": self.folder / "rootfs" / OWN_PROFILE}[kind]

    def mount(self, mount, volume):
        """A volume, as a runtime mounts it."""
        if "hostPath" in volume:
            source = self.node.path(volume["hostPath"]["path"])
        else:
            source = self.folder / volume["name"]
            source.mkdir()
            for name, file in config_map(volume["configMap"]["name"]).items():
                shutil.copy(file, source / name)
        return {"destination": mount["mountPath"], "type": "bind", "source": str(source),
                "options": ["rbind", "rprivate", "ro" if mount.get("readOnly") else "rw"]}

    def configuration(self, image, profile):
        """config.json. The network and the processes are the node's."""
        manifest, capabilities = self.manifest, self.manifest.capabilities()
        assert manifest.pod["hostNetwork"] and manifest.pod["hostPID"] and not manifest.security["privileged"]
        variables = [f"{name}={value}" for name, value in manifest.environment().items()]
        return {
            "ociVersion": "1.0.2",
            "root": {"path": "rootfs", "readonly": manifest.security["readOnlyRootFilesystem"]},
            "mounts": MOUNTS + [self.mount(*volume) for volume in manifest.volumes()],
            "process": {
                "args": image["config"]["Entrypoint"] + self.arguments, "cwd": image["config"]["WorkingDir"],
                "env": image["config"]["Env"] + variables, "user": {"uid": manifest.security["runAsUser"], "gid": 0},
                "noNewPrivileges": not manifest.security["allowPrivilegeEscalation"],
                "capabilities": {kind: capabilities for kind in ("bounding", "effective", "permitted")}},
            "linux": {"namespaces": [{"type": kind} for kind in ("mount", "ipc")], "maskedPaths": MASKED,
                      "readonlyPaths": READ_ONLY, "seccomp": filter_of(profile, capabilities)}}

    def crun(self, *words):
        return self.node.argv(["crun", "--root", str(self.folder / "state"), "--cgroup-manager", "disabled", *words])

    def start(self):
        """Starts it, and waits until the daemon is ready."""
        self.process = subprocess.Popen(self.crun("run", "--bundle", str(self.folder), self.name), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=open(self.log, "a"), start_new_session=True)
        self.node.host.lab.processes.append(self.process)
        wait_until(lambda: self.logged("ready") or self.process.poll() is not None, self.said, READY_SECONDS)
        if not self.logged("ready"):
            raise CommandFailed(f"it has ended:\n{self.said()}")

    def said(self):
        return self.log.read_text(encoding="utf-8")

    def logged(self, kind, *parts):
        return logged(self.said(), kind, *parts)

    def execute(self, *words):
        """Runs a program in the container, as probes do. The CompletedProcess."""
        return subprocess.run(self.crun("exec", self.name, *words), capture_output=True, text=True, timeout=READY_SECONDS)

    def pid(self):
        """The daemon's process id on the node."""
        said = subprocess.run(self.crun("state", self.name), check=True, capture_output=True, text=True).stdout
        return json.loads(said)["pid"]

    def status(self):
        """{key: value} of /proc/PID/status."""
        text = self.node.run("cat", f"/proc/{self.pid()}/status")
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def stop(self):
        """Ends it in good order; the exit status."""
        subprocess.run(self.crun("kill", self.name, "TERM"), check=True)
        return self.process.wait(READY_SECONDS)
