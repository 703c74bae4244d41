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
NAMESPACE = re.compile(r"^( +namespace: )ctxprop$", re.M)
# Values that add something: the folders in which overlays do.
FEATURES = ("pods", "monitoring")
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
    text = NAMESPACE.sub(r"\1{{ .Release.Namespace }}", text)
    if key[0] == "DaemonSet":
        return pods_templated(text, policy)
    if key[0] == "ConfigMap":
        return replaced(POLICY, f"  policy: |\n    {{{{- .Values.{policy} | nindent 4 }}}}\n", text)
    return text


def changes(plain, other):
    """[(begin, end, lines)]: in place of which lines, or in front of which one, the other text has which ones."""
    matcher = difflib.SequenceMatcher(None, plain, other, autojunk=False)
    return [(a, b, other[c:d]) for same, a, b, c, d in matcher.get_opcodes() if same != "equal"]


def change(value, lines, instead):
    """Lines that are there if a value is set, and those that are there if not."""
    if not lines:
        return [f"{{{{- if not .Values.{value}.enabled }}}}\n", *instead, "{{- end }}\n"]
    other = ["{{- else }}\n", *instead] if instead else []
    return [f"{{{{- if .Values.{value}.enabled }}}}\n", *lines, *other, "{{- end }}\n"]


def woven(plain, features):
    """Lines with what each feature ({value: its lines}) changes in them; what all have in common stands there once."""
    at = {}
    for value, lines in features.items():
        for begin, end, new in changes(plain, lines):
            at.setdefault(begin, []).append((value, end, new))
    result, place = [], 0
    while place <= len(plain):
        end = place
        for value, stop, new in at.get(place, []):
            assert end == place or stop == place, "two features change the same lines"
            result += change(value, new, plain[place:stop])
            end = max(end, stop)
        assert not any(place < begin < end for begin in at), "a feature changes what another one replaces"
        if end == place:
            result += plain[place:place + 1]
            end = place + 1
        place = end
    return result


def agent_templates(folder, value, policy):
    """{(kind, name): lines} of a kind of agents."""
    plain, drained = rendered(folder), rendered(f"uninstall/{folder}")
    features = {feature: rendered(f"{feature}/{folder}") for feature in FEATURES}
    assert set(plain) == set(drained), f"{folder}: uninstall has other objects"

    def lines_of(objects, key):
        return templated(key, objects[key], policy).splitlines(True)
    templates = {}
    for key in plain:
        if key[0] == "Namespace":
            continue  # that of the release
        lines = woven(lines_of(plain, key), {feature: lines_of(objects, key) for feature, objects in features.items()})
        if drained[key] != plain[key]:
            lines = ["{{- if .Values.drain }}\n", *lines_of(drained, key), "{{- else }}\n", *lines, "{{- end }}\n"]
        templates[key] = [f"{{{{- if .Values.{value} }}}}\n", *lines, "{{- end }}\n"] if value else lines
    for feature, objects in features.items():
        for key in objects.keys() - plain.keys():  # those for all agents are the same in each folder
            lines = [f"{{{{- if .Values.{feature}.enabled }}}}\n", *lines_of(objects, key), "{{- end }}\n"]
            own = value and key[1].endswith("-egress")
            templates[key] = [f"{{{{- if .Values.{value} }}}}\n", *lines, "{{- end }}\n"] if own else lines
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
