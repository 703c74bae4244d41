# SPDX-License-Identifier: Apache-2.0
"""The oracle itself: what it makes of rules, and that a request against them is found."""
import json
import unittest

import load
import oracle

RULES = [
    {"prio": 1, "dir": "out", "to": "!near", "port_first": 80, "port_last": 81, "action": "strip"},
    {"prio": 2, "dir": "out", "from": "10.1.0.0/16", "action": "restart"},
    {"prio": 3, "dir": "out", "host": "*.a.test", "action": "skip"},
    {"prio": 9, "dir": "out", "action": "inject"},
    {"prio": 9, "dir": "forward", "action": "inject"},
]


class Shown:
    """An agent that shows these rules."""

    def command(self, what, *_):
        return json.dumps(RULES if what == "-s" else
                          [{"name": "near", "networks": ["10.2.0.0/16"]}])


class OracleTest(unittest.TestCase):
    def setUp(self):
        self.policy = oracle.Policy(Shown())

    def action(self, source, address, port, host="b.test", way="out"):
        return self.policy.action(way, source, address, port, host)

    def test_first_rule_that_fits(self):
        self.assertEqual(self.action("10.1.0.1", "10.3.0.1", 81), "strip")
        self.assertEqual(self.action("10.1.0.1", "10.2.0.1", 81), "restart")
        self.assertEqual(self.action("10.3.0.1", "10.2.0.1", 81, "x.a.test"), "skip")
        self.assertEqual(self.action("10.3.0.1", "10.2.0.1", 81, "a.test"), "inject")
        self.assertEqual(self.action("10.1.0.1", "10.3.0.1", 81, way="forward"), "inject")

    def test_several_agents(self):
        policies = {"a": self.policy, "b": self.policy}
        hops = [("a", "out", "10.3.0.1"), ("b", "forward", "10.3.0.1"), ("gone", "out", "10.1.0.1")]

        def arrives(state, port, whole=True):
            return oracle.expected(policies, hops, state, "10.3.0.1", port, "b.test", whole)
        self.assertEqual(arrives(oracle.OWN, 82), {oracle.OWN})
        self.assertEqual(arrives(oracle.OWN, 80), {oracle.MADE})  # stripped, then injected
        self.assertEqual(arrives(oracle.NONE, 82), {oracle.MADE})

    def test_wrong_requests_are_found(self):
        connection = load.Connection.__new__(load.Connection)
        connection.pod, connection.to = type("Pod", (), {"name": "pod"}), ("10.3.0.1", 80)
        connection.hops, connection.judged = [("a", "out", "10.3.0.1")], 0
        for own, got, good in (("x", [], True), ("x", ["x"], False), ("", ["y"], False)):
            connection.wrong = []
            connection.judge({"a": self.policy}, own, got, "b.test", True)
            self.assertEqual(not connection.wrong, good, connection.wrong)


if __name__ == "__main__":
    unittest.main()
