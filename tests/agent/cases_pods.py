# SPDX-License-Identifier: Apache-2.0
"""Names of pods and containers, by a kubelet that answers well, badly, late or not at all."""
import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

from daemon import wait_for
from kubelet import HASH, Kubelet, certificate, cgroup, pod
from logged import logged

NODE = "10.77.0.1"
TOKEN = "a-token-that-nobody-may-see"
UID, OTHER_UID = "2c48913c-b29f-11e7-9350-020968147796", "2c48913c-b29f-11e7-9350-020968147797"
ID, OTHER_ID = "8e" * 32, "9f" * 32
PORT, OTHER_PORT = 8101, 8102
MISSED_SECONDS = 15  # until a pod is known that was not when its first request came
END_SECONDS = 8
SQL = "SELECT path, attributes FROM spans JOIN service_attributes USING (service_id) WHERE kind = 2 ORDER BY start_ns"
NAMES = {"k8s.pod.uid": UID, "k8s.pod.name": f"cart-{HASH}-x7x2q", "k8s.namespace.name": "shop", "k8s.node.name": "node-1",
         "k8s.deployment.name": "cart", "k8s.replicaset.name": f"cart-{HASH}", "k8s.container.name": "web"}


@contextlib.contextmanager
def serving(bench, where, port):
    """A server in a container's cgroup, with names in its environment that are not the pod's."""
    process = bench.node.spawn(["sh", "-c", f"echo $$ >{where}/cgroup.procs && HOSTNAME=other POD_NAME=other POD_NAMESPACE=other "
                                f"exec python3 -m http.server --bind {NODE} {port}"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.node.wait_port(port)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def get(bench, port, path):
    bench.peer.run(["curl", "-sS", "-m", "10", "-o", "/dev/null", f"http://{NODE}:{port}{path}"])


def attributes(bench, store, path):
    """Those of the span of a path; None: it is not there."""
    done = bench.agent.ctxprop("sql", "--store", store, "-j", SQL)
    found = [json.loads(row["attributes"]) for row in json.loads(done.stdout or "[]") if row["path"] == path]
    return found[-1] if found else None


def check_names(bench, store, port, path, names, what):
    """The attributes that a request has, which is repeated until they are right, are all that there are of Kubernetes."""
    def is_right():
        get(bench, port, path)
        time.sleep(0.2)  # until the span is stored
        got = attributes(bench, store, path)
        return got and {key: value for key, value in got.items() if key.startswith("k8s.")} == names
    bench.check(wait_for(is_right, MISSED_SECONDS), what, f"{attributes(bench, store, path)}\n{bench.agent.log()}")


def case_pods(bench):
    """By https with a token: spans have the names of pod, namespace, node, container and Deployment, of the right pod."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        names, store = certificate(folder, NODE), folder / "store.db"
        (folder / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
        kubelet = Kubelet(bench.node, NODE, TOKEN, names)
        stack.callback(kubelet.close)
        kubelet.pods = [pod("other", OTHER_UID[::-1], "other", OTHER_ID[::-1]),
                        pod(NAMES["k8s.pod.name"], UID, "web", ID)]
        bench.start("--store", store, "--kubelet", kubelet.url.replace(NODE, f"[{NODE}]"),
                    "--kubelet-token", folder / "token", "--kubelet-ca", names[0])
        bench.check(bench.agent.logs("kubelet-answers", ": 2 pods"), "it is asked", bench.agent.log())
        for uid, identifier, port in ((UID, ID, PORT), (OTHER_UID, OTHER_ID, OTHER_PORT)):
            stack.enter_context(serving(bench, stack.enter_context(cgroup(uid, identifier)), port))
        check_names(bench, store, PORT, "/first", NAMES, "its names, and no others")
        # A pod that is not listed yet has the names that its environment says, as without a kubelet.
        unknown = {"k8s.pod.uid": OTHER_UID, "k8s.pod.name": "other", "k8s.namespace.name": "other"}
        check_names(bench, store, OTHER_PORT, "/unknown", unknown, "a pod that is not listed has none of another one")
        kubelet.pods.append(pod("cart-0", OTHER_UID, "db", OTHER_ID, ("StatefulSet", "cart")))
        listed = {"k8s.pod.uid": OTHER_UID, "k8s.pod.name": "cart-0", "k8s.namespace.name": "shop", "k8s.node.name": "node-1",
                  "k8s.statefulset.name": "cart", "k8s.container.name": "db"}
        check_names(bench, store, OTHER_PORT, "/later", listed, "soon after it is listed it has its own")
        check_names(bench, store, PORT, "/last", NAMES, "and the first one still has its own")
        bench.check(TOKEN not in bench.agent.log(), "the log has no token")
        bench.agent.stop()


def case_pods_failing(bench):
    """A kubelet that refuses, says nonsense, is late or away: said once, requests go on, and so does the end."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        store, names = folder / "store.db", certificate(folder, NODE)
        (folder / "token").write_text("wrong\n", encoding="utf-8")
        kubelet = Kubelet(bench.node, NODE, TOKEN, names)
        stack.callback(kubelet.close)
        stack.enter_context(serving(bench, stack.enter_context(cgroup(UID, ID)), PORT))
        options = ["--store", store, "--kubelet", kubelet.url, "--kubelet-token", folder / "token"]
        for more, answer, part in (([], None, "certificate"), (["--kubelet-ca", names[0]], None, "401"),
                                   (["--kubelet-ca", names[0]], "{", "line 1"),
                                   (["--kubelet-ca", names[0]], '{"kind": "Status"}', "no PodList")):
            if answer:
                (folder / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
            kubelet.body = answer
            bench.start(*options, *more)
            bench.check(bench.agent.logs("kubelet-failed", part), f"{part}: the log says so", bench.agent.log())
            get(bench, PORT, f"/{len(part)}")
            bench.check(wait_for(lambda part=part: attributes(bench, store, f"/{len(part)}")), f"{part}: requests have spans")
            time.sleep(1)
            bench.check(len(logged(bench.agent.log(), "kubelet-failed")) == 1, f"{part}: said once", bench.agent.log())
            bench.agent.stop()
        kubelet.body, kubelet.seconds, kubelet.asked = None, 60, 0
        bench.start(*options, "--kubelet-ca", names[0])
        bench.check(wait_for(lambda: kubelet.asked), "one that does not answer is asked")
        begin = time.monotonic()
        bench.check(bench.agent.stop() == 0 and time.monotonic() - begin < END_SECONDS, "which does not hold up the end",
                    f"{time.monotonic() - begin:.1f} s")
        kubelet.seconds = 0


def case_pods_plain(bench):
    """By http no token is sent, whatever is configured; what is no URL of a kubelet is refused."""
    with tempfile.TemporaryDirectory() as folder:
        token = pathlib.Path(folder) / "token"
        token.write_text(TOKEN, encoding="utf-8")
        kubelet = Kubelet(bench.node, NODE, TOKEN)  # which wants one, so it answers 401 without
        bench.start("--http", "127.0.0.1:9464", "--kubelet", kubelet.url, "--kubelet-token", token)
        bench.check(bench.agent.logs("kubelet-failed", "401"), "no token goes by http", bench.agent.log())
        bench.agent.stop()
        kubelet.close()
    for url in ("10.0.0.1:10250", "https://10.0.0.1:10250/pods", "https://me:secret@10.0.0.1", "ftp://a", "https://"):
        bench.check(bench.agent.daemon("--kubelet", url).returncode == 2, f"--kubelet {url}: exit 2")
