# SPDX-License-Identifier: Apache-2.0
"""Measuring: the arms take turns, round by round, so that all of them meet the same noise."""
import dataclasses
import contextlib
import json
import os
import sqlite3
import time

import bpf
from loads import EDGE, EDGE_OWN, EDGE_OWN_TWO, HEADER_BYTES, LOADS, LONG_POST, NEW, SMALL, Client
from machine import idle_us, resident_kib, run_time_us, softirqd_pids
from rig import BULK_PORT, PORT

ONE_HEADER = {"none": 0, "idle": 0, "inject": 1, "follow": 1, "spans": 1, "profile": 0, "skmsg": 1, "nginx": 1,
              "haproxy": 1}
BULK_BYTES = "256M"
PACKETS_BYTES = "64M"  # about as long, packet by packet
MANY_FLOWS, MANY_RULES = 100_000, 1000
PACED_RATE = 10_000
IDLE_US = 2000  # of CPU in a second


@dataclasses.dataclass(frozen=True)
class Sample:
    """One run of one arm; CPU time is per request."""
    cpu_us: float
    rate: float  # requests per second that no other program had the CPU
    p50_us: float
    p99_us: float
    headers: float | None  # per request, by the bytes that the server got; None behind a proxy


@dataclasses.dataclass(frozen=True)
class BpfSample:
    """Run times of BPF programs in one run of one arm, nanoseconds."""
    out_ns: float  # per outbound packet
    in_ns: float   # per inbound packet
    packet_ns: float  # per packet
    request_ns: float  # all programs
    runs: float  # of programs, per request

    def less(self, empty):
        """What is left above a sample of programs that do nothing."""
        return BpfSample(self.out_ns - empty.out_ns, self.in_ns - empty.in_ns,
                         self.packet_ns - empty.packet_ns,
                         self.request_ns - self.runs * empty.packet_ns, self.runs)


