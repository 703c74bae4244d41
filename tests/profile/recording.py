# SPDX-License-Identifier: Apache-2.0
"""A recorder at work: a server in Python that burns CPU for its requests, a client, and the folder of windows."""
import contextlib
import os
import time
from pathlib import Path

from agent import Agent
from continuous import HERE, NAME, QUICK, RECORDING, Client, Folder, metrics, recorder_of
from lab import Lab
from pprof import Profile
from sampling import PORT, world
from waiting import wait_until

SAMPLES, SHARE = 8, 0.8  # of the requests of a window, and of them in their function


class Recording:
    """What is there while it goes on."""

    def __init__(self, lab, build, folder, words):
        self.build, self.lab, self.root = build, lab, Path(folder)
        self.server, self.host = world(lab)
        self.folder = Folder(folder)
        self.server.spawn(["/usr/bin/python3", "-B", HERE / "continuous_server.py", PORT])
        self.server.wait_port(PORT)
        self.agent = Agent(self.server, build, "--store", f"{folder}/store.db", "--http", "127.0.0.1:9464",
                           "--profile", words)
        wait_until(lambda: RECORDING in self.said(), self.said)
        self.pid = recorder_of(self.agent.process.pid)
        self.client = Client(self.host)

    def said(self):
        return self.agent.said()

    def counts(self):
        """Its metrics; a moment later than the last time."""
        time.sleep(0.2)
        return metrics(self.server)

    def wait_counts(self, holds, seconds=60):
        """Wait until they are so; they are returned."""
        return wait_until(lambda: next(filter(holds, [self.counts()]), None),
                          lambda: f"{self.counts()}\n{self.said()}", seconds)

    def wait_said(self, text, count=1):
        wait_until(lambda: self.said().count(text) >= count, lambda: f"not {count} times \"{text}\":\n{self.said()}")

    def wait_window(self):
        """The first window that begins after now, whole."""
        now = time.time()
        return wait_until(lambda: next((path for (begin, _), path in sorted(self.windows().items()) if begin >= now), None),
                          lambda: f"no window begins after {now}: {self.windows()}\n{self.said()}")

    def wait_quick(self):
        """The first window from now on in which requests are known as they should be; what is wrong if none comes."""
        for _ in range(6):
            path = self.wait_window()
            found = complaints_of_quick(path)
            if not found:
                break
        return found

    def windows(self):
        """{(from, to): path}; none where there is no folder."""
        try:
            return self.folder.windows()
        except OSError:
            return {}

    def halves(self, *others):
        """Files that are no windows, and stay for two seconds."""
        def names():
            return {path.name for path in self.folder.path.iterdir() if not NAME.fullmatch(path.name)}
        first = names()
        time.sleep(2)
        return sorted((first & names()) - set(others))

    def memory(self):
        """(KiB resident, descriptors that are open) of the recorder."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]), len(os.listdir(f"/proc/{self.pid}/fd"))


def named_share(profile):
    """(samples of GET /quick, the share of them in the function that burns)"""
    counts = [(sample.count, QUICK in sample.functions) for sample in profile.samples
              if sample.labels["endpoint"] == "GET /quick"]
    total = sum(count for count, _ in counts)
    return total, sum(count for count, is_named in counts if is_named) / max(total, 1)


def complaints_of_quick(path):
    """What is wrong with the requests of a window."""
    total, share = named_share(Profile(path))
    print(f"# {path.name}: {total} samples of /quick, {100 * share:.1f} % in its function", flush=True)
    return [f"{path.name}: {total} samples of /quick, {100 * share:.1f} % in its function"] * \
        (total < SAMPLES or share < SHARE)


@contextlib.contextmanager
def recording(build, folder, words):
    with Lab("recording") as lab:
        it = Recording(lab, build, folder, words)
        try:
            yield it
        finally:
            it.client.stop()
