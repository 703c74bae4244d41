# SPDX-License-Identifier: Apache-2.0
"""The dashboard of Grafana: what a real Prometheus that scrapes the agent answers to its queries."""
import json
import math
import re
import time
from pathlib import Path

from cases_metrics import ask_prometheus, begin_prometheus
from waiting import wait_until
from world import MANY, equal

DASHBOARD = Path(__file__).resolve().parents[2] / "share/grafana/ctxprop.json"
# What Grafana puts in place of variables, when all of each is chosen.
VARIABLES = {"$__rate_interval": "10s", "$instance": ".*", "$service": ".*"}
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
WIDTH = 24
QUIET_SECONDS = 2
# A query that finds nothing, to see that this would be noticed.
NOTHING = 'sum(rate(ctxprop_requests_total{reason="none-such"}[10s]))'


def filled_in(query):
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    assert "$" not in query, f"a variable that is not known: {query}"
    return query


def panels():
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries():
    """(panel, query) of all panels."""
    return [(panel["title"], filled_in(target["expr"])) for panel in panels() for target in panel["targets"]]


def answers(world, query):
    return [(row["metric"], float(row["value"][1])) for row in ask_prometheus(world, "query", query=query)["result"]]


def numbers(world, query):
    """What a query answers while there are requests, but for quantiles of services that have had none."""
    world.send(b"/warm")  # which is on no other count
    return [(metric, value) for metric, value in answers(world, query) if not math.isnan(value)]


def settle(world):
    """Until the last of these requests is stored: others look at the store while nothing happens."""
    def count():
        return world.agent.command("sql", "--store", world.store, "-j", "SELECT count(*) FROM spans")

    def is_still():
        before = count()
        time.sleep(QUIET_SECONDS)
        return count() == before
    wait_until(is_still, "the store to be at rest", 30)


def case_dashboard(world):
    """each query of the dashboard has an answer of numbers, and what they count was done"""
    begin_prometheus(world)
    for title, query in queries():
        rows = wait_until(lambda query=query: numbers(world, query), f"{title}: {query}", 20)
        equal([row for row in rows if not 0 <= row[1] < math.inf], [], f"{title}: what is no sensible number")
    settle(world)
    equal(answers(world, NOTHING), [], "a query for what there is not")
    served = dict((metric["service"], value) for metric, value in answers(
        world, "sum by (service) (http_server_request_duration_seconds_count)"))
    assert served["nginx"] >= MANY, served


def case_dashboard_variables(world):
    """the variables of the dashboard offer the agent, and the services that it has seen"""
    begin_prometheus(world)
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    offered = {}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            series, label = LABEL_VALUES.fullmatch(filled_in(variable["query"]["query"])).groups()
            offered[variable["name"]] = ask_prometheus(world, f"label/{label}/values", **{"match[]": series})
    equal(set(offered), {"instance", "service"}, "variables")
    equal(offered["instance"], [world.url.removeprefix("http://")], "agents")
    assert "nginx" in offered["service"], offered


def case_dashboard_layout(world):
    """each panel has an id and a place of its own, and says what it shows"""
    del world
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    ids, taken = set(), set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        equal((panel["id"] in ids, taken & cells), (False, set()), f"{panel['title']}: id, and what lies over it")
        equal(place["x"] + place["w"] <= WIDTH, True, f"{panel['title']}: it is within the page")
        ids.add(panel["id"])
        taken |= cells
    for panel in panels():
        equal(bool(panel["description"]), True, f"{panel['title']}: a description")
        equal({target["datasource"]["uid"] for target in panel["targets"]}, {"${datasource}"}, "where data is from")
