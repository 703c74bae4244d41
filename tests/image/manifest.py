# SPDX-License-Identifier: Apache-2.0
"""What the manifest of the node agent says of its container."""
import re
from pathlib import Path

import yaml

REPO = Path(__file__).resolve().parents[2]
BASE = REPO / "k8s/base"
UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def quantity(text):
    """The number that a quantity of Kubernetes stands for."""
    number, unit = re.fullmatch(r"(\d+)(\w*)", str(text)).groups()
    return int(number) * UNITS.get(unit, 1)


class Manifest:
    """A DaemonSet with one container."""

    def __init__(self, file=BASE / "daemonset.yaml"):
        self.pod = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["template"]["spec"]
        (self.container,) = self.pod["containers"]
        self.security = self.container["securityContext"]

    def image(self):
        """The name of the image, which kustomize replaces."""
        return self.container["image"].rpartition(":")[0]

    def value(self, variable):
        """What a variable of the environment is on a node."""
        if "value" in variable:
            return variable["value"]
        source = variable["valueFrom"]
        if "fieldRef" in source:
            return "node"
        field = source["resourceFieldRef"]
        kind, name = field["resource"].split(".")
        return str(quantity(self.container["resources"][kind][name]) // quantity(field.get("divisor", 1)))

    def environment(self):
        return {variable["name"]: self.value(variable) for variable in self.container.get("env", ())}

    def arguments(self):
        """Those of the daemon, as they are on a node."""
        known = self.environment()
        return [re.sub(r"\$\((\w+)\)", lambda match: known[match[1]], word) for word in self.container["args"]]

    def capabilities(self):
        """All that the container has."""
        rights = self.security["capabilities"]
        assert rights["drop"] == ["ALL"], rights
        return [f"CAP_{name}" for name in rights["add"]]

    def own_seccomp(self):
        """Applies the component with the profile of the image."""
        component = yaml.safe_load((REPO / "k8s/seccomp/kustomization.yaml").read_text(encoding="utf-8"))
        (patch,) = [change for entry in component["patches"] for change in yaml.safe_load(entry["patch"])]
        assert (patch["op"], patch["path"]) == ("replace", "/spec/template/spec/containers/0/securityContext/seccompProfile"), patch
        self.security["seccompProfile"] = patch["value"]
        return self

    def volumes(self):
        """Each mount with the volume that is mounted there."""
        named = {volume["name"]: volume for volume in self.pod["volumes"]}
        return [(mount, named[mount["name"]]) for mount in self.container["volumeMounts"]]

    def probes(self):
        """{kind: command} of those that run in the container."""
        return {kind: self.container[kind]["exec"]["command"] for kind in ("startupProbe", "readinessProbe", "livenessProbe")
                if "exec" in self.container.get(kind, {})}


def config_map(name):
    """The files, by name, of which kustomize makes a ConfigMap."""
    maps = yaml.safe_load((BASE / "kustomization.yaml").read_text(encoding="utf-8"))["configMapGenerator"]
    (files,) = [entry["files"] for entry in maps if entry["name"] == name]
    pairs = [(name.partition("=")[0], name.partition("=")[2] or name) for name in files]
    return {Path(key).name: BASE / file for key, file in pairs}
