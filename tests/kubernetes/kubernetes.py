#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The manifests in k8s/ and the Helm chart that is made of them, as kustomize and helm render them.

    kubernetes.py [NAME...]      names of cases; all without any
"""
import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests/lab"))

from tools import helm, kustomize, programs, type_errors  # noqa: E402
from tried import Skip, tried  # noqa: E402

FOLDERS = ("base", "egress-gateway", "monitoring/base", "monitoring/egress-gateway", "pods/base",
           "pods/egress-gateway", "uninstall/base", "uninstall/egress-gateway")
# Values of the chart, and the folders that it has to be the same as; of two, the second one is a component.
SAME = ((), ("base",)), (("monitoring.enabled=true",), ("monitoring/base",)), \
    (("gateway.enabled=true",), ("base", "egress-gateway")), \
    (("gateway.enabled=true", "monitoring.enabled=true"), ("monitoring/base", "monitoring/egress-gateway")), \
    (("pods.enabled=true",), ("pods/base",)), \
    (("pods.enabled=true", "gateway.enabled=true"), ("pods/base", "pods/egress-gateway")), \
    (("pods.enabled=true", "monitoring.enabled=true"), (("pods/base", "monitoring/metrics"),)), \
    (("pods.enabled=true", "monitoring.enabled=true", "gateway.enabled=true"),
     (("pods/base", "monitoring/metrics"), ("pods/egress-gateway", "monitoring/metrics"))), \
    (("drain=true",), ("uninstall/base",)), \
    (("drain=true", "gateway.enabled=true"), ("uninstall/base", "uninstall/egress-gateway"))
VERSION = "1.2.3"
# The name of the policy's ConfigMap by its contents; the chart has a checksum at the pods instead.
HASH = re.compile(r"\b(ctxprop-policy(?:-egress)?)-[a-z0-9]{10}\b")
CHECKSUM = "ctxprop/policy"
DIGEST = "sha256:" + 64 * "a"


def equal(got, wanted, what):
    assert got == wanted, f"{what}: {json.dumps(got, indent=1)}\nshould be {json.dumps(wanted, indent=1)}"


def things(text):
    """{(kind, name): object}; each of them is there once."""
    found = [thing for thing in yaml.safe_load_all(text) if thing]
    by_name = {(thing["kind"], thing["metadata"]["name"]): thing for thing in found}
    equal(len(by_name), len(found), "objects with names of their own")
    return by_name


class Chart:
    """The chart as make.py makes it, and its archive."""

    def __init__(self, scratch):
        self.folder = Path(scratch) / "ctxprop"
        subprocess.run([sys.executable, "-B", REPO / "k8s/chart/make.py", VERSION, self.folder], check=True,
                       env={**os.environ, "PATH": f"{os.environ['PATH']}:{programs()}"})
        self.archive = self.folder.with_name(f"ctxprop-{VERSION}.tgz")

    def render(self, *values, namespace="ctxprop"):
        sets = [word for value in values for word in ("--set", value)]
        return things(helm("template", "ctxprop", self.folder, "--namespace", namespace, *sets))

    def daemon(self, *values, name="ctxprop", **where):
        return self.render(*values, **where)["DaemonSet", name]["spec"]["template"]


def with_component(folder, component):
    """What kustomize makes of a folder with a component."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, component = (os.path.relpath(REPO / "k8s" / name, scratch) for name in (folder, component))
        (Path(scratch) / "kustomization.yaml").write_text(json.dumps({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [folder],
            "components": [component]}), encoding="utf-8")
        return kustomize(scratch)


def of_folders(folders):
    """What kustomize makes of them, but for what a release does otherwise."""
    objects = {}
    for folder in folders:
        text = kustomize(REPO / "k8s" / folder) if isinstance(folder, str) else with_component(*folder)
        objects.update(things(HASH.sub(r"\1", text)))
    return {key: thing for key, thing in objects.items() if key[0] != "Namespace"}


def without_checksum(objects):
    """The same without the checksum that pods of a chart have."""
    objects = copy.deepcopy(objects)
    for key, thing in objects.items():
        if key[0] == "DaemonSet":
            annotations = thing["spec"]["template"]["metadata"].pop("annotations")
            equal(list(annotations), [CHECKSUM], "annotations of pods")
    return objects


