# SPDX-License-Identifier: Apache-2.0
"""Running ctxpropd and ctxprop on a host of the lab."""
import os
import pathlib
import signal
import tempfile
import time

from logged import logged

QUIET = ("--config", "none", "--store", "none", "--http", "none")  # unless others are given behind them


def wait_for(what, seconds=30):
    """Call `what` until it returns something true, which is returned; else its last answer."""
    end = time.monotonic() + seconds
    while not (answer := what()) and time.monotonic() < end:
        time.sleep(0.02)
    return answer


class Agent:
    """The daemon and the command of one build, on one host."""

    def __init__(self, build, host):
        self.build, self.host, self.process = pathlib.Path(build).resolve(), host, None
        self.file = tempfile.TemporaryFile("w+")

    def start(self, *options):
        """Start the daemon and wait until it is ready."""
        self.file.seek(0)
        self.file.truncate()
        self.process = self.host.spawn([self.build / "ctxpropd", *QUIET, *options], stderr=self.file)
        wait_for(lambda: logged(self.log(), "ready") or self.process.poll() is not None, 60)
        if self.process.poll() is not None:
            raise RuntimeError(f"ctxpropd ended with {self.process.returncode}:\n{self.log()}")

    def log(self):
        self.file.flush()
        return pathlib.Path(f"/proc/self/fd/{self.file.fileno()}").read_text()

    def logs(self, kind, *parts, seconds=30):
        """Lines with this id that have each of the parts, or soon have."""
        return wait_for(lambda: logged(self.log(), kind, *parts), seconds)

    def kill(self):
        """As a crash would end it."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def ctxprop(self, *argv):
        return self.host.run([self.build / "ctxprop", *argv], check=False)

    def daemon(self, *argv, user=None):
        """Run the daemon to its end, where it should refuse to start."""
        become = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        return self.host.run([*become, self.build / "ctxpropd", *QUIET, *argv], check=False, timeout=60)

    def close(self):
        """Leave nothing of this host's, whatever state it is in."""
        if self.process and self.process.poll() is None:
            self.kill()
        self.ctxprop("detach", "--force")
        self.file.close()

    def is_sanitized(self):
        return b"__asan_init" in (self.build / "ctxpropd").read_bytes()

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
