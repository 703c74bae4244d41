#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does `ctxpropd --profile` keep what the CPUs did? A server in Python burns CPU for its requests, in windows of
20 seconds: they have to come, with endpoints and functions, one that was written has to know later what it could
not know, and nothing that happens to the recorder or its folder may harm the daemon.

    continuous.py [--build DIR]
"""
import argparse
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from pprof import Profile  # noqa: E402
from sampling import ADDRESS, PORT, tell, world  # noqa: E402
from waiting import wait_until  # noqa: E402

HZ, WINDOW = 19, 20
BEFORE_END, BEHIND_END = 8, 6  # of a window: when the late request is sent, and answered
SHARE, SAMPLES, LATE_SAMPLES = 0.9, 8, 4  # of what is there for seconds; of a second of CPU
RECORDING = "[profile-recording]"
QUICK, LATE = "burn_quick (continuous_server.py)", "burn_late (continuous_server.py)"
NAME = re.compile(r"(\d+)-(\d+)\.pb\.gz")


class Client:
    """Asks for /quick all the time, on a connection of its own, until it is told to stop."""

    def __init__(self, host):
        self.host, self.stopped = host, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def connect(self):
        connection = http.client.HTTPConnection(ADDRESS, PORT, timeout=60)
        with self.host.inside():
            connection.connect()
        return connection

    def ask(self, connection, path):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.read() == b"ok" and answer.status == 200, answer.status

    def run(self):
        connection = self.connect()
        while not self.stopped.is_set():
            self.ask(connection, "/quick")
            time.sleep(0.01)
        connection.close()

    def late(self, until):
        """A request that is answered at that time; in a thread, which is returned."""
        connection = self.connect()
        thread = threading.Thread(target=self.ask, args=(connection, f"/late/{until}"), daemon=True)
        thread.start()
        return thread

    def stop(self):
        self.stopped.set()
        self.thread.join()


class Folder:
    """The windows beside a store."""

    def __init__(self, folder):
        self.path = Path(folder) / "profiles"

    def windows(self):
        """{(from, to): path}"""
        found = {}
        for path in self.path.iterdir():
            if match := NAME.fullmatch(path.name):
                found[tuple(map(int, match.groups()))] = path
        return found

    def ends_at(self, end):
        """The window that has the second before; a recorder that waits for a CPU ends it later."""
        return next((path for (begin, to), path in self.windows().items() if begin < end <= to), None)


def recorder_of(daemon):
    """The recorder's pid, or None."""
    with open(f"/proc/{daemon}/task/{daemon}/children") as children:
        for pid in children.read().split():
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() == "ctxprop-record":
                    return int(pid)
            except OSError:  # it has ended
                pass
    return None


def next_end():
    """When the window ends that a request of BEFORE_END has time for, after a wait until then."""
    end = (int(time.time()) // WINDOW + 1) * WINDOW
    if end - time.time() < BEFORE_END + 1:
        end += WINDOW
    time.sleep(end - BEFORE_END - time.time())
    return end


def endpoints(profile, function):
    """{endpoint: samples} of the samples with this function."""
    found = {}
    for sample in profile.samples:
        if function in sample.functions:
            endpoint = sample.labels["endpoint"]
            found[endpoint] = found.get(endpoint, 0) + sample.count
    return found


def share_of(profile, function, endpoint):
    """(samples of the function, the share that is of this endpoint)"""
    found = endpoints(profile, function)
    total = sum(found.values())
    return total, found.get(endpoint, 0) / max(total, 1)


def metrics(host):
    """{what: count} of the recorder."""
    text = host.run(["curl", "-sf", "http://127.0.0.1:9464/metrics"]).stdout
    return {what: float(count) for what, count in
            re.findall(r'^ctxprop_profile_total\{what="([^"]+)"\} (\S+)$', text, re.M)}


def complaints_of_servers(profile):
    """Comments say of how many samples of servers no request is known; labels say it of each."""
    labelled = Counter()
    for sample in profile.samples:
        if "no_request" in sample.labels:
            labelled[sample.labels["no_request"]] += sample.count
    said = [comment.split("\t") for comment in profile.comments]
    told = {words[2]: int(words[1]) for words in said if words[0] == "#no_request"}
    servers = sum(int(words[1]) for words in said if words[0] == "#servers")
    found = [f"reasons by comments: {told}, by labels: {dict(labelled)}"] * (told != labelled)
    return found + [f"{servers} samples of servers"] * (not sum(told.values()) < servers)


def check_window(path, is_second):
    """What is wrong with the window in which the late request began."""
    profile = Profile(path)
    quick, share = share_of(profile, QUICK, "GET /quick")
    late = endpoints(profile, LATE)
    known = sum(count for endpoint, count in late.items() if endpoint.startswith("GET /late"))
    print(f"# {path.name}: {quick} samples of /quick, {100 * share:.1f} % with its endpoint; late: {late}")
    found = [f"{quick} samples of /quick"] * (quick < SAMPLES)
    found += [f"{100 * share:.1f} % of these have its endpoint"] * (share < SHARE)
    found += [f"the late request has {late}"] * (sum(late.values()) < LATE_SAMPLES)
    found += ["the late request was known before it had ended"] * (not is_second and known > 0)
    found += complaints_of_servers(profile)
    found += ["the late request is not known"] * (is_second and known < SHARE * sum(late.values()))
    return found + ["values are " + str(profile.types)] * \
        (profile.types[:2] != [("samples", "count"), ("cpu", "nanoseconds")])


def check_windows(folder, client):
    """A window is written soon after its end, and again when a request of it is known."""
    end = next_end()
    late = client.late(end + BEHIND_END)
    path = wait_until(lambda: folder.ends_at(end), lambda: f"no window ends at {end}: {folder.windows()}")
    assert time.time() < end + BEHIND_END, "the window was written too late to tell anything"
    first = path.stat().st_ino
    found = check_window(path, False)
    late.join()
    wait_until(lambda: path.stat().st_ino != first, "the window is not written again")
    return found + check_window(path, True)


def check_revival(agent):
    """A recorder that is killed comes back."""
    old = recorder_of(agent.process.pid)
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: agent.said().count(RECORDING) == 2, agent.said)
    new = recorder_of(agent.process.pid)
    found = [f"the recorder was {old} and is {new}"] * (not new or new == old)
    return found + ["its end is not told"] * (not agent.logged("profile-restart", "(signal 9)"))


