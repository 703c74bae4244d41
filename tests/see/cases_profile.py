# SPDX-License-Identifier: Apache-2.0
"""The profile that is kept, as the API tells it."""
import base64
import contextlib
import gzip
import hashlib
import json
import os
import re
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import made
from kept import STRANGE_SERVICE, STRANGE_SHOWN, Kept, picture
from made import Stack
from waiting import wait_until
from world import equal

SVG = "{http://www.w3.org/2000/svg}"
MS = 1_000_000
TWICE = 2 * made.PERIOD_NS  # two windows have the same samples
BAD = ("profile?last=soon", "profile?last=25h", "profile.svg?of=memory", "profile.svg?bucket=p75", "profile.svg?all=yes",
       "profile.svg?bucket=", "profile.svg?from_bucket=p50", "profile.svg?to_bucket=p50",
       "profile.svg?from_bucket=p50&to_bucket=p0", "profile.svg?bucket=p50&from_bucket=p50&to_bucket=p99")
CROWD = 8
# One sample of the first function of made.py, one nanosecond.
SAMPLE = made.field(2, made.field(1, made.varint(500)) + made.field(2, made.varint(1) + made.varint(1)))


def frames(world, **parameters):
    """{name: what is said behind it} of a picture, and its title."""
    status, headers, body = world.ask("/api/v1/" + picture(**parameters))
    equal((status, headers["Content-Type"]), (200, "image/svg+xml"), f"{parameters}: {body[:200]}")
    tree = ElementTree.fromstring(body)
    titles = [group.find(f"{SVG}title").text for group in tree.iter(f"{SVG}g") if "data-w" in group.attrib]
    found = dict(re.fullmatch(r"(.*) \((.*)\)", title, re.S).groups() for title in titles)
    return found, tree.find(f"{SVG}text").text


def refused(world, path):
    """Status and words of what is refused."""
    status, headers, body = world.ask("/api/v1/" + path)
    equal(headers["Content-Type"], "application/json", path)
    return status, json.loads(body)["error"]


def case_profile_none(world):
    """without a profile the API says so, and there is no picture"""
    kept = Kept(world)
    told = world.api("profile")
    equal((told["kept"], told["windows"], told["endpoints"]), (False, 0, []), "without a folder")
    kept.write(age=120)
    told = world.api("profile?last=1h")
    equal((told["kept"], told["windows"], told["endpoints"]), (True, 0, []), "with an old window")
    equal(refused(world, "profile.svg"), (404, "there is no profile of that time"), "a picture")
    kept.remove()


def case_profile_table(world):
    """endpoints have the samples, requests and waits of all windows of the time"""
    kept = Kept(world)
    kept.usual()
    told = world.api("profile?last=1h")
    equal((told["windows"], told["unreadable"], told["samples"], told["lost"], told["cpu_ns"]),
          (3, 0, 200, 5, 100 * TWICE), "sums")
    equal((told["requests_cpu_ns"], "servers" in told), (90 * TWICE, False), "CPU of requests")
    equal((told["off_cpu"], told["cut"], told["to"] - told["from"]), (True, False, 180), "what is known of it")
    rows = {endpoint["endpoint"]: endpoint for endpoint in told["endpoints"]}
    equal(rows["GET /a"], {
        "service": "shop", "endpoint": "GET /a", "requests": 4, "samples": 120, "cpu_ns": 60 * TWICE,
        "cpu_ns_per_request": 15 * TWICE, "blocked_ns": 300 * MS, "run_queue_ns": 100 * MS,
        "bucket_cpu_ns": {"p50": 40 * TWICE, "p90": 0, "p99": 20 * TWICE, "max": 0, "other": 0}}, "GET /a")
    equal((rows["GET /b"]["requests"], rows["GET /b"]["cpu_ns_per_request"]), (10, 3 * TWICE), "GET /b")
    none = rows["(no request)"]
    assert "service" not in none and "cpu_ns_per_request" not in none, none
    equal(none["bucket_cpu_ns"]["other"], 10 * TWICE, "CPU time of no request")
    equal([endpoint["endpoint"] for endpoint in told["endpoints"]], ["GET /a", "GET /b", "(no request)"], "order")
    equal(world.api("profile?last=90s")["samples"], 100, "samples of the last windows")
    kept.remove()


def case_profile_servers(world):
    """how many samples of servers belong to no request, and why, is summed up; and a host without requests is drawn"""
    kept = Kept(world)
    for age in (0, 1):
        kept.write([Stack(5, ("main", "compile"), {"endpoint": "(no request)"})], age=age,
                   comments=("#servers\t50", "#no_request\t3\tended", "#no_request\t1\tnone-open"))
    told = world.api("profile")
    equal(told["servers"], {"samples": 100, "without_request": 8, "reasons": {"ended": 6, "none-open": 2}}, "servers")
    equal((told["cpu_ns"], told["requests_cpu_ns"]), (10 * made.PERIOD_NS, 0), "CPU time")
    equal(frames(world)[0]["compile"], "100.000 ms, 100.00%", "a picture of what there is")
    kept.remove()


