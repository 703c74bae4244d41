# SPDX-License-Identifier: Apache-2.0
"""The same of a real profile: a server in C burns CPU for requests whose ids are known."""
import re
import shutil
import subprocess

import otlp_profile
from agent import Agent
from clocks import has_clocks
from lab import Lab
from load import Load
from outputs_tools import Skip, equal, pprof, top
from pprof import Profile
from sampling import ADDRESS, CPU_US, PORT, world as make_world
from waiting import wait_until

# What any program in Go can do by itself.
GO = """
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"time"
)

func burn(context.Context) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
	}
}

func write(name string, to func(*os.File)) {
	file, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	to(file)
	file.Close()
}

func main() {
	write(os.Args[1], func(file *os.File) {
		pprof.StartCPUProfile(file)
		pprof.Do(context.Background(), pprof.Labels("endpoint", "GET /go"), burn)
		pprof.StopCPUProfile()
	})
	write(os.Args[2], func(file *os.File) { pprof.WriteHeapProfile(file) })
}
"""
HZ, CONNECTIONS, REQUESTS = 499, 2, 12
SHARE_AT_LEAST = 0.99
BURN = "burn_until"


def profiled(agent, world, pid, name, *words):
    argv = [f"{world.build}/ctxprop", "profile", "-F", HZ, "-d", "120s", "-p", pid, "--requests",
            "--store", world.folder / "store.db", "-o", world.folder / name, *words]
    return agent.host.spawn(argv, stdout=subprocess.DEVNULL)


def take(world):
    """Two profiles at the same time, one of OTLP and one of pprof.

    Returns the traces of the requests, without those while the profilers read tables, and these.
    """
    with Lab("outputs") as lab:
        server, client = make_world(lab)
        agent = Agent(server, world.build, "--store", world.folder / "store.db")
        process = server.spawn([f"{world.build}/profile_burn", PORT, world.folder / "truth"])
        server.wait_port(PORT)
        load = Load(client, ADDRESS, PORT, CPU_US)
        for connection in load.run(1, 1):  # so that the process is known
            connection.close()
        running = [profiled(agent, world, process.pid, "x.otlp"),
                   profiled(agent, world, process.pid, "x.pb.gz", "--ids", "--tags",
                            world.rules(f"match ^{BURN}$ tag burning\n"))]
        wait_until(lambda: all(has_clocks(one.pid) for one in running), "a sampler has no clock")
        for connection in load.run(1, 15):  # the profiler reads tables of what it has met
            connection.close()
        before = {request.trace for request in load.requests}
        load.requests.clear()
        for connection in load.run(CONNECTIONS, REQUESTS):
            connection.close()
        for one in running:
            one.send_signal(2)
            equal(one.wait(timeout=60), 0, "exit status")
    return {request.trace for request in load.requests}, before


def case_real(world):
    """a real profile: links of OTLP to the requests' traces, and labels that pprof shows"""
    traces, before = take(world)
    data = otlp_profile.Data(world.folder / "x.otlp")
    samples = [s for s in next(p for p in data.profiles if p.type == "samples").samples
               if not s.link or s.link[0] not in before]
    count = sum(s.value for s in samples)
    linked = sum(s.value for s in samples if s.link and s.link[0] in traces)
    wrong = sum(s.value for s in samples if s.link and s.link[0] not in traces)
    named = sum(s.value for s in samples if BURN in s.stack)
    print(f"{count} samples, linked to their trace {linked}, to another {wrong}, in {BURN} {named}")
    assert count and linked >= SHARE_AT_LEAST * count and named >= SHARE_AT_LEAST * count
    equal(wrong, 0, "samples that are linked to another trace")
    file = world.folder / "x.pb.gz"
    ns = sum(s.ns for s in Profile(file).samples)
    mine = [s for s in Profile(file).samples if s.labels.get("trace_id") in traces]
    burned = sum(s.ns for s in mine if s.labels.get("tag") == "burning")
    others = [(s.functions, s.ns) for s in mine if s.labels.get("tag") != "burning"]
    assert mine and burned >= SHARE_AT_LEAST * sum(s.ns for s in mine), (burned, others)
    rows = top(pprof(file, "-top", "-unit=ms", "-tagfocus=endpoint=^GET /", "-tagroot=endpoint,latency_bucket"))
    shown = sum(whole for name, (_, whole) in rows.items() if re.fullmatch("p50|p90|p99|max", name))
    assert shown >= SHARE_AT_LEAST * ns / 1e6, (rows, ns)


def case_others(world):
    """a profile that Go has written is read, and is the same for pprof when it is written again"""
    if not shutil.which("go"):
        raise Skip("go is not installed")
    cpu, heap = world.folder / "cpu.pb.gz", world.folder / "heap.pb.gz"
    (world.folder / "main.go").write_text(GO)
    subprocess.run(["go", "run", world.folder / "main.go", cpu, heap], check=True, timeout=120)
    rows = world.said("show", cpu, "-o", world.folder / "x.pb.gz")["endpoints"]
    assert rows[0]["endpoint"] == "GET /go" and rows[0]["samples"] > 10, rows
    for words in (("-top",), ("-tags",)):
        equal(pprof(world.folder / "x.pb.gz", *words), pprof(cpu, *words), f"pprof {words}")
    world.profile("show", cpu, "-o", world.folder / "x.otlp")
    otlp_profile.Data(world.folder / "x.otlp")
    assert "expected a profile of time, or of samples" in world.refused("show", heap)


def case_own_keys(world):
    """labels of a program that are called as ctxprop's are told from these: no link, tag or wait of them"""
    program, registry = f"{world.build}/profile_labels_header", world.folder / "registry"
    for symbol, kind, key in (("shard", "u64", "trace_id"), ("customer", "string", "wait"), ("region", "string", "tag")):
        subprocess.run([f"{world.build}/ctxprop", "labels", "register", "--registry", registry, "--program", program,
                        "--symbol", symbol, "--type", kind, "--as", key], check=True, stdout=subprocess.DEVNULL)
    with subprocess.Popen([program, "30"]) as process:
        try:
            for name in ("x.pb.gz", "x.otlp"):
                world.profile("-p", process.pid, "-F", HZ, "-d", "2s", "--registry", registry, "-o", world.folder / name)
        finally:
            process.kill()
    labels = [set(sample.labels) for sample in Profile(world.folder / "x.pb.gz").samples]
    given = {"label.trace_id", "label.wait", "label.tag"}
    assert sum(given <= keys for keys in labels) > len(labels) / 4, "the program's labels are missing"
    assert not any({"trace_id", "wait", "tag"} & keys for keys in labels), "labels are taken for ctxprop's"
    for profile in otlp_profile.Data(world.folder / "x.otlp").profiles:
        assert profile.samples and not any(sample.link for sample in profile.samples)
        assert any(given <= set(sample.attributes) for sample in profile.samples)
