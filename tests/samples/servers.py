# SPDX-License-Identifier: Apache-2.0
"""Rows at work: namespaces, the agent with a store, and one after the other each row's server with its clients."""
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import following
import needs
from agent import Agent
from clients import Clients
from lab import Lab, sh
from sampling import ADDRESS, PORT, world
from waiting import wait_until

HERE = Path(__file__).resolve().parent
SAID_CHARACTERS = 600  # of what a server wrote, shown where its requests fail
FIRST_SECONDS, WARM_SECONDS, WARM_IN_FLIGHT = 0.5, 1.5, 8


class Scene:
    """Namespaces, and the agent with a store, for one row after the other."""

    def __init__(self, build):
        self.build, self.made = build, Path(build) / "samples"
        self.folder = tempfile.TemporaryDirectory(prefix="ctxprop-samples-")
        self.lab = Lab("samples")

    def __enter__(self):
        try:
            self.host, self.client = world(self.lab)
            self.agent = Agent(self.host, self.build, "--store", f"{self.folder.name}/store.db")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.lab.close()
        finally:
            self.folder.cleanup()

    def pids(self):
        """All processes that live in the namespace but the agent."""
        return set(map(int, sh("ip", "netns", "pids", self.host.netns).split())) - {self.agent.process.pid}


class Server:
    """The row's program, while this is held."""

    def __init__(self, scene, row):
        self.scene, self.row, self.agent = scene, row, scene.agent
        self.folder = tempfile.TemporaryDirectory(dir=scene.folder.name)
        self.truth = f"{self.folder.name}/truth"
        self.clients = Clients(scene.client, ADDRESS, PORT)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.pids(), lambda: f"{self.row.name}: {self.pids()} do not end")
        # A process leaves its namespace before its sockets are closed: the next server is waited for by the port.
        wait_until(lambda: not self.scene.host.listens(PORT), f"{self.row.name}: nobody listens any more")
        self.folder.cleanup()

    def fill(self, text):
        return text.format(build=self.scene.build, here=HERE, made=self.scene.made, folder=self.folder.name, port=PORT,
                           **needs.values())

    def start(self):
        needs.make(self.row, self.scene.made)
        self.log = open(f"{self.folder.name}/log", "w+", encoding="utf-8", errors="replace")
        env = {**os.environ, "TRUTH": self.truth, **{key: self.fill(text) for key, text in self.row.env.items()}}
        self.process = self.scene.host.spawn(list(map(self.fill, self.row.server)), env=env, stdout=self.log,
                                             stderr=subprocess.STDOUT)
        self.scene.host.wait_port(PORT)

    def said(self):
        self.log.seek(0)
        return self.log.read()[-SAID_CHARACTERS:]

    def ask(self, in_flight, seconds, at_least=0):
        """Requests, see Clients.run()."""
        try:
            return self.clients.run(in_flight, seconds, self.row.depth, at_least)
        except RuntimeError as error:
            raise RuntimeError(f"{self.row.name}: {error}\n{self.said()}") from error

    def warm_up(self):
        """Until it is known what the program runs, and its habits are."""
        self.ask(1, FIRST_SECONDS)
        following.all_known()
        self.ask(WARM_IN_FLIGHT, WARM_SECONDS)
        time.sleep(0.1)  # what is over is over for the daemon, too

    def pids(self):
        """All processes of the program: whatever sessions it has begun."""
        return self.scene.pids()