def case_profile_picture(world):
    """pictures of everything, of an endpoint, of a bucket, of waits and of a difference"""
    kept = Kept(world)
    kept.usual()
    drawn, title = frames(world)
    equal((drawn["all"], drawn["lock"]), ("1800.000 ms, 100.00%", "400.000 ms, 22.22%"), "all")
    drawn, all_title = frames(world, all=1)
    equal((drawn["all"], drawn["(no request)"]), ("2000.000 ms, 100.00%", "200.000 ms, 10.00%"), "the whole host")
    assert all_title.startswith("all endpoints, and what belongs to no request: CPU time, "), all_title
    equal(frames(world, endpoint="(no request)")[0]["all"], "200.000 ms, 100.00%", "of no request")
    assert title.startswith("all endpoints: CPU time, ") and title.endswith(" UTC"), title
    drawn, title = frames(world, service="shop", endpoint="GET /b")
    equal(drawn["all"], "600.000 ms, 100.00%", "GET /b")
    assert made.ODD in drawn and "parse" not in drawn and title.startswith("shop GET /b: "), (drawn, title)
    equal(frames(world, service="other", endpoint="GET /b")[0], {}, "of another service")
    equal(frames(world, bucket="p99")[0]["all"], "500.000 ms, 100.00%", "p99")
    drawn, title = frames(world, of="waits", endpoint="GET /a")
    equal((drawn["all"], drawn["[blocked]"]), ("400.000 ms, 100.00%", "300.000 ms, 75.00%"), "waits")
    equal(frames(world, of="wall", endpoint="GET /a")[0]["all"], "1600.000 ms, 100.00%", "both")
    drawn, title = frames(world, from_bucket="p50", to_bucket="p99")
    equal(drawn["lock"], "400.000 ms, 0.00% before, 80.00% after, +80.00", "the difference")
    assert ", from p50 to p99: red is more" in title, title
    kept.remove()


def case_profile_refused(world):
    """what cannot be understood, compared or read is refused, and says why"""
    kept = Kept(world)
    kept.write()
    for path in BAD:
        status, error = refused(world, path)
        equal(status, 400, path)
        assert error.split(":")[0] in path, (path, error)
    for parameters, said in (({"of": "waits"}, "time off the CPU was not measured"),
                             ({"of": "wall"}, "wall-clock time was not measured"),
                             ({"from_bucket": "p50", "to_bucket": "max"}, "there is nothing of max to compare")):
        status, error = refused(world, picture(**parameters))
        assert status == 404 and said in error, (parameters, error)
    kept.remove()


def case_profile_broken(world):
    """files that are broken are counted, and what is whole is shown"""
    kept = Kept(world)
    kept.write()
    for age, data in enumerate((b"", b"\x1f\x8b\x08\x00", gzip.compress(b"<svg/>"), gzip.compress(b"\x12\xff\xff"))):
        kept.path(age + 2).write_bytes(data)
    told = world.api("profile")
    equal((told["windows"], told["unreadable"], told["samples"]), (1, 4, 100), "with broken files")
    equal(frames(world)[0]["all"], "900.000 ms, 100.00%", "a picture of the others")
    kept.remove()
    kept.path(0).write_bytes(b"\x1f\x8b\x08\x00")
    for path in ("profile", "profile.svg"):
        status, error = refused(world, path)
        assert status == 500 and "it is not a gzip file" in error, error
    kept.remove()


def case_profile_policy(world):
    """a picture's policy lets its own script and style run, by their hashes, and nothing else"""
    kept = Kept(world)
    kept.strange()
    _, headers, body = world.ask("/api/v1/profile.svg")
    tree = ElementTree.fromstring(body)
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    for kind, name in (("script-src", "script"), ("style-src", "style")):
        texts = [element.text for element in tree.iter(f"{SVG}{name}")]
        equal(len(texts), 1, name)
        digest = base64.b64encode(hashlib.sha256(texts[0].encode()).digest()).decode()
        equal(policy.pop(kind), f"'sha256-{digest}'", kind)
    equal(policy, {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
                   "frame-ancestors": "'self'"}, "all else")
    equal((headers["X-Frame-Options"], headers["X-Content-Type-Options"]), ("SAMEORIGIN", "nosniff"), "fields")
    kept.remove()


def case_profile_strangers(world):
    """names of strangers are texts; bytes that are no text are shown as such, and can be asked for"""
    kept = Kept(world)
    kept.strange()
    told = [endpoint["endpoint"] for endpoint in world.api("profile")["endpoints"]]
    equal(sorted(told), sorted(STRANGE_SHOWN), "endpoints")
    for name in told:
        drawn, _ = frames(world, service=STRANGE_SERVICE, endpoint=name)
        equal(drawn["all"], "100.000 ms, 100.00%", name)
        assert STRANGE_SHOWN[name] in drawn, (name, drawn)
    kept.remove()


