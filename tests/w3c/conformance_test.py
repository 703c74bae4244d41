# SPDX-License-Identifier: Apache-2.0
"""The table of cases, and the judgement on what goes out: it finds every kind of mistake."""
import unittest

import table
from conformance import NEW_FLAGS, mistakes
from http1 import Head

NEW_TRACE, SPANS = "ab" * 16, ("cd" * 8, "ef" * 8)
CASES = {case.name: case for case in table.read()}


def head(trace, span, flags, state=None, version="00", twice=False):
    """An outgoing request."""
    line = f"traceparent: {version}-{trace}-{span}-{flags}\r\n"
    more = "" if state is None else f"tracestate: {state}\r\n"
    return Head(f"GET / HTTP/1.1\r\n{line * (2 if twice else 1)}{more}\r\n".encode())


def right(case, span=SPANS[0], state=0):
    """What a participant sends on."""
    trace = case.parents()[0][0] if case.kept else NEW_TRACE
    members = case.states[state] if case.states else []
    return head(trace, span, case.flags or (NEW_FLAGS if not case.kept else "01"),
                ",".join(members) if members else None)


class Judgement(unittest.TestCase):
    def found(self, name, *heads):
        return " ".join(mistakes(CASES[name], heads))

    def test_every_case_can_be_answered_right(self):
        for case in CASES.values():
            for state in range(len(case.states or [0])):
                self.assertEqual(mistakes(case, [right(case, span, state) for span in SPANS]), [],
                                 case.name)

    def test_new_trace_where_it_should_be_kept(self):
        for case in CASES.values():
            if case.kept:
                self.assertIn("should be kept", " ".join(mistakes(
                    case, [head(NEW_TRACE, SPANS[0], case.flags or "01")])), case.name)

    def test_trace_kept_that_should_be_new(self):
        for name in ("duplicated", "version-ff", "parent-upper", "flags-long"):
            trace, _ = CASES[name].parents()[-1]
            self.assertIn("should be new", self.found(name, head(trace, SPANS[0], "03")))

    def test_parent_id_that_is_not_renewed(self):
        trace, parent = CASES["alone"].parents()[0]
        self.assertIn("not a new one", self.found("alone", head(trace, parent, "01")))
        self.assertIn("not a new one", self.found("alone", head(trace, "0" * 16, "01")))

    def test_flags(self):
        trace, _ = CASES["flags-02"].parents()[0]
        self.assertIn("flags 00", self.found("flags-02", head(trace, SPANS[0], "00")))
        self.assertIn("flags 01", self.found("none", head(NEW_TRACE, SPANS[0], "01")))

    def test_state_that_is_lost_reordered_or_made_up(self):
        trace, _ = CASES["state"].parents()[0]
        for state in (None, "bar=2,foo=1", "foo=1", "foo=1,bar=2,baz=3"):
            self.assertIn("tracestate", self.found("state", head(trace, SPANS[0], "00", state)))
        self.assertIn("tracestate", self.found("state-alone", head(NEW_TRACE, SPANS[0], "03", "foo=1")))
        self.assertIn("empty", self.found("state-empty", head(trace, SPANS[0], "00", "")))

    def test_no_header_two_headers_another_version(self):
        trace, _ = CASES["alone"].parents()[0]
        for bad in (Head(b"GET / HTTP/1.1\r\n\r\n"), head(trace, SPANS[0], "01", twice=True),
                    head(trace, SPANS[0], "01", version="cc")):
            self.assertIn("expected one traceparent", self.found("alone", bad))

    def test_calls_of_one_request_share_the_trace_and_nothing_else(self):
        case = CASES["none"]
        self.assertIn("calls", self.found("none", right(case), right(case)))
        self.assertIn("calls", self.found("none", right(case),
                                          head("12" * 16, SPANS[1], NEW_FLAGS)))


if __name__ == "__main__":
    unittest.main()
