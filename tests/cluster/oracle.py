# SPDX-License-Identifier: Apache-2.0
"""What `ctxprop policy show` and `ctxprop set show` say should happen to a request."""
import ipaddress
import json

# What a request's traceparent is: none, the one that it was sent with, one that ctxprop has made.
NONE, OWN, MADE = "none", "own", "made"


class Policy:
    """The rules of one agent as it shows them now; an agent that is paused changes nothing."""

    def __init__(self, agent, paused=False):
        self.paused = paused
        self.rules = json.loads(agent.command("-s", "policy", "show", "-j"))
        self.sets = {each["name"]: [ipaddress.ip_network(net) for net in each["networks"]]
                     for each in json.loads(agent.command("set", "show", "-j"))}

    def has(self, end, address):
        """Does `from` or `to` of a rule fit an address?"""
        if end is None:
            return True
        name = end.removeprefix("!")
        networks = self.sets[name] if name in self.sets else [ipaddress.ip_network(name)]
        return any(ipaddress.ip_address(address) in net for net in networks) != end.startswith("!")

    def fits(self, rule, way, source, address, port, host):
        ports = rule.get("ports", [rule])
        pattern = rule.get("host")
        return (rule["dir"] == way and self.has(rule.get("from"), source) and
                self.has(rule.get("to"), address) and
                any(each.get("port_first", 0) <= port <= each.get("port_last", 65535)
                    for each in ports) and
                (pattern is None or pattern == host or
                 (pattern.startswith("*.") and host.endswith(pattern[1:]))))

    def action(self, *request):
        """The action of the first rule that fits; request: what fits() takes."""
        if self.paused:
            return "skip"
        return next(rule for rule in self.rules if self.fits(rule, *request))["action"]


def after(state, action):
    """What an action makes of a request's traceparent."""
    if action == "inject":
        return MADE if state == NONE else state
    return {"restart": MADE, "strip": NONE}.get(action, state)


def expected(policies, hops, state, address, port, host, whole):
    """The states in which a request may arrive; policies: {agent: Policy} of those that work.

    A header that an agent has made may come to the next one cut in two, if the request did not fit
    into one packet (`whole`): such a one cannot be stripped, ctxprop-policy(5) says.
    """
    states = {state}
    for agent, way, source in hops:
        if agent in policies:
            action = policies[agent].action(way, source, address, port, host)
            stays = {MADE} & states if action == "strip" and not whole else set()
            states = {after(state, action) for state in states} | stays
    return states
