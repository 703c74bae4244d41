# SPDX-License-Identifier: Apache-2.0
"""Checks of the Kubernetes manifests, as kustomize renders them, and of the policies in them."""
import re
import subprocess

from skip import Skip

CAPABILITIES = ["BPF", "NET_ADMIN", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH"]
# Each overlay's capabilities, and whether it is to find pods by their processes.
OVERLAYS = {"k8s/base": ([*CAPABILITIES, "SYS_ADMIN", "NET_BROADCAST"], True),
            "k8s/egress-gateway": (CAPABILITIES, False)}
# Each overlay that takes one of them away.
UNINSTALL = ("k8s/uninstall/base", "k8s/uninstall/egress-gateway")
# What every rendered DaemonSet has, and what it must not have.
WANTED = ("hostNetwork: true", "privileged: false", "allowPrivilegeEscalation: false",
          "readOnlyRootFilesystem: true", "path: /sys/fs/bpf", "startupProbe:", "readinessProbe:",
          "livenessProbe:", "path: /readyz\n", "- --wait-for-policy\n")
UNWANTED = ("privileged: true",)


def documents(files, folder):
    """{kind: text} of what kustomize makes of a folder."""
    done = subprocess.run(["kubectl", "kustomize", files.path(folder)], capture_output=True,
                          text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return {re.search(r"^kind: (\w+)", text, re.M)[1]: text
            for text in done.stdout.split("\n---\n")}


def complaints(rendered, capabilities, enters_pods):
    agent, policy = rendered.get("DaemonSet", ""), rendered.get("ConfigMap", "")
    for text in WANTED:
        if text not in agent:
            yield f"no {text}"
    for text in UNWANTED:
        if text in agent:
            yield f"it has {text}"
    added = re.search(r"^( *)add:\n((?:\1- \w+\n)+)", agent, re.M)
    if not added or re.findall(r"- (\w+)", added[2]) != capabilities:
        yield f"the capabilities are not {capabilities}"
    for text in ("hostPID: true", "- --netns\n"):
        if (text in agent) != enters_pods:
            yield f"{text.strip()}: expected {enters_pods}"
    name = re.search(r"^  name: (\S+)", policy, re.M)
    if not name or f"name: {name[1]}\n" not in agent:
        yield "the agent does not mount the rendered ConfigMap"
    for kind, key in (("ServiceAccount", "serviceAccountName"), ("PriorityClass", "priorityClassName")):
        name = re.search(r"^  name: (\S+)", rendered.get(kind, ""), re.M)
        if not name or f"{key}: {name[1]}\n" not in agent:
            yield f"the agent does not run with the rendered {kind}"
    labels = re.search(r"^  selector:\n(    matchLabels:\n(?:      \S+: \S+\n)+)", agent, re.M)
    if not labels or f"  selector:\n{labels[1]}" not in f"{rendered.get('PodDisruptionBudget', '')}\n":
        yield "the PodDisruptionBudget is not for the agent's pods"


def manifests(files):
    """kustomize renders the manifests, with few rights."""
    for folder, overlay in OVERLAYS.items():
        try:
            rendered = documents(files, folder)
        except ValueError as error:
            yield f"{folder}: {error}"
            continue
        yield from (f"{folder}: {line}" for line in complaints(rendered, *overlay))
    if "Namespace" not in documents(files, "k8s/base"):
        yield "k8s/base: it makes no namespace"


manifests.needs = ("kubectl",)


def monitoring(files):
    """With Prometheus the agents serve metrics alone, at the address of their node, and are found by their labels."""
    for folder in OVERLAYS:
        folder = folder.replace("k8s/", "k8s/monitoring/")
        try:
            rendered = documents(files, folder)
        except ValueError as error:
            yield f"{folder}: {error}"
            continue
        agent, service = rendered.get("DaemonSet", ""), rendered.get("Service", "")
        for text in ("- --metrics\n        - '[$(NODE_IP)]:9464'\n", "fieldPath: status.hostIP\n", "hostPort: 9464\n"):
            if text not in agent:
                yield f"{folder}: no {text.strip()}"
        for text in ("host: 127.0.0.1", "- --http\n"):
            if text in agent:
                yield f"{folder}: it has {text.strip()}"
        label = "app.kubernetes.io/name: ctxprop\n"
        if f"  selector:\n    {label}" not in f"{service}\n" or f"        {label}" not in agent:
            yield f"{folder}: the Service does not select the agents"
        if f"    matchLabels:\n      {label}" not in f"{rendered.get('ServiceMonitor', '')}\n" or f"    {label}" not in service:
            yield f"{folder}: the ServiceMonitor does not select the Service"


monitoring.needs = ("kubectl",)


def containers(agent, key):
    """The part of a rendered pod that lists its containers, or those of its beginning."""
    part = re.search(rf"^      {key}:\n((?:      [- ].*\n)+)", agent, re.M)
    return part[1] if part else ""


def uninstall(files):
    """The overlays that uninstall drain every node once, and start no agent again."""
    for folder in UNINSTALL:
        try:
            agent = documents(files, folder)["DaemonSet"]
        except (ValueError, KeyError) as error:
            yield f"{folder}: {error}"
            continue
        first, then = containers(agent, "initContainers"), containers(agent, "containers")
        if "- --drain\n" not in first:
            yield f"{folder}: nothing is drained"
        if "- ctxprop\n        - monitor\n" not in then or "args:" in then:
            yield f"{folder}: the agent is started again"
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if probe in agent:
                yield f"{folder}: {probe}: nobody answers there"


uninstall.needs = ("kubectl",)


def sample(files):
    """The sample policy that is installed, and what each of its steps is without the comment."""
    text = files.text("share/policy")
    sets = "".join(re.findall(r"^#(set .*\n)", text, re.M))
    yield text
    for block in text.split("\n\n"):
        rules = re.findall(r"^#(policy .*)$", block, re.M)
        if rules:
            yield sets + "\n".join(rules) + "\n"


def policies(files):
    """The policies in the manifests and the one that is installed are such."""
    program = files.build / "ctxprop"
    if not program.exists():
        raise Skip(f"{program} is not built")
    for folder in OVERLAYS:
        # Without a daemon it gets as far as reading the file; that names the line of a mistake.
        said = subprocess.run(["unshare", "--net", program, "policy", "restore", f"{folder}/policy"],
                              capture_output=True, text=True).stderr
        if "no ctxpropd runs" not in said:
            yield f"{folder}/policy: {said.strip()}"
    for text in sample(files):
        said = subprocess.run(["unshare", "--net", program, "policy", "restore"], input=text,
                              capture_output=True, text=True).stderr
        if "no ctxpropd runs" not in said:
            yield f"share/policy: {said.strip()}"


policies.needs = ("unshare",)
