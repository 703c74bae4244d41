#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Helm chart of the manifests that kustomize renders: make.py VERSION FOLDER

There is no second truth: templates are the rendered objects, in which what values may say is replaced.
FOLDER becomes the chart; what was there goes. Beside it the same is written as FOLDER-VERSION.tgz.
"""
import argparse
import difflib
import gzip
import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
K8S = HERE.parent
# Each kind of agent: its folder, the value that it needs, and that of its policy.
AGENTS = (("base", None, "policy"), ("egress-gateway", "gateway.enabled", "gateway.policy"))
# Stands in no rendered object.
TITLE = "{{- /* SPDX-License-Identifier: Apache-2.0; made of the manifests by k8s/chart/make.py */ -}}\n"
NAMESPACE = "  namespace: ctxprop\n"
HASH = re.compile(r"\b(ctxprop-policy(?:-egress)?)-[a-z0-9]{10}\b")
ARGUMENTS = re.compile(r"^(      - args:\n(?:        - .*\n)+)", re.M)
IMAGE = re.compile(r"^( +image: )(\S+):(\S+)$", re.M)
RESOURCES = re.compile(r"^        resources:\n((?:          .*\n)+)", re.M)
TOLERATIONS = re.compile(r"^      tolerations:\n((?:      [- ] .*\n)+)", re.M)
POLICY = re.compile(r"^  policy: \|\n((?:    .*\n|\n)+)", re.M)
LABELS = "  template:\n    metadata:\n      labels:\n"


def rendered(folder):
    """{(kind, name): text} of the objects that kustomize makes of a folder."""
    text = subprocess.run(["kubectl", "kustomize", K8S / folder], capture_output=True, text=True, check=True).stdout
    assert "{{" not in text, f"{folder}: it would be read as a template"
    objects = {}
    for part in text.split("\n---\n"):
        part = HASH.sub(r"\1", part.strip("\n") + "\n")
        name = re.search(r"^metadata:\n(?:  .*\n)*?  name: (\S+)$", part, re.M)[1]
        objects[re.search(r"^kind: (\w+)$", part, re.M)[1], name] = part
    return objects


def replaced(pattern, by, text):
    """The text with each place of a pattern replaced, of which there has to be one at least."""
    text, count = re.subn(pattern, by, text)
    assert count, f"no {pattern} in:\n{text}"
    return text


def pods_templated(text, policy):
    """A DaemonSet with what values say of its pods."""
    text = replaced(IMAGE, r'\1{{ include "ctxprop.image" . }}', text)
    text = replaced(ARGUMENTS, r"\1        {{- range .Values.extraArgs }}\n        - {{ . | quote }}\n        {{- end }}\n", text)
    text = replaced(RESOURCES, "        resources:\n          {{- toYaml .Values.resources | nindent 10 }}\n", text)
    text = replaced(TOLERATIONS, "      {{- with .Values.tolerations }}\n      tolerations:\n"
                    "        {{- toYaml . | nindent 8 }}\n      {{- end }}\n", text)
    text = replaced("(?m)^      containers:\n", "      {{- with .Values.imagePullSecrets }}\n      imagePullSecrets:\n"
                    "        {{- toYaml . | nindent 8 }}\n      {{- end }}\n      containers:\n", text)
    # Who changes the policy wants it read.
    return replaced(LABELS, "  template:\n    metadata:\n      annotations:\n"
                    f"        ctxprop/policy: {{{{ .Values.{policy} | sha256sum }}}}\n      labels:\n", text)


def templated(key, text, policy):
    text = text.replace(NAMESPACE, "  namespace: {{ .Release.Namespace }}\n")
    if key[0] == "DaemonSet":
        return pods_templated(text, policy)
    if key[0] == "ConfigMap":
        return replaced(POLICY, f"  policy: |\n    {{{{- .Values.{policy} | nindent 4 }}}}\n", text)
    return text


def either(value, yes, no):
    """Lines that are `yes` if a value is set, or else `no`; what both have in common stands there once."""
    lines = []
    for same, a, b, c, d in difflib.SequenceMatcher(None, no, yes, autojunk=False).get_opcodes():
        if same == "equal":
            lines += no[a:b]
        elif c == d:
            lines += [f"{{{{- if not .Values.{value} }}}}\n", *no[a:b], "{{- end }}\n"]
        else:
            other = ["{{- else }}\n", *no[a:b]] if a < b else []
            lines += [f"{{{{- if .Values.{value} }}}}\n", *yes[c:d], *other, "{{- end }}\n"]
    return lines


def agent_templates(folder, value, policy):
    """{(kind, name): lines} of a kind of agents."""
    plain, monitored, drained = (rendered(prefix + folder) for prefix in ("", "monitoring/", "uninstall/"))
    assert set(plain) == set(drained), f"{folder}: uninstall has other objects"
    templates = {}
    for key, text in monitored.items():
        if key[0] == "Namespace":
            continue  # that of the release
        lines = templated(key, text, policy).splitlines(True)
        if key not in plain:
            templates[key] = ["{{- if .Values.monitoring.enabled }}\n", *lines, "{{- end }}\n"]
            continue  # for all agents
        lines = either("monitoring.enabled", lines, templated(key, plain[key], policy).splitlines(True))
        if drained[key] != plain[key]:
            lines = ["{{- if .Values.drain }}\n", templated(key, drained[key], policy), "{{- else }}\n", *lines, "{{- end }}\n"]
        templates[key] = [f"{{{{- if .Values.{value} }}}}\n", *lines, "{{- end }}\n"] if value else lines
    return templates


def indented(text, spaces):
    return "".join(f"{' ' * spaces}{line}\n" if line else "\n" for line in text.splitlines())


def found(pattern, objects, kind):
    return pattern.search(next(text for key, text in objects.items() if key[0] == kind))


def values():
    """The values as the manifests have them."""
    base = rendered("base")
    image = found(IMAGE, base, "DaemonSet")
    said = {"image": image[2], "tag": image[3],
            "resources": re.sub("^ {8}", "", found(RESOURCES, base, "DaemonSet")[1], flags=re.M).rstrip("\n"),
            "tolerations": re.sub("^ {4}", "", found(TOLERATIONS, base, "DaemonSet")[1], flags=re.M).rstrip("\n"),
            "policy": indented((K8S / "base/policy").read_text(encoding="utf-8"), 2),
            "gateway_policy": indented((K8S / "egress-gateway/policy").read_text(encoding="utf-8"), 4)}
    text = (HERE / "values.yaml.in").read_text(encoding="utf-8")
    head, _, body = text.partition("image:\n")  # what is said of this file does not belong into the chart
    body = re.sub(r"\$(\w+)", lambda match: said[match[1]], "image:\n" + body)
    return head.splitlines(True)[0] + body


def files(version):
    """{name: text} of the chart."""
    templates = {}
    for folder, value, policy in AGENTS:
        for key, lines in agent_templates(folder, value, policy).items():
            templates.setdefault(key, lines)
    chart = (HERE / "Chart.yaml.in").read_text(encoding="utf-8").replace("# make.py adds version and appVersion.\n", "")
    return {"Chart.yaml": f'{chart}version: {version}\nappVersion: "{version}"\n',
            "values.yaml": values(),
            "templates/_helpers.tpl": (HERE / "helpers.tpl").read_text(encoding="utf-8"),
            "templates/NOTES.txt": (HERE / "NOTES.txt").read_text(encoding="utf-8"),
            **{f"templates/{name}-{kind.lower()}.yaml": "".join([TITLE, *lines]) for (kind, name), lines in templates.items()}}


def write_archive(path, chart):
    """The same bytes for the same chart."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(chart.items()):
            member = tarfile.TarInfo(f"ctxprop/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    chart = files(given.version)
    shutil.rmtree(given.folder, ignore_errors=True)
    for name, text in chart.items():
        path = given.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    write_archive(given.folder.with_name(f"{given.folder.name}-{given.version}.tgz"), chart)


if __name__ == "__main__":
    main()
