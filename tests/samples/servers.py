# SPDX-License-Identifier: Apache-2.0
"""One row at work: namespaces, the agent with a store, the row's server, and its clients."""
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

HERE = Path(__file__).resolve().parent
SAID_CHARACTERS = 600  # of what a server wrote, shown where its requests fail
FIRST_SECONDS, WARM_SECONDS, WARM_IN_FLIGHT = 0.5, 1.5, 8


class Server:
    """The row's program under an agent of its own, while this is held."""

    def __init__(self, build, row):
        self.build, self.row, self.made = build, row, Path(build) / "samples"
        self.folder = tempfile.TemporaryDirectory(prefix="ctxprop-samples-")
        self.lab = Lab("samples")
        self.store, self.truth = (f"{self.folder.name}/{name}" for name in ("store.db", "truth"))

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.lab.close()
        finally:
            self.folder.cleanup()

    def fill(self, text):
        return text.format(build=self.build, here=HERE, made=self.made, folder=self.folder.name, port=PORT, **needs.values())

    def start(self):
        needs.make(self.row, self.made)
        self.host, client = world(self.lab)
        self.agent = Agent(self.host, self.build, "--store", self.store)
        self.log = open(f"{self.folder.name}/log", "w+", encoding="utf-8", errors="replace")
        env = {**os.environ, "TRUTH": self.truth, **{key: self.fill(text) for key, text in self.row.env.items()}}
        self.host.spawn(list(map(self.fill, self.row.server)), env=env, stdout=self.log,
                        stderr=subprocess.STDOUT)
        self.lab.at_close(self.end_program)
        self.host.wait_port(PORT)
        self.clients = Clients(client, ADDRESS, PORT)

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
        """All processes of the program: whatever lives in its namespace but the agent."""
        there = set(map(int, sh("ip", "netns", "pids", self.host.netns).split()))
        return there - {self.agent.process.pid}

    def end_program(self):
        """Whatever sessions it has begun."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
