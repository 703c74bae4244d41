# SPDX-License-Identifier: Apache-2.0
"""The rows of both tables: which program serves, how, and what share of its samples has to be right.

Placeholders in commands and environments: {build}, {here} (this folder), {made} (what was compiled for a run), {npm}, {folder}
(scratch), {port}, {java_21}, {tomcat}, {jetty}.
"""
from collections import namedtuple

# The families' bars of right samples, in per cent; what has none may be unknown.
THREADS, LOOPS, NODES, NONE = 99, 95, 90, 0
PYTHON = "/usr/bin/python3"

# server: argv; env: what is added to the environment. right: the bar in per cent. background: it burns for nobody, too.
# depth: so many requests are sent at a time on each connection. short: it is one of those of `--short`. make: what has to be
# compiled (needs.py). needs: what may be absent (needs.py). burns: {exact name of a function: a or b} where programs have none that
# tells; libraries: {how a library's name begins: a or b} where they write no truth either.
Row = namedtuple("Row", "name server env right background depth short make needs burns libraries",
                 defaults=({}, NONE, False, 1, False, "", "", {}, {}))
OWN = {"BACKGROUND": "1"}
LIBRARY = {"BURN_LIBRARY": "{build}/samples_burn.so"}  # of greenlets


def c(name, *words):
    return ["{build}/samples_" + name, "{port}", *words]


def python(script):
    return [PYTHON, "-B", f"{{here}}/python/{script}.py", "{port}"]


def gunicorn(*options):
    return [PYTHON, "-B", "-m", "gunicorn", "--chdir", "{here}/python", "-b", "0.0.0.0:{port}", "--log-level", "error", *options,
            "wsgi:application"]


def uvicorn(factory, loop="asyncio"):
    return [PYTHON, "-B", "-m", "uvicorn", "--app-dir", "{here}/python", "--host", "0.0.0.0", "--port", "{port}", "--loop", loop,
            "--log-level", "error", "--factory", f"asgi:{factory}"]


def node(*options):
    return ["node", *options, "{here}/node/http.js", "{port}"]


def framework(name):
    return ["node", "{here}/node/frameworks.js", "{port}", name]


NPM = {"NODE_PATH": "{npm}/node_modules"}


def go(way):
    return ["{made}/go/server", "{port}", way]


def java(server, *words, machine="java", classes=""):
    return [machine, "-cp", "{made}/java:" + classes, server, "{port}", *words]


def puma(way="", **more):
    return (["puma", "-q", "-t", "8:8", "-b", "tcp://0.0.0.0:{port}", "-e", "production", "{here}/ruby/config.ru"],
            {"WAY": way, **more})


def rust(*words):
    return ["{made}/rust/target/release/server", "{port}", *words]


def script(name):
    return ["{here}/" + name, "{port}", "{folder}"]