def case_types(_):
    """every object is as Kubernetes' schema, or that of the Prometheus operator, wants it, and has no other field"""
    objects = [thing for folder in FOLDERS for thing in things(kustomize(REPO / "k8s" / folder)).values()]
    equal(type_errors(objects), "", "complaints")
    misspelt = copy.deepcopy(next(thing for thing in objects if thing["kind"] == "DaemonSet"))
    misspelt["spec"]["template"]["spec"]["containers"][0]["redinessProbe"] = {}
    assert "redinessProbe" in type_errors([misspelt]), "a field that there is not is accepted"


def case_same(chart):
    """with each value the chart has exactly the objects that kustomize makes of the manifests"""
    for values, folders in SAME:
        equal(without_checksum(chart.render(*values)), of_folders(folders), f"{values}")


def case_different(chart):
    """a chart that has come to differ from the manifests is noticed"""
    path = chart.folder / "templates/ctxprop-daemonset.yaml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("hostPID: true", "hostPID: false"), encoding="utf-8")
        assert without_checksum(chart.render()) != of_folders(["base"]), "it is not"
    finally:
        path.write_text(text, encoding="utf-8")


def case_values(chart):
    """values change what they say: the image, options, resources, tolerations, the policy, the namespace"""
    def container(*values):
        return chart.daemon(*values)["spec"]["containers"][0]
    usual = container()
    equal(container("image.repository=example.org/ctxprop", "image.tag=1")["image"], "example.org/ctxprop:1", "image by tag")
    equal(container(f"image.digest={DIGEST}")["image"], f"ctxprop@{DIGEST}", "image by digest")
    equal(container("extraArgs={--sample,0.01}")["args"], [*usual["args"], "--sample", "0.01"], "options")
    equal(container("resources.limits.memory=1Gi")["resources"]["limits"]["memory"], "1Gi", "limits")
    equal("tolerations" in chart.daemon("tolerations=null")["spec"], False, "no tolerations")
    equal(chart.daemon("imagePullSecrets[0].name=key")["spec"]["imagePullSecrets"], [{"name": "key"}], "secrets")
    drained = chart.daemon("drain=true", "extraArgs={--netns,cni-*}")["spec"]["initContainers"][0]["args"]
    equal(drained[-3:], ["--drain", "--netns", "cni-*"], "options of what drains")
    changed = chart.render("policy=policy add dir out action observe\n")
    equal(changed["ConfigMap", "ctxprop-policy"]["data"]["policy"], "policy add dir out action observe\n", "policy")
    sums = {json.dumps(thing["spec"]["template"]["metadata"]["annotations"])
            for thing in (changed["DaemonSet", "ctxprop"], chart.render()["DaemonSet", "ctxprop"])}
    equal(len(sums), 2, "checksums of two policies")
    elsewhere = chart.render("gateway.enabled=true", "monitoring.enabled=true", "pods.enabled=true", namespace="elsewhere").values()
    equal({thing["metadata"].get("namespace", "elsewhere") for thing in elsewhere}, {"elsewhere"}, "namespaces")
    equal({subject["namespace"] for thing in elsewhere for subject in thing.get("subjects", ())}, {"elsewhere"}, "accounts")
    equal(type_errors([chart.render("image.digest=" + DIGEST)["DaemonSet", "ctxprop"]]), "", "complaints")


def case_lint(chart):
    """helm finds nothing wrong with the chart, in whichever way it is used"""
    for values, _ in SAME:
        helm("lint", "--strict", chart.folder, *(word for value in values for word in ("--set", value)))
    notes = helm("install", "ctxprop", chart.folder, "--dry-run=client", "--namespace", "ctxprop")
    assert "ctxprop doctor" in notes, notes


def case_archive(chart):
    """the archive has the files of the chart, and is the same each time"""
    with tarfile.open(chart.archive) as archive:
        packed = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    files = {f"ctxprop/{path.relative_to(chart.folder)}": path.read_bytes()
             for path in chart.folder.rglob("*") if path.is_file()}
    assert packed == files, f"{sorted(packed)}, {sorted(files)}"
    assert things(helm("template", "ctxprop", chart.archive, "--namespace", "ctxprop")) == chart.render(), "it renders otherwise"
    with tempfile.TemporaryDirectory() as scratch:
        assert Chart(scratch).archive.read_bytes() == chart.archive.read_bytes(), "it differs"


CASES = {name[5:]: case for name, case in list(globals().items()) if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    given = parser.parse_args()
    try:
        programs()
    except Skip as why:
        print(f"skip - all: {why}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        chart = Chart(scratch)
        good = [tried(name, CASES[name], chart) for name in given.names or CASES]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
