# SPDX-License-Identifier: Apache-2.0
"""Each format, of a profile that is known."""
import base64
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import made
import otlp_profile
from browser import PROGRAMS, Browser
from lab import Lab
from outputs_tools import Skip, equal, pprof, top
from pprof import Profile

SPEEDSCOPE = "1.25.0"
TO_TABLE = """[...document.querySelectorAll('div')].filter((e) => e.textContent.includes('Sandwich')).at(-1).click()"""
MS = made.PERIOD_NS // 1_000_000


def endpoint_of(stack):
    return f"{stack.labels.get('service', '')} {stack.labels['endpoint']}".strip()


def path_of(stack):
    """What a reader sees of a stack, from the outside in."""
    missing = [stack.labels["stack"]] if "stack" in stack.labels else []
    return (endpoint_of(stack), stack.labels["process"], *missing, *stack.stack)


def case_show(world):
    """the endpoints of a file, with the most samples first"""
    counts = Counter()
    for stack in made.STACKS:
        counts[endpoint_of(stack)] += stack.count
    said = world.said("show", world.made)
    equal(said["samples"], sum(counts.values()), "all samples")
    equal([(f"{row.get('service', '')} {row['endpoint']}".strip(), row["samples"]) for row in said["endpoints"]],
          counts.most_common(), "rows")
    assert not [row for row in said["endpoints"] if "requests" in row], "nothing says how many requests there were"
    filtered = world.said("show", world.made, "--endpoint", "/a", "--bucket", "p99")
    equal(filtered["samples"], 20, "samples of GET /a above the 90th percentile")
    for label, count in (("pid=4711", 100), ("service=sh*", 90), ("service=", 0), ("latency_bucket=p99", 25)):
        equal(world.said("show", world.made, "--label", label)["samples"], count, label)
    equal(world.said("show", world.made, "--trace", made.TRACES[0][:8])["samples"], 40, "of one trace")