ROWS = (
    Row("C, threads", c("threads"), right=THREADS, short=True),
    Row("C, threads, background", c("threads", "background"), right=THREADS, background=True),
    Row("C, threads, a helper thread", c("threads", "helper"), right=THREADS),
    Row("C, epoll, no pause", c("epoll")),
    Row("C, epoll, no pause, pipelined", c("epoll"), depth=4),
    Row("C, epoll, timerfd", c("epoll", "pause"), short=True),
    Row("C, epoll, timerfd, background", c("epoll", "pause", "background"), background=True, short=True),
    Row("C, fibers", c("fibers")),
    Row("C, fibers, background", c("fibers", "background"), background=True),
    Row("Python, threads", python("threads"), right=THREADS),
    Row("Python, threads, background", python("threads"), OWN, THREADS, True),
    Row("Python, threads, pool", python("threads"), {"WAY": "pool"}, LOOPS),
    Row("Python, threads, queue", python("threads"), {"WAY": "queue"}, LOOPS),
    Row("gunicorn sync", gunicorn("-w", "2"), right=THREADS),
    Row("gunicorn gthread", gunicorn("-w", "1", "-k", "gthread", "--threads", "8"), right=THREADS),
    Row("gunicorn gevent", gunicorn("-w", "1", "-k", "gevent"), LIBRARY, LOOPS, short=True),
    Row("gunicorn gevent, background", gunicorn("-w", "1", "-k", "gevent"), {**LIBRARY, **OWN}, LOOPS, True),
    Row("gunicorn eventlet", gunicorn("-w", "1", "-k", "eventlet"), LIBRARY),
    Row("aiohttp", python("aio"), right=LOOPS),
    Row("aiohttp, await", python("aio"), {"WAY": "await"}, LOOPS, short=True),
    Row("aiohttp, await, background", python("aio"), {"WAY": "await", **OWN}, LOOPS, True, short=True),
    Row("aiohttp, executor", python("aio"), {"WAY": "executor"}, LOOPS),
    Row("aiohttp, uvloop", python("aio"), {"WAY": "await", "LOOP": "uvloop"}, LOOPS),
    Row("aiohttp, uvloop, background", python("aio"), {"WAY": "await", "LOOP": "uvloop", **OWN}, LOOPS, True),
    Row("aiohttp, await, pipelined", python("aio"), {"WAY": "await"}, depth=4),
    Row("aiohttp, uvloop, pipelined", python("aio"), {"WAY": "await", "LOOP": "uvloop"}, depth=4),
    Row("FastAPI, async def", uvicorn("fastapi"), right=LOOPS),
    Row("FastAPI, def", uvicorn("fastapi"), {"WAY": "def"}, LOOPS, short=True),
    Row("FastAPI, async def, uvloop", uvicorn("fastapi", "uvloop"), right=LOOPS),
    Row("FastAPI, async def, uvloop, pipelined", uvicorn("fastapi", "uvloop"), depth=4),
    Row("FastAPI, def, uvloop", uvicorn("fastapi", "uvloop"), {"WAY": "def"}, LOOPS),
    Row("FastAPI, async def, background", uvicorn("fastapi"), OWN, LOOPS, True),
    Row("Starlette, async def", uvicorn("starlette"), right=LOOPS),
    Row("Starlette, def", uvicorn("starlette"), {"WAY": "def"}, LOOPS),
    Row("Quart", uvicorn("quart")),
    Row("tornado", python("tornado_app"), right=LOOPS),
    Row("tornado, background", python("tornado_app"), OWN, LOOPS, True),
    Row("Node, no pause", node(), right=NODES),
    Row("Node, no pause, pipelined", node(), right=NODES, depth=4),
    Row("Node, await a timer", node(), {"WAY": "await"}, NODES, short=True),
    Row("Node, await a timer, background", node(), {"WAY": "await", **OWN}, NODES, True, short=True),
    Row("Node, await a timer, nothing inlined", node("--no-turbo-inlining"), {"WAY": "await"}, NODES),
    Row("Node, setTimeout", node(), {"WAY": "timer"}, NODES),
    Row("Node, promises", node(), {"WAY": "then"}, NODES),
    Row("Node, files and crypto", node(), {"WAY": "files"}, NODES),
    Row("express", framework("express"), NPM, NODES, needs="npm", short=True),
    Row("express, background", framework("express"), {**NPM, **OWN}, NODES, True, needs="npm"),
    Row("fastify", framework("fastify"), NPM, NODES, needs="npm"),
    Row("koa", framework("koa"), NPM, NODES, needs="npm"),
    Row("nest", framework("nest"), NPM, NODES, needs="npm"),
    Row("Go", go("handler"), right=THREADS, make="go", needs="errgroup", short=True),
    Row("Go, background", go("handler"), OWN, THREADS, True, make="go", needs="errgroup"),
    Row("Go, a pool by a channel", go("pool"), right=THREADS, make="go", needs="errgroup"),
    Row("Go, a pool by a channel, background", go("pool"), OWN, THREADS, True, make="go", needs="errgroup"),
    Row("Go, a pool by a buffer", go("buffer"), right=THREADS, make="go", needs="errgroup"),
    Row("Go, a pool, two jobs each", go("fan"), right=THREADS, make="go", needs="errgroup"),
    Row("Go, a pool, nobody waits", go("forget"), make="go", needs="errgroup"),
    Row("Go, several jobs at a time", go("several"), make="go", needs="errgroup"),
    Row("Go, several jobs, nobody waits", go("gather"), make="go", needs="errgroup"),
    Row("Go, errgroup", go("group"), right=THREADS, make="go", needs="errgroup"),
    Row("Java, pool", java("Server", "pool"), right=LOOPS, make="java", short=True),
    Row("Java, pool, background", java("Server", "pool"), OWN, LOOPS, True, make="java"),
    Row("Java, CompletableFuture", java("Server", "pool", "async"), right=LOOPS, make="java"),
    Row("Java, virtual threads", java("Server", "virtual", machine="{java_21}"), make="java", needs="java_21"),
    Row("Java, virtual threads, background", java("Server", "virtual", machine="{java_21}"), OWN, NONE, True, make="java",
        needs="java_21"),
    Row("Tomcat", java("Servlet", classes="{tomcat}"), right=LOOPS, make="tomcat", needs="tomcat"),
    Row("Tomcat, async", java("Servlet", "async", classes="{tomcat}"), right=LOOPS, make="tomcat", needs="tomcat"),
    Row("Jetty", java("JettyServer", classes="{jetty}"), right=LOOPS, make="jetty", needs="jetty"),
    Row("puma", *puma(), right=THREADS),
    Row("puma, background", *puma(**OWN), right=THREADS, background=True),
    Row("Sinatra", *puma("sinatra"), right=THREADS, needs="sinatra"),
    Row("Async::HTTP (Falcon)", ["ruby", "{here}/ruby/fibers.rb", "{port}"], needs="async"),
    Row("Async::HTTP (Falcon), background", ["ruby", "{here}/ruby/fibers.rb", "{port}"], OWN, background=True, needs="async"),
    Row("php-fpm", script("php/fpm.sh"), right=THREADS, burns={"PHP_MD5Update": "a", "PHP_SHA1Update": "b"}),
    Row("nginx", script("proxy/nginx.sh"), right=THREADS, burns={"deflate": "a", "pcre2_match_8": "b"},
        libraries={"libz.so": "a", "libpcre2": "b"}, short=True),
    Row("HAProxy", script("proxy/haproxy.sh"), right=LOOPS, burns={"SHA512_Update": "a", "pcre2_match_8": "b"},
        libraries={"libcrypto": "a", "libpcre2": "b"}),
    Row("tokio, one thread", rust("one"), make="rust", needs="rust"),
    Row("tokio, one thread, background", rust("one", "background"), background=True, make="rust", needs="rust"),
    Row("tokio, four threads", rust("threads"), make="rust", needs="rust"),
)
