# SPDX-License-Identifier: Apache-2.0
"""A kubelet as far as `GET /pods` goes, by http or by https with a bearer token; and cgroups as kubelets name them."""
import contextlib
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
from pathlib import Path

import hooks

HASH = "5d4f7c9b8"  # of the template of a Deployment's pods
CGROUPS = next(path for path in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")) if (path / "cgroup.procs").exists())
ENDED_SECONDS = 10


def pod(name, uid, container, identifier, owner=("ReplicaSet", f"cart-{HASH}")):
    """A pod in the shape of a kubelet's answer, without what nobody here reads of its specification."""
    kind, controller = owner
    return {
        "metadata": {
            "name": name, "namespace": "shop", "uid": uid, "generateName": f"{controller}-",
            "labels": {"app": "cart", "pod-template-hash": HASH},
            "annotations": {"kubernetes.io/config.seen": "2026-11-28T10:00:00.000000000Z", "kubernetes.io/config.source": "api"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": controller, "controller": True,
                                 "uid": "0aa5b7c1-3c41-4f54-9b1c-5f3b8d3c7a10", "blockOwnerDeletion": True}]},
        "spec": {"nodeName": "node-1", "containers": [{"name": container, "image": "registry.example/cart:1", "resources": {}}]},
        "status": {"phase": "Running", "hostIP": "10.77.0.1", "podIP": "10.98.1.2", "qosClass": "Burstable",
                   "initContainerStatuses": [{"name": "prepare", "state": {"terminated": {"exitCode": 0}},
                                              "containerID": f"containerd://{'f' * 64}"}],
                   "containerStatuses": [{"name": container, "ready": True, "started": True, "restartCount": 0,
                                          "state": {"running": {"startedAt": "2026-11-28T10:00:01Z"}},
                                          "containerID": f"containerd://{identifier}"}]}}


class Kubelet:
    """One in a host. `pods`: what it lists; `body`: what it answers instead; `seconds`: how late."""

    def __init__(self, host, address, token=None, certificate=None):
        self.pods, self.body, self.seconds, self.token, self.asked = [], None, 0, token, 0
        with hooks.inside(host):
            self.server = http.server.ThreadingHTTPServer((address, 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http{'s' if certificate else ''}://{address}:{self.server.server_address[1]}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, field):
        """(status, body) for a request."""
        self.asked += 1
        if self.token and field != f"Bearer {self.token}":
            return 401, "Unauthorized"
        if path != "/pods":
            return 404, "404 page not found"
        time.sleep(self.seconds)
        return 200, self.body or json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": self.pods or None})

    def handler(self):
        kubelet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                status, body = kubelet.answer(self.path, self.headers.get("Authorization"))
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        return Handler

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def certificate(folder, address):
    """(certificate, key) for an address, signed by itself."""
    names = folder / "kubelet.crt", folder / "kubelet.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=node-1",
                    "-addext", f"subjectAltName=IP:{address}", "-out", names[0], "-keyout", names[1]],
                   check=True, capture_output=True)
    return names


@contextlib.contextmanager
def cgroup(uid, identifier):
    """The cgroup of a container, of which nothing is left behind."""
    root = CGROUPS / f"ctxprop-{os.getpid()}"
    path = root / "kubepods/burstable" / f"pod{uid}" / identifier
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        end = time.monotonic() + ENDED_SECONDS
        while (path / "cgroup.procs").read_text() and time.monotonic() < end:
            time.sleep(0.05)
        while path != CGROUPS:
            with contextlib.suppress(OSError):  # another pod is below it
                path.rmdir()
            path = path.parent