def case_show_requests(world):
    """CPU of each request, where the file says how many there were, and only if all their samples are shown"""
    file = made.write(world.folder / "counted.pb.gz", comments=made.COMMENTS)
    each = {"GET /a": 60 * made.PERIOD_NS // 120, "GET /b": 30 * made.PERIOD_NS // 60, "GET /idle": 0}
    said = world.said("show", file, "-o", world.folder / "again.pb.gz")
    equal(said["samples_lost"], 2, "lost samples")
    equal({row["endpoint"]: row["cpu_ns_per_request"] for row in said["endpoints"] if "requests" in row}, each, "each")
    equal(said["endpoints"][0]["cpu_ns_by_bucket"],
          {"p50": 40 * made.PERIOD_NS, "p90": 0, "p99": 20 * made.PERIOD_NS, "max": 0}, "by bucket")
    equal(world.said("show", world.folder / "again.pb.gz"), said, "the file written again")
    table = world.profile("show", file).stdout
    assert re.search(r"^ +60 +66\.7% +600 +120 +5\.000 +- +- +shop GET /a  query 50%$", table, re.M), table
    for words, found in ((("--endpoint", "/a"), ["GET /a"]), (("--bucket", "p50"), []), (("--label", "pid=*"), []),
                         (("--trace", made.TRACES[0]), [])):
        world.profile("show", file, *words, "-o", world.folder / "part.pb.gz")
        for said in (world.said("show", file, *words), world.said("show", world.folder / "part.pb.gz")):
            equal([row["endpoint"] for row in said["endpoints"] if "requests" in row], found, f"counted by {words}")


def case_folded(world):
    """lines of stacks, whatever functions are called"""
    lines = world.written("x.folded").read_text().splitlines()
    wanted = [";".join(name.replace(";", ":") for name in path_of(stack)) + f" {stack.count}"
              for stack in made.STACKS]
    equal(sorted(lines), sorted(wanted), "lines")


def case_pprof(world):
    """pprof again: nothing is lost, and the real tool shows it by label"""
    file = world.written("x.pb.gz")
    before, after = Profile(world.made).samples, Profile(file).samples
    equal(after, before, "samples")
    rows = top(pprof(file, "-top", "-nodecount=100"))
    equal(rows["query"], (30 * MS, 50 * MS), "query")
    equal(rows["serve"], (0, 90 * MS), "serve")
    rows = top(pprof(file, "-top", "-tagfocus=endpoint=^GET /a$"))
    equal(rows["main"], (0, 60 * MS), "main in GET /a")
    assert "render" not in rows, rows
    tags = pprof(file, "-tags")
    found = re.search(r"latency_bucket: Total (\S+)\n((?: +\S+ \(.*\): \S+\n)+)", tags)
    equal(sorted(re.findall(r"([\d.]+m?s) \( *[\d.]+%\): (\S+)", found[2])),
          [("250.0ms", "p99"), ("650.0ms", "p50")], "buckets")
    equal(re.findall(r"[\d.]+m?s .*: (\S+)$", tags.split("pid: Total")[1].split("\n\n")[0], re.M), ["4711"], "pids")


def case_pprof_roots(world):
    """pprof with endpoint and bucket as the outermost frames"""
    tree = pprof(world.written("x.pb.gz"), "-traces", "-tagroot=endpoint,latency_bucket")
    assert re.search(r"200ms +lock\n +query\n +serve\n +main\n +p99\n +GET /a\n", tree), tree
    rows = top(pprof(world.made, "-top", "-nodecount=100", "-tagroot=endpoint,latency_bucket"))
    equal((rows["GET /a"], rows["GET /b"]), ((0, 60 * MS), (0, 30 * MS)), "roots")


def case_otlp(world):
    """profiles of OTLP, by a reader that knows only the numbers of its messages"""
    data = otlp_profile.Data(world.written("x.otlp"))
    equal(data.scope, "ctxprop", "scope")
    equal([(p.type, p.unit) for p in data.profiles], [("cpu", "nanoseconds"), ("samples", "count")], "types")
    for profile, factor in zip(data.profiles, (made.PERIOD_NS, 1)):
        equal((profile.time_ns, profile.duration_ns, profile.period),
              (1_700_000_000_000_000_000, 2_000_000_000, made.PERIOD_NS), "times")
        equal(len(profile.id), 16, "bytes of its id")
        equal([(s.value, s.stack[::-1]) for s in profile.samples],
              [(stack.count * factor, list(stack.stack)) for stack in made.STACKS], "stacks")
        equal([s.link for s in profile.samples],
              [(stack.labels["trace_id"], stack.labels["span_id"]) if "trace_id" in stack.labels else None
               for stack in made.STACKS], "links")
    assert data.profiles[0].id != data.profiles[1].id
    ids = {*made.TRACES, *made.SPANS}
    assert not ids & set(data.texts) and not [a for a in data.attributes if a and a[1] in ids], "ids"
    equal(data.profiles[0].samples[0].attributes,
          {"endpoint": "GET /a", "service.name": "shop", "process.executable.name": "app",
           "process.pid": 4711, "http.response.status_code": 200, "latency_ms": 12,
           "latency_bucket": "p50"}, "attributes")
    equal(len(data.tables[4]), 1 + len(made.TRACES), "links, each once")


def case_waits(world):
    """where it is told what stacks wait for, all times add up, and the wait is the innermost frame"""
    times = (("cpu", "nanoseconds"), ("offcpu", "nanoseconds"))
    labels = {"endpoint": "GET /a", "process": "app"}
    stacks = (made.Stack(1, ("main",), labels), made.Stack(2, ("main", "lock"), {**labels, "wait": "blocked"}))
    path = made.write(world.folder / "waits.pb.gz", stacks, times)
    ns = made.PERIOD_NS + 1  # what made.py gives each of both types
    world.profile("show", path, "-o", world.folder / "x.folded")
    equal(sorted((world.folder / "x.folded").read_text().splitlines()),
          [f"GET /a;app;main {ns}", f"GET /a;app;main;lock;[blocked] {2 * ns}"], "lines")
    equal(world.said("show", path)["ns"], 3 * ns, "time")
    world.profile("show", path, "-o", world.folder / "x.otlp")
    data = otlp_profile.Data(world.folder / "x.otlp")
    equal([(p.type, [s.value for s in p.samples]) for p in data.profiles],
          [("cpu", [1, 2]), ("offcpu", [made.PERIOD_NS, 2 * made.PERIOD_NS])], "values by type")


def case_texts(world):
    """texts that are no UTF-8 do not make a file that others refuse"""
    bad = made.message_of().replace(b"render", b"r\xff\xfeder")
    path = world.folder / "bad.pb"
    path.write_bytes(bad)
    for name in ("x.otlp", "x.pb.gz", "x.svg", "x.folded"):
        world.profile("show", path, "-o", world.folder / name)
    replaced = "r\ufffd\ufffdder"
    data = otlp_profile.Data(world.folder / "x.otlp")
    assert any(replaced in sample.stack for sample in data.profiles[0].samples)
    for name in ("x.svg", "x.folded"):
        assert replaced in (world.folder / name).read_text(encoding="utf-8"), name


def speedscope():
    """The folder of speedscope's page; fetched by npm once, and kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    folder = cache / f"speedscope-{SPEEDSCOPE}"
    page = folder / "node_modules/speedscope/dist/release"
    if not page.exists():
        if not shutil.which("npm"):
            raise Skip("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit",
                        "--no-fund", "--silent", f"speedscope@{SPEEDSCOPE}"], check=True, timeout=120)
    return page


def case_speedscope(world):
    """speedscope, in a browser, opens a file of pprof, and shows the functions and their time"""
    program = next(filter(shutil.which, PROGRAMS), None)
    if not program:
        raise Skip("Chromium is not installed")
    page, file, script = speedscope(), world.written("x.pb.gz"), world.folder / "x.js"
    # What speedscope's own command does with a file.
    text = base64.b64encode(file.read_bytes()).decode()
    script.write_text(f'speedscope.loadFileFromBase64("x.pb.gz", "{text}")')
    with Lab("outputs") as lab:
        browser = Browser(lab.host("a"), program, world.folder / "chromium")
        browser.open(f"file://{page}/index.html#localProfilePath={script}")
        browser.wait("document.body && document.body.innerText.includes('Sandwich')")
        browser.value(TO_TABLE)
        browser.wait("document.body.innerText.includes('Symbol Name')")
        browser.wait(f"document.body.innerText.includes({json.dumps(made.ODD)})")  # its last row
        text = browser.value("document.body.innerText")
        equal(browser.errors, [], "errors of the page")
    found = {name: (whole, own) for whole, own, name in re.findall(
        r"^(\S+) \(\S+%\)\s+(\S+) \(\S+%\)\s+(.+)$", text, re.M)}
    for name, whole, own in (("query", 500, 300), ("render", 250, 250), ("lock", 200, 200), (made.ODD, 50, 50)):
        equal(found.get(name), (f"{whole}.00ms", f"{own}.00ms"), name)
