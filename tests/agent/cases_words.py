# SPDX-License-Identifier: Apache-2.0
"""Arguments, rights and help; what an idle daemon needs."""
import json
import subprocess
import time

import pinned

MEMORY_KIB_MAX = 32 * 1024
REST_SECONDS = 20
IDLE_WINDOWS = 3  # other tests start programs meanwhile, which the agent looks at
IDLE_SECONDS = 3
IDLE_CPU_SECONDS_MAX = 0.03  # one percent


def case_words(bench):
    """Arguments, rights, help."""
    daemon, command = bench.agent.daemon, bench.agent.ctxprop
    for argv in (["--flows", "x"], ["--flows", "0"], ["--attach", "xdp"], ["--log-level", "loud"],
                 ["--nonsense"], ["more"], ["--gc-interval", "0"]):
        done = daemon(*argv)
        bench.check(done.returncode == 2 and done.stderr, f"ctxpropd {' '.join(argv)}: exit 2",
                    done.stderr)
    for argv in ([], ["bogus"], ["stats", "-x"], ["flows", "more"], ["detach", "--nonsense"]):
        done = command(*argv)
        bench.check(done.returncode == 2 and done.stderr, f"ctxprop {' '.join(argv)}: exit 2",
                    done.stderr)
    for argv in (["--help"], ["--version"], ["stats", "--help"], ["detach", "--help"]):
        done = command(*argv)
        bench.check(done.returncode == 0 and done.stdout, f"ctxprop {' '.join(argv)}", done.stderr)
    for argv in (["--help"], ["--version"]):
        done = daemon(*argv)
        bench.check(done.returncode == 0 and done.stdout, f"ctxpropd {' '.join(argv)}", done.stderr)
    done = command("--netns", "no-such-name", "stats")
    bench.check(done.returncode == 1 and "no-such-name" in done.stderr, "unknown namespace: exit 1")
    done = daemon(user=65534)
    bench.check(done.returncode == 1 and "CAP_BPF CAP_NET_ADMIN" in done.stderr and
                "root" in done.stderr, "without rights: exit 1 and which", done.stderr)
    bench.check(not pinned.pins(bench.node).exists(), "and nothing is left")


def case_metrics(bench):
    """--metrics: for Prometheus on another host, and nothing of single requests."""
    bench.start("--metrics", "[10.77.0.1]:9464")

    def status(host, url):
        done = host.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}", url], check=False)
        return done.stdout
    for path, wanted in (("metrics", "200"), ("readyz", "200"), ("healthz", "200"), ("", "404"), ("api/v1/traces", "404")):
        got = status(bench.peer, f"http://10.77.0.1:9464/{path}")
        bench.check(got == wanted, f"/{path}: {wanted}", got)
    bench.check(status(bench.node, "http://127.0.0.1:9464/readyz") == "000", "nothing is served on loopback")
    for words in (["--metrics", "none"], ["--metrics", "10.77.0.1"]):
        bench.check(bench.agent.daemon(*words).returncode == 2, f"{' '.join(words)}: exit 2")


def memory_at_rest(bench):
    """KiB, once what loading the probes of a runtime takes for a moment is given back."""
    end = time.monotonic() + REST_SECONDS
    while (memory := bench.agent.memory_kib()) > MEMORY_KIB_MAX and time.monotonic() < end:
        time.sleep(0.5)
    return memory


def cpu_of_idling(bench):
    """Seconds of CPU that the daemon takes in IDLE_SECONDS."""
    before = bench.agent.cpu_seconds()
    time.sleep(IDLE_SECONDS)
    return bench.agent.cpu_seconds() - before


def case_frugal(bench):
    """Memory and CPU of an idle daemon; sizes."""
    bench.start("--flows", "1000")
    shown = json.loads(subprocess.run(
        ["bpftool", "-j", "map", "show", "pinned", pinned.layer(bench.node) / "maps/flows"],
        capture_output=True, text=True, check=True).stdout)
    bench.check(shown["max_entries"] == 1000, "--flows sizes the table", shown)
    if bench.agent.is_sanitized():
        bench.report.skip(f"{bench.way}: memory", "a sanitized build needs more")
    else:
        memory = memory_at_rest(bench)
        bench.check(memory <= MEMORY_KIB_MAX, f"memory {memory} KiB is at most {MEMORY_KIB_MAX}")
    bench.agent.logs("probes-loaded")
    used = min(cpu_of_idling(bench) for _ in range(IDLE_WINDOWS))
    bench.check(used <= IDLE_CPU_SECONDS_MAX, f"{used:.2f} s of CPU in {IDLE_SECONDS} s of idling")