def ask_all(world, path, count):
    """Answers to a question that several ask at once."""
    answers = []
    askers = [threading.Thread(target=lambda: answers.append(world.ask(path))) for _ in range(count)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    return answers


def case_profile_crowd(world):
    """one question is answered at a time; others are told when to ask again, and the rest goes on"""
    kept = Kept(world)
    kept.write()
    with gzip.open(kept.path(1), "wb", 1) as file:
        file.write(made.message_of() + SAMPLE * 200_000)
    answers = ask_all(world, "/api/v1/profile", CROWD)
    equal({status for status, _, _ in answers}, {200, 503}, "answers")
    for status, headers, body in answers:
        equal((headers["Retry-After"], b"ask again" in body), ("1", True) if status == 503 else (None, False), "when")
    equal(world.api("profile")["samples"], 200_200, "samples when there is one question")
    kept.remove()


def readers(world):
    """What the kernel says of the processes that have windows open: their status and descriptors."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            said = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            opened = {fd.name: os.readlink(fd) for fd in (status.parent / "fd").iterdir()}
            if said["PPid"] == str(world.agent.process.pid) and str(world.folder / "profiles") in "".join(opened.values()):
                yield said, opened


def case_profile_confined(world):
    """what reads windows has no capabilities, no system calls but a few, and nothing open but these"""
    kept = Kept(world)
    with gzip.open(kept.path(0), "wb", 1) as file:
        file.write(made.message_of() + SAMPLE * 1_000_000)
    goes_on = threading.Event()
    goes_on.set()

    def ask():
        while goes_on.is_set():
            world.ask("/api/v1/profile")

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        said, opened = wait_until(lambda: next((found for found in readers(world) if found[0]["Seccomp"] == "2"), None),
                                  "a process that is confined")
    finally:
        goes_on.clear()
        asker.join()
    equal((said["Name"], int(said["CapEff"], 16), int(said["CapPrm"], 16), said["NoNewPrivs"]),
          ("ctxprop-inspect", 0, 0, "1"), "rights")
    assert all(name.startswith(("socket:", str(kept.folder))) for name in opened.values()), opened
    kept.remove()


def answers(world):
    """{what: how many} of questions about the profile."""
    text = world.ask("/metrics")[2].decode()
    return {what: int(count) for what, count in
            re.findall(r'^ctxprop_profile_answers_total\{what="([a-z-]+)"\} (\d+)$', text, re.M)}


def case_profile_counted(world):
    """what became of questions is counted"""
    kept = Kept(world)
    kept.write()
    before = answers(world)
    world.api("profile")
    refused(world, picture(of="waits"))
    equal(answers(world), {**before, "answered": before["answered"] + 2}, "answers")
    equal(before["failed"], 0, "questions that have failed until now")
    kept.remove()


def case_profile_too_much(world):
    """a file that is too much is refused or left out, soon, and the daemon stays as it was"""
    kept = Kept(world)
    with gzip.open(kept.path(0), "wb", 1) as file:
        for _ in range(30):
            file.write(SAMPLE * 500_000)
        file.write(made.message_of())
    before = memory(world)
    for path in ("profile", "profile.svg"):
        began = time.monotonic()
        status, error = refused(world, path)
        assert status in (500, 503) and time.monotonic() - began < 8, (status, error)
    assert memory(world) < before + 20_000, f"{memory(world)} kB, before that {before}"
    equal(world.ask("/healthz")[0], 200, "health")
    kept.remove()


def memory(world):
    """Resident kB of the daemon."""
    with open(f"/proc/{world.agent.process.pid}/status") as file:
        return int(re.search(r"VmRSS:\s*(\d+)", file.read())[1])


def case_profile_real(world):
    """of a real profile: requests, CPU and waits of the endpoints that had traffic"""
    kept = Kept(world)
    path, goes_on = kept.path(0), threading.Event()
    goes_on.set()

    def load():
        while goes_on.is_set():
            world.send(b"/profiled")

    client = threading.Thread(target=load)
    client.start()
    try:
        world.agent.command("profile", "--store", world.store, "--off-cpu", "--requests", "-F", "499",
                            "-d", "4s", "-o", path)
    finally:
        goes_on.clear()
        client.join()
    told = world.api("profile")
    rows = {(e.get("service"), e["endpoint"]): e for e in told["endpoints"]}
    for key in (("nginx", "GET /profiled"), ("service", "GET /profiled")):
        row = rows[key]
        assert row["requests"] > 10 and row["samples"] > 0, row
        # A thread waits for its request; a loop that sleeps, as nginx does, for all of them.
        assert (row["blocked_ns"] > 0) == (key[0] == "service"), row
        equal(row["cpu_ns_per_request"], row["cpu_ns"] // row["requests"], "CPU of a request")
    drawn, _ = frames(world, service="service", endpoint="GET /profiled", of="wall")
    for name in ("service GET /profiled", "[blocked]", "Service.serve (service.py)"):
        assert name in drawn, drawn
    kept.remove()