class Bench:
    """The measurements; `rounds` and `milliseconds` per run are the user's choice."""

    def __init__(self, rig, rounds, milliseconds, progress):
        self.rig, self.rounds, self.milliseconds = rig, rounds, milliseconds
        self.progress, self.softirqd = progress, softirqd_pids()

    def check_arms(self):
        """A comparison of arms that do not do their work would be worthless."""
        for arm in self.rig.arms.values():
            arm.ready()
            url = f"http://{arm.address}:{arm.port}/echo"
            head = arm.run(["curl", "-sS", "--max-time", "5", url])
            found = head.lower().count("\ntraceparent: 00-")
            if found != ONE_HEADER[arm.name]:
                raise RuntimeError(f"arm {arm.name}: {found} headers instead of "
                                   f"{ONE_HEADER[arm.name]} at the server:\n{head}")
        for name in ("follow", "spans"):
            if name in self.rig.arms:
                self.check_served(self.rig.arms[name])

    def check_served(self, arm):
        """The agent at the server's end has read the request, and seen the end of its answer."""
        shown = arm.server.run([self.rig.build / "ctxprop", "stats", "--json"]).stdout
        served = json.loads(shown)["served"]
        if not served["served-child"] or not served["served-ended"]:
            raise RuntimeError(f"arm {arm.name}: no request was followed: {shown}")

    def requests_cost(self):
        """{load: {arm: [Sample per round]}}"""
        return {load: self.one_load(load) for load in LOADS}

    def one_load(self, load):
        self.progress(load.title)
        arms = self.arms_of(load)
        clients = {name: self.client(sent, arm) for name, (arm, sent) in arms.items()}
        samples = {name: [] for name in arms}
        for name, (arm, _) in arms.items():
            arm.ready()
            clients[name].run(self.milliseconds // 4)
        for number in range(self.rounds):
            for name in rotated(list(arms), number):
                arm = arms[name][0]
                arm.ready()
                samples[name].append(self.sample(arm, clients[name]))
        for client in clients.values():
            client.close()
        return samples

    def arms_of(self, load):
        """{name: (arm, what its client sends)}"""
        arms = {arm.name: (arm, load) for arm in self.rig.arms.values()}
        if load == EDGE:
            arms["own"] = self.rig.arms["none"], EDGE_OWN
            arms["own-two"] = self.rig.arms["none"], EDGE_OWN_TWO
        return arms

    def client(self, load, arm):
        arm.ready()
        if not load.by_packet:
            return Client(self.rig.build / "bench_load", load, arm)
        with self.rig.packet_by_packet(quickack=0):
            return Client(self.rig.build / "bench_load", load, arm)

    def cpu_us(self):
        """Processes of the bench, the agent, and softirqs.

        Softirq time is in it: it is accounted to the thread it interrupts, which is the sender's,
        or else to ksoftirqd. Unlike /proc/stat this leaves out whatever else the machine does.
        """
        return self.rig.cgroup.usage_us() + sum(map(run_time_us, self.softirqd))

    def sample(self, arm, client):
        bytes_before, idle_before, cpu_before = self.received(arm), self.idle_us(), self.cpu_us()
        run = client.run(self.milliseconds)
        idle = self.idle_us() - idle_before
        time.sleep(arm.settles)
        cpu = self.cpu_us() - cpu_before
        requests, added = run["requests"], self.received(arm) - bytes_before - run["bytes"]
        return Sample(cpu / requests, requests / (cpu + idle) * 1e6, run["p50_us"], run["p99_us"],
                      added / HEADER_BYTES / requests if arm.direct() else None)

    def idle_us(self):
        return idle_us(self.rig.cpu)

    @staticmethod
    def received(arm):
        """Bytes of requests that an arm's server got so far."""
        text = arm.server.run(["curl", "-sS", f"http://127.0.0.1:{PORT}/stat"]).stdout
        return int(text.split()[1])

    def bulk(self):
        """{arm: [CPU microseconds to move BULK_BYTES, per round]}: one stream that is not HTTP.

        On one saturated CPU that is the inverse of the throughput, without the share of the CPU
        that other programs of the machine took.
        """
        self.progress("bulk TCP")
        arms = [self.rig.arms[name] for name in ("none", "inject", "skmsg")
                if name in self.rig.arms]
        costs = {arm.name: [] for arm in arms}
        for number in range(12 * self.rounds):  # the bar is 1 %, the noise of one run 2 to 10 %
            for arm in rotated(arms, number):
                arm.ready()
                before = self.cpu_us()
                self.stream(arm, BULK_BYTES)
                costs[arm.name].append(self.cpu_us() - before)
        return costs

    @staticmethod
    def stream(arm, size):
        """Move bytes over one TCP connection; counts as one request."""
        arm.run(["iperf3", "-c", arm.address, "-p", BULK_PORT, "-n", size])
        return 1

    def bpf_times(self):
        """{load name, "bulk", "packets": [(an empty program's, the agent's) BpfSample]}.

        Apart from the other measurements, because the counting costs time itself.
        """
        with bpf.Statistics(), self.rig.empty_programs() as empty:
            times = {load.name: self.load_times(load, empty) for load in LOADS}
            if self.rig.bulk:
                times["bulk"] = self.bulk_times(BULK_BYTES, empty)
            # Many packets, warm caches: on one CPU the receiver would else acknowledge some 600 KB
            # at a time.
            with self.rig.packet_by_packet(quickack=1):
                times[LONG_POST.name] = self.load_times(LONG_POST, empty)
                if self.rig.bulk:
                    times["packets"] = self.bulk_times(PACKETS_BYTES, empty)
        return times

    def load_times(self, load, empty):
        self.progress(f"BPF time: {load.title}")
        arms = [self.rig.arms["none"], self.rig.arms["inject"]]
        clients = [self.client(load, arm) for arm in arms]
        works = [lambda client=client: client.run(self.milliseconds)["requests"]
                 for client in clients]
        times = [self.bpf_pair(empty, works) for _ in range(self.rounds)]
        for client in clients:
            client.close()
        return times

    def bulk_times(self, size, empty):
        self.progress("BPF time: bulk TCP")
        works = [lambda arm=self.rig.arms[name]: self.stream(arm, size)
                 for name in ("none", "inject")]
        return [self.bpf_pair(empty, works) for _ in range(self.rounds)]

    def bpf_pair(self, empty, works):
        return (self.bpf_sample(empty, works[0]),
                self.bpf_sample(self.rig.objects.programs, works[1]))

    @staticmethod
    def bpf_sample(programs, work):
        """Run times of the programs while work() makes requests; it returns how many."""
        before, requests, after = programs.run_times(), work(), programs.run_times()
        spent = {side: [b - a for a, b in zip(before[side], after[side])] for side in before}
        if not all(runs for _, runs in spent.values()):
            raise RuntimeError(f"programs that did not run: are they attached? {spent}")
        (out_ns, outs), (in_ns, ins) = spent["out"], spent["in"]
        all_ns, all_runs = map(sum, zip(*spent.values()))
        return BpfSample(out_ns / outs, in_ns / ins, (out_ns + in_ns) / (outs + ins),
                         all_ns / requests, all_runs / requests)

    def follow_times(self):
        """[(an empty program's, the agents' and the probes' at both ends) BpfSample]"""
        self.progress("BPF time: follow")
        arms = [self.rig.arms["none"], self.rig.arms["follow"]]
        clients = [self.client(SMALL, arm) for arm in arms]
        samples = []
        with bpf.Statistics(), self.rig.empty_programs() as empty:
            for _ in range(self.rounds):
                pair = []
                for arm, client, programs in zip(arms, clients,
                                                 (empty, self.rig.followers["follow"].programs)):
                    arm.ready()
                    pair.append(self.bpf_sample(
                        programs, lambda client=client: client.run(self.milliseconds)["requests"]))
                samples.append(tuple(pair))
        for client in clients:
            client.close()
        return samples

    def spans_times(self):
        """[(the agents' and the probes' at both ends without spans, with them) BpfSample], at a
        rate at which all of them are stored."""
        self.progress("BPF time: spans")
        arms = [self.rig.arms["follow"], self.rig.arms["spans"]]
        clients = [self.client(SMALL, arm) for arm in arms]
        samples = []
        with bpf.Statistics():
            for _ in range(self.rounds):
                pair = []
                for arm, client in zip(arms, clients):
                    arm.ready()
                    pair.append(self.bpf_sample(
                        self.rig.followers[arm.name].programs,
                        lambda client=client: client.run(1000, PACED_RATE)["requests"]))
                samples.append(tuple(pair))
        for client in clients:
            client.close()
        return samples

    def stored(self, seconds):
        """(part of the requests at PACED_RATE that have both their spans in the stores, MiB
        resident of the larger agent, percent of a core of the busier one)"""
        self.progress(f"spans stored at {PACED_RATE} requests/s")
        arm = self.rig.arms["spans"]
        arm.ready()
        client = self.client(SMALL, arm)
        self.wait_for_share(client)
        before, used, start = self.spans(), cpu_seconds(arm.agents), time.monotonic()
        run = client.run(int(seconds * 1000), PACED_RATE)
        time.sleep(1)
        percent = max(b - a for a, b in zip(used, cpu_seconds(arm.agents))) * 100
        elapsed = time.monotonic() - start - 1
        client.close()
        stored = min(b - a for a, b in zip(before, self.spans()))
        return (stored / run["requests"], max(resident_kib(a.pid) for a in arm.agents) / 1024,
                percent / elapsed)

    def wait_for_share(self, client):
        """Until all is stored again: what went before was more than can be, and the share of traces that is stored comes
        back slowly. For a minute at most."""
        for _ in range(12):
            before, run = self.spans(), client.run(4000, PACED_RATE)
            time.sleep(1)
            if min(b - a for a, b in zip(before, self.spans())) >= run["requests"]:
                break

    def wait_for_agents(self):
        """Until the agents have nothing left to do of what went before: flows that have ended are removed. For a minute at most."""
        for _ in range(60):
            before = self.rig.cgroup_agent.usage_us()
            time.sleep(1)
            if self.rig.cgroup_agent.usage_us() - before < IDLE_US:
                break

    def spans(self):
        """How many spans each store has."""
        counts = []
        for store in self.rig.stores:
            with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
                counts.append(db.execute("SELECT count(*) FROM spans").fetchone()[0])
        return counts

    def many_flows(self):
        """[(an empty program's, the agent's, the agent's beside MANY_FLOWS) BpfSample]"""
        self.progress("many flows")
        client, plain = (self.client(SMALL, self.rig.arms[name]) for name in ("inject", "none"))
        works = [lambda who=who: who.run(self.milliseconds)["requests"] for who in (plain, client)]
        samples = []
        with bpf.Statistics(), self.rig.empty_programs() as empty:
            for _ in range(self.rounds):
                pair = self.bpf_pair(empty, works)
                self.invent_flows("add")
                samples.append((*pair, self.bpf_sample(self.rig.objects.programs, works[1])))
                self.invent_flows("delete")
        client.close()
        plain.close()
        return samples

    def many_rules(self):
        """[(an empty program's, the agent's with one rule, with MANY_RULES) BpfSample], where each
        request has a connection of its own, for which the rules are asked."""
        self.progress("many rules")
        client, plain = (self.client(NEW, self.rig.arms[name]) for name in ("inject", "none"))
        works = [lambda who=who: who.run(self.milliseconds)["requests"] for who in (plain, client)]
        samples = []
        with bpf.Statistics(), self.rig.empty_programs() as empty:
            for _ in range(self.rounds):
                self.set_rules(1)
                pair = self.bpf_pair(empty, works)
                self.set_rules(MANY_RULES)
                samples.append((*pair, self.bpf_sample(self.rig.objects.programs, works[1])))
        self.set_rules(0)
        client.close()
        plain.close()
        return samples

    def set_rules(self, count):
        """So many rules, of which none fits the bench's requests."""
        rules = (f"policy add prio {i + 1} to 10.{200 + i // 250}.{i % 250}.0/24 port {i + 1} "
                 "action skip\n" for i in range(count))
        self.rig.arms["inject"].host.run([self.rig.build / "ctxprop", "policy", "restore"],
                                         input="".join(rules))

    def invent_flows(self, what):
        self.rig.upstream.run([self.rig.build / "bench_flows", what,
                               self.rig.objects.maps["flows"], MANY_FLOWS])

    def agent_paced(self, seconds):
        """(MiB resident, percent of a core, requests per second reached) at PACED_RATE."""
        self.progress(f"agent at {PACED_RATE} requests/s")
        arm = self.rig.arms["inject"]
        arm.ready()
        client = self.client(SMALL, arm)
        self.wait_for_agents()
        start, before = time.monotonic(), self.rig.cgroup_agent.usage_us()
        run = client.run(int(seconds * 1000), PACED_RATE)
        used, elapsed = self.rig.cgroup_agent.usage_us() - before, time.monotonic() - start
        client.close()
        return (resident_kib(self.rig.agent.pid) / 1024, used / elapsed / 1e4,
                run["requests"] / run["seconds"])


def cpu_seconds(processes):
    """What each of them has used of the CPU, user and system."""
    tick = os.sysconf("SC_CLK_TCK")

    def of(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / tick

    return [of(process.pid) for process in processes]


def rotated(things, by):
    """No arm always runs behind the same other one."""
    by %= len(things)
    return things[by:] + things[:by]
