# SPDX-License-Identifier: Apache-2.0
"""/metrics: its formats, what it counts, and what Prometheus makes of it."""
import http.client
import json
import re
import shutil
import urllib.parse

from tried import Skip
from waiting import wait_until
from world import MANY, equal

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
PROMETHEUS_2 = ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
ACCEPTS = ((None, TEXT), ("*/*", TEXT), ("text/html,*/*;q=0.8", TEXT), ("text/plain", TEXT),
           ("application/openmetrics-text", OPEN), (PROMETHEUS_2, OPEN),
           ("application/openmetrics-text;q=0.4, text/plain;q=0.9", TEXT),
           ("application/openmetrics-text;version=1.0.0;q=0, text/plain;q=0.1", TEXT),
           ("application/openmetrics-textual", TEXT))
PORT = 9090
MANY_SERVED = ('http_server_request_duration_seconds_count{service="nginx",'
               'http_request_method="GET",http_route="/many",http_response_status_class="2xx"}')


def case_promtool(world):
    """`promtool check metrics` has nothing to say about the text format"""
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    _, _, body = world.ask("/metrics")
    done = world.client.run(["promtool", "check", "metrics"], input=body.decode(), check=False)
    equal((done.returncode, done.stdout + done.stderr), (0, ""), "promtool")


def case_accept(world):
    """the format is what the Accept field prefers, each as its standard wants it"""
    for accept, wanted in ACCEPTS:
        status, headers, body = world.ask("/metrics", **({"Accept": accept} if accept else {}))
        equal((status, headers["Content-Type"]), (200, wanted), f"Accept: {accept}")
        is_open = wanted == OPEN
        equal(body.endswith(b"\n# EOF\n"), is_open, "the end")
        equal(b"# UNIT " in body, is_open, "units")
        equal(b' # {trace_id="' in body, is_open, "examples")
        counter = b"ctxprop_requests" if is_open else b"ctxprop_requests_total"
        equal(b"# TYPE " + counter + b" counter\n" in body, True, "the type of a counter")


def case_counts(world):
    """requests are counted, each once, and so are the reasons that `ctxprop stats` tells"""
    text = world.ask("/metrics")[2].decode()
    equal(re.findall(rf"^{re.escape(MANY_SERVED)} (.*)$", text, re.M), [str(MANY)], "GETs of /many")
    buckets = [int(n) for n in re.findall(
        r'^http_server_request_duration_seconds_bucket\{service="nginx",[^}]*"/many",.*\} (\d+)$', text, re.M)]
    equal((buckets, len(buckets)), (sorted(buckets), 15), "buckets that grow")
    equal(buckets[-1], MANY, "the last bucket")
    for name, count in world.agent.stats().items():
        told = re.findall(rf'^ctxprop_\w+_total\{{reason="{name}"\}} (\d+)$', text, re.M)
        assert len(told) == 1, f"{name}: {told}"
        # Packets pass by all the time, also those of this test.
        assert int(told[0]) <= count, f"{name}: {told}, but {count} soon after"
    injected = int(re.search(r'ctxprop_requests_total\{reason="injected"\} (\d+)', text)[1])
    assert injected >= 3 * world.requests, injected
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes",
                 "ctxprop_flow_table_entries", "ctxprop_flow_table_room"):
        assert float(re.search(rf"^{name} (.*)$", text, re.M)[1]) > 0, name
    equal(re.findall(r"^ctxprop_metrics_overflow_total (.*)$", text, re.M), ["0"], "overflow")


def spans_by_metrics(world):
    """{what: how many} of ctxprop_spans_total."""
    text = world.ask("/metrics")[2].decode()
    return {what: int(count) for what, count in
            re.findall(r'^ctxprop_spans_total\{what="([a-z-]+)"\} (\d+)$', text, re.M)}


def case_spans(world):
    """what became of spans adds up with the store: none is lost without being counted"""
    def in_store():
        rows = json.loads(world.agent.command("sql", "--store", world.store, "-j",
                                              "SELECT count(*) AS spans FROM spans"))
        return rows[0]["spans"]

    def adds_up():
        told = spans_by_metrics(world)  # which is itself a request of its own
        return told["own"] > 0 and told["complete"] - told["own"] == in_store() and told

    told = wait_until(adds_up, lambda: f"{spans_by_metrics(world)}, {in_store()} in the store", 20)
    equal([told[what] for what in ("unsampled", "malformed", "not-stored")], [0, 0, 0], "losses")


def from_prometheus(world, path):
    """(status, body) of an answer by Prometheus."""
    with world.client.inside():
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        connection.connect()
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def ask_prometheus(world, path, **parameters):
    answer = json.loads(from_prometheus(world, f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")[1])
    assert answer["status"] == "success", answer
    return answer["data"]


def scraped(world, query):
    """The value of a query, once it has one."""
    def value():
        result = ask_prometheus(world, "query", query=query)["result"]
        return result and result[0]["value"][1]

    return wait_until(value, query, seconds=20)


def begin_prometheus(world):
    """One that scrapes the agent each second, and has done so."""
    if not shutil.which("prometheus"):
        raise Skip("prometheus is not installed")
    if (world.folder / "prometheus").exists():
        return
    config = world.folder / "prometheus.yml"
    address = world.url.removeprefix("http://")
    config.write_text("scrape_configs:\n- job_name: ctxprop\n  scrape_interval: 1s\n"
                      f"  static_configs:\n  - targets: ['{address}']\n")
    world.client.spawn(["prometheus", f"--config.file={config}", "--log.level=warn",
                        f"--storage.tsdb.path={world.folder}/prometheus",
                        f"--web.listen-address=127.0.0.1:{PORT}",
                        "--enable-feature=exemplar-storage"])
    world.client.wait_port(PORT)
    wait_until(lambda: from_prometheus(world, "/-/ready")[0] == 200, "Prometheus is ready", 20)
    equal(scraped(world, "up"), "1", "the scrape")


def case_prometheus(world):
    """a real Prometheus scrapes it: it counts as we do, and its examples lead to our traces"""
    begin_prometheus(world)
    equal(scraped(world, f"{MANY_SERVED}"), str(MANY), "GETs of /many")
    assert int(scraped(world, "count(ctxprop_requests_total)")) > 10
    examples = wait_until(lambda: ask_prometheus(
        world, "query_exemplars", start="2000-01-01T00:00:00Z", end="2100-01-01T00:00:00Z",
        query='http_server_request_duration_seconds_bucket{service="nginx",http_route="/many"}'),
        "examples", seconds=20)
    labels = examples[0]["exemplars"][0]["labels"]
    spans = world.api(f"traces/{labels['trace_id']}")["spans"]
    equal([span["path"] for span in spans if span["span_id"] == labels["span_id"]], ["/many"],
          "the span of an example")
