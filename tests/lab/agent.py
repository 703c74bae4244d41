# SPDX-License-Identifier: Apache-2.0
"""The agent under test, in one namespace of a Lab: start it, stop it, ask it."""
import json
import signal
import tempfile
import time

from logged import logged
from waiting import SECONDS, wait_until

READY_SECONDS = 150  # the verifier takes its time in a guest that is emulated


class Agent:
    """`ctxpropd` in a host. Its pins are removed when the lab ends."""

    def __init__(self, host, build, *options):
        self.host, self.build, self.options = host, build, options
        self.process = None
        self.log = tempfile.NamedTemporaryFile("w+", prefix="ctxpropd-", suffix=".log")
        host.lab.at_close(self.remove)
        self.start()

    def start(self, *options):
        """Start it and wait until it is attached."""
        self.log.truncate(0)
        self.process = self.host.spawn([f"{self.build}/ctxpropd", "--config", "none", "--store", "none",
                                        "--http", "none", *self.options, *options],
                                       stderr=open(self.log.name, "a"))
        end = time.monotonic() + READY_SECONDS
        while not self.logged("ready"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"ctxpropd does not get ready:\n{self.said()}")
            time.sleep(0.02)
        return self

    def said(self):
        """Its log since the last start."""
        with open(self.log.name) as log:
            return log.read()

    def logged(self, kind, *parts):
        """The lines of its log with this id that have each of the parts in them."""
        return logged(self.said(), kind, *parts)

    def wait_logged(self, kind, *parts, seconds=SECONDS):
        """Wait until there are such lines, which are returned."""
        return wait_until(lambda: self.logged(kind, *parts),
                          lambda: f"no [{kind}] with {parts}:\n{self.said()}", seconds)

    def wait_attached(self, *devices):
        """Wait until it has attached to devices that are new."""
        wait_until(lambda: all(self.logged("device-attached", f" {name}: ") for name in devices),
                   lambda: f"not attached to all of {devices}:\n{self.said()}")

    def stop(self, how=signal.SIGTERM):
        """End the daemon; its programs stay (after SIGTERM paused). Returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=READY_SECONDS)

    def command(self, *argv, check=True):
        """Output of the `ctxprop` command in the agent's namespace."""
        return self.host.run([f"{self.build}/ctxprop", *argv], check=check).stdout

    def stats(self):
        """{reason: count} over all groups."""
        groups = json.loads(self.command("stats", "--json"))
        return {name: count for group in groups.values() for name, count in group.items()}

    def flows(self):
        """The live flows, as `ctxprop flows --json` lists them."""
        return json.loads(self.command("flows", "--json"))

    def remove(self):
        """Stop it and take its programs and pins away, whatever state it is in."""
        self.stop()
        self.command("detach", "--force", check=False)
        self.log.close()