def check_beside(agent, folder):
    """`ctxprop profile` works beside it, with the agent's store, and begins with what requests cost."""
    picture, found = Path(folder) / "x.svg", []
    for words, is_drawn in (((), False), (("--all",), True)):
        done = agent.host.run([f"{agent.build}/ctxprop", "profile", "-d", "2", "-o", picture, *words])
        lines, drawn = done.stdout.splitlines(), picture.read_text()
        found += ["ctxprop profile tells nothing of /quick"] * ("GET /quick" not in done.stdout or "GET /quick" not in drawn)
        found += [f"the last row is {lines[-1]}"] * ("  (no request)" not in lines[-1])
        found += [f"with {words} the picture has what belongs to no request: {not is_drawn}"] * \
            (("(no request)" in drawn) != is_drawn)
        found += [f"its share is {lines[-1].split()[1]}"] * ((lines[-1].split()[1] == "-") == is_drawn)
    return found


def check_end(agent, folder, client):
    """What was sampled last is written when the daemon ends."""
    next_end()  # a window is there for WINDOW - BEFORE_END seconds, and does not end now
    client.stop()
    known, begun = set(folder.windows()), time.monotonic()
    status = agent.stop()
    took, last = time.monotonic() - begun, sorted(set(folder.windows()) - known)
    print(f"# the daemon took {took:.1f} s to end, and left {last}")
    if status or len(last) < 1:
        return [f"status {status}, windows {last}: {agent.said()}"]
    found = [share_of(Profile(folder.windows()[window]), QUICK, "GET /quick") for window in last]
    quick = sum(samples for samples, _ in found)
    share = sum(samples * share for samples, share in found) / max(quick, 1)
    return [f"the last windows have {quick} samples, {share:.2f} of /quick"] * (quick < SAMPLES or share < SHARE)


def check_folder(folder, old, other):
    """What is too old has gone, what is none of ours has not, and nothing was left half."""
    left = [path.name for path in folder.path.iterdir() if not NAME.fullmatch(path.name) and path != other]
    return [f"{old} is still there"] * old.exists() + [f"{other} is gone"] * (not other.exists()) + \
        [f"left: {left}"] * bool(left)


def run(build):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as temporary, Lab("continuous") as lab:
        server, host = world(lab)
        folder, store = Folder(temporary), f"{temporary}/store.db"
        folder.path.mkdir()
        old, other = folder.path / "1000-1060.pb.gz", folder.path / "notes"
        old.touch()
        other.touch()
        server.spawn(["/usr/bin/python3", "-B", HERE / "continuous_server.py", PORT])
        server.wait_port(PORT)
        agent = Agent(server, build, "--store", store, "--http", "127.0.0.1:9464",
                      "--profile", f"{HZ},window={WINDOW}")
        wait_until(lambda: RECORDING in agent.said(), agent.said)
        client = Client(host)
        failed += tell("windows are written, and again with what is known then", check_windows(folder, client))
        failed += tell("old windows go, and nothing else", check_folder(folder, old, other))
        failed += tell("ctxprop profile beside a recorder", check_beside(agent, temporary))
        failed += tell("a recorder that is killed comes back", check_revival(agent))
        counts = metrics(server)
        failed += tell("metrics", [f"{counts}"] * (counts.get("starts") != 2 or counts["samples-of-requests"] < SAMPLES or
                                                   counts["windows"] < 1 or counts["failed"] > 0))
        failed += tell("the last window", check_end(agent, folder, client))
    return failed


def run_without_folder(build):
    """The daemon goes on where no window can be kept."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as temporary, Lab("continuous") as lab:
        Path(f"{temporary}/profiles").touch()
        agent = Agent(lab.host("server"), build, "--store", f"{temporary}/store.db", "--profile", f"{HZ}")
        agent.wait_logged("profile-restart", " in 2 s")
        found = ["the reason is not told"] * (f"{temporary}/profiles: Not a directory" not in agent.said())
        found += [f"status {status}" for status in [agent.stop()] if status]
    return tell("a folder that is none", found)


def run_words(build):
    """What --profile does not understand is refused before anything is done."""
    found = []
    for words, said in ((("--profile", "100"), "expected a number from 1 to 99"),
                        (("--profile", "19,on-cpu"), "expected a number from 1 to 99"),
                        (("--profile", "19", "--store", "none"), "keeps profiles beside the store, which --store none switches off")):
        done = subprocess.run([f"{build}/ctxpropd", *words], capture_output=True, text=True, timeout=60)
        found += [f"{words}: {done.stderr}"] * (done.returncode != 2 or said not in done.stderr)
    return tell("words that are refused", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    return int(run_words(build) + run_without_folder(build) + run(build) > 0)


if __name__ == "__main__":
    sys.exit(main())
