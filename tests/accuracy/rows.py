# SPDX-License-Identifier: Apache-2.0
"""The rows of the matrix: which program serves, how, and what its clients ask of it.

Placeholders in commands, environments and templates: {build}, {apps}, {made} (what was compiled
for a run), {folder} (scratch), {python}, {address}, {port}, {listen}, {upstream}, {inner}.
"""
import dataclasses

PORT, INNER_PORT = 8080, 8081
SLOW = (0, 10)  # ms: the range that a pause is drawn from
NONE = (0, 0)


@dataclasses.dataclass(frozen=True)
class Program:
    """A process of the application; ready: the port that it listens on, or a file's path."""
    argv: tuple
    env: dict = dataclasses.field(default_factory=dict)
    conf: dict = dataclasses.field(default_factory=dict)  # file in {folder} -> (template, values)
    ready: int | str = PORT


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    programs: tuple
    modes: str = "s"
    calls: tuple = (1, 3)
    pauses: tuple = SLOW
    make: str = ""        # what has to be compiled: go, java, tomcat, jetty, dotnet, rust
    needs: str = ""       # what may be absent: a name of MAY_BE_ABSENT (world.py)
    asks: str = "trace"   # what a request brings: trace (traceparent), root (nothing), id (x-request-id)
    named: bool = False   # {upstream} has a name in place of its address
    lo: bool = False      # client, application and upstream in one namespace
    background: bool = False  # the program makes calls of its own
    health: bool = False  # other clients ask, without x-truth, for nothing
    new_connections: float = 0.3  # part of the requests that end their connection
    answer: int = 2       # bytes of the upstream's answers
    slow: bool = False    # it takes long to build: not in the short table


def c(name, *arguments, **env):
    return Program((f"{{build}}/accuracy_{name}", "{listen}", *arguments), env)


def python(script, port=PORT, address="{address}", **env):
    return Program(("{python}", "-B", f"{{apps}}/python/{script}.py", address, str(port)), env,
                   ready=port)


def gunicorn(*options):
    return Program(("{python}", "-B", "-m", "gunicorn", "--chdir", "{apps}/python", "-b",
                    "{listen}", "--backlog", "1024", "--log-level", "error", *options,
                    "wsgi:application"))


def uwsgi(*options):
    return Program(("uwsgi", "--plugin", "http,python3", "--http", "{listen}", "--listen", "100",
                    "--master", "--chdir", "{apps}/python", "--module", "wsgi:application",
                    "--disable-logging", *options))


def uvicorn(loop, **env):
    return Program(("{python}", "-B", "-m", "uvicorn", "--app-dir", "{apps}/python", "--host",
                    "{address}", "--port", "{port}", "--backlog", "1024", "--loop", loop,
                    "--log-level", "error", "asgi:application"), env)


def node(**env):
    return Program(("node", "{apps}/node/server.js", "{address}", "{port}"), env)


def node_way(way, **env):
    return Program(("node", "{apps}/node/ways.js", "{address}", "{port}", way), env)


def node_bare(way, **env):
    return Program(("node", "{apps}/node/bare.js", "{address}", "{port}", way), env)


NODE_CLUSTER = Program(("node", "{apps}/node/cluster.js", "{address}", "{port}"))
REDIS = Program(("redis-server", "--bind", "127.0.0.1", "--port", "6379", "--dir", "{folder}", "--save", ""),
                ready=6379)
# Node of another origin than Debian does not look for Debian's modules.
REDIS_NODE = (REDIS, node(REDIS="6379", NODE_PATH="/usr/share/nodejs"))


def node_workers(**env):
    return Program(("node", "{apps}/node/workers.js", "{address}", "{port}"), env)


def go(**env):
    return Program(("{made}/go/server", "{listen}"), env)


def go_http2(kind="http2", **env):
    """One that calls by HTTP/2 (or gRPC) and one that serves that, on one connection."""
    program = (f"{{made}}/go_{kind}/server",)
    return (Program(program, {"BACK": f":{INNER_PORT}", **env}, ready=INNER_PORT),
            Program(program, {"FRONT": f":{PORT}", "BACK": f"127.0.0.1:{INNER_PORT}"}))


def java(client, *arguments, machine="java", classes="", server="Server", options=()):
    return Program((machine, "-cp", "{made}/java:" + classes, "-XX:TieredStopAtLevel=1", *options,
                    server, "{address}", "{port}", client, *arguments))


def tomcat(*arguments, options=()):
    return java("url", *arguments, classes="{tomcat}", server="TomcatServer", options=options)


def jetty():
    return java("url", classes="{jetty}", server="JettyServer")


def nginx(way, next_hop="{upstream}"):
    values = {"way": way, "next": next_hop, "connection": "" if way == "kept" else "close"}
    return Program(("nginx", "-c", "{folder}/nginx.conf", "-e", "{folder}/error.log"),
                   conf={"nginx.conf": ("proxy/nginx.conf.in", values)})


def haproxy(threads=1, reuse="always", server="", check=""):
    values = {"threads": str(threads), "reuse": reuse, "server": server, "check": check,
              "next": "{upstream}"}
    return Program(("haproxy", "-q", "-db", "-f", "{folder}/haproxy.cfg"),
                   conf={"haproxy.cfg": ("proxy/haproxy.cfg.in", values)})


def php_fpm(listen, connect, ready):
    """FPM behind nginx, over a unix or a loopback socket."""
    front = Program(("nginx", "-c", "{folder}/nginx.conf", "-e", "{folder}/error.log"),
                    conf={"nginx.conf": ("php/nginx.conf.in", {"fastcgi": connect})})
    fpm = Program(("{php_fpm}", "-R", "-F", "-y", "{folder}/fpm.conf"), ready=ready,
                  conf={"fpm.conf": ("php/fpm.conf.in", {"fastcgi_listen": listen,
                                                         "children": "16"})})
    return fpm, front


def socat(how):
    """A process for each connection, which serves it on its standard input."""
    return Program(("socat", "TCP-LISTEN:{port},bind={address},fork,reuseaddr,backlog=1024",
                    "EXEC:{python} -B -S {apps}/inetd/request.py" + how))


SYSTEMD_INETD = Program(("systemd-socket-activate", "-l", "{listen}", "-E", "UPSTREAM", "--inetd",
                         "-a", "/bin/sh", "{apps}/inetd/request.sh"))

PUMA = Program(("puma", "-q", "-t", "8:8", "-b", "tcp://{listen}", "-e", "production",
                "{apps}/ruby/config.ru"))


def ruby(script, *arguments):
    return Program(("ruby", f"{{apps}}/ruby/{script}.rb", "{address}", "{port}", *arguments))


def rust(*threads, **env):
    return Program(("{made}/rust/target/release/server", "{listen}", *threads), env)


def erlang(**env):
    return Program(("escript", "{apps}/erlang/server.erl", "{address}", "{port}"), env)


CHECK = ("option httpchk", "http-check send meth GET uri / hdr x-truth none")

ROWS = (
    # One thread serves a request from its first byte to its last.
    Row("c-threads", "C, a thread per connection", (c("threads"),)),
    Row("c-threads-more", "the same, calls from threads made for the request", (c("threads"),),
        modes="tp"),
    Row("c-prefork", "C, 16 processes that accept", (c("prefork", "accept"),)),
    Row("c-fork", "C, a process per connection", (c("prefork", "fork"),)),
    Row("c-fork-more", "the same, calls from children and threads", (c("prefork", "fork"),),
        modes="ftp"),
    Row("inetd", "Python, a process that socat makes with the connection (EXEC, nofork)",
        (socat(",nofork"),), modes="scgo", background=True),
    Row("inetd-pair", "the same, socat copies to it what it reads (EXEC)", (socat(""),),
        modes="scgo", background=True),
    Row("inetd-sh", "sh and curl, made by systemd-socket-activate --inetd", (SYSTEMD_INETD,),
        modes="sp"),
    Row("python-threads", "Python ThreadingHTTPServer", (python("threads"),)),
    Row("python-threads-more", "the same, calls from threads made for the request",
        (python("threads"),), modes="tp"),
    Row("python-contexts", "the same, and a pool, in contexts (contextvars) of their own",
        (python("threads", CONTEXTS="1"),), modes="sq"),
    Row("gunicorn-sync", "gunicorn, sync workers", (gunicorn("-w", "4"),)),
    Row("gunicorn-gthread", "gunicorn, gthread workers",
        (gunicorn("-w", "2", "-k", "gthread", "--threads", "8"),)),
    Row("gunicorn-gevent", "gunicorn, gevent workers, calls from greenlets made for the request, too",
        (gunicorn("-w", "2", "-k", "gevent"),), modes="stp"),
    Row("java-executor", "Java HttpServer, executor, HttpURLConnection", (java("url"),),
        make="java"),
    Row("java-executor-more", "the same, calls from threads made for the request", (java("url"),),
        make="java", modes="tp"),
    Row("tomcat", "Tomcat, calls by its threads and by another executor", (tomcat(),),
        make="tomcat", needs="tomcat", modes="sq"),
    Row("jetty", "Jetty, calls by its threads and by another executor", (jetty(),), make="jetty",
        needs="jetty", modes="sq"),
    Row("php-cli", "php -S, 4 workers", (Program(
        ("php", "-S", "{listen}", "{apps}/php/index.php"),
        {"PHP_CLI_SERVER_WORKERS": "4"}),), modes="sc"),
    # One event loop serves all requests; pauses are the upstream's.
    Row("c-epoll", "C, epoll", (c("epoll"),), modes="sp", pauses=NONE),
    Row("c-epoll-unwatched", "the same, requests' connections are not watched meanwhile",
        (c("epoll", UNWATCHED="1"),), modes="sp", pauses=NONE),
    Row("nginx-kept", "nginx proxy_pass, upstream keepalive", (nginx("kept"),), pauses=NONE,
        calls=(1, 1)),
    Row("nginx-new", "nginx proxy_pass, a connection per call", (nginx("new"),), pauses=NONE,
        calls=(1, 1)),
    Row("haproxy", "HAProxy, one thread", (haproxy(),), pauses=NONE, calls=(1, 1)),
    Row("haproxy-new", "HAProxy, no reuse", (haproxy(reuse="never", server="pool-max-conn 0"),),
        pauses=NONE, calls=(1, 1)),
    Row("haproxy-threads", "HAProxy, two threads", (haproxy(threads=2),), pauses=NONE,
        calls=(1, 1)),
    Row("node-kept", "Node http, keep-alive agent", (node(),), pauses=NONE),
    Row("node-new", "Node http, a connection per call", (node(KEEP="0"),), pauses=NONE),
    Row("node-parallel", "Node http, parallel calls", (node(),), modes="p", calls=(2, 3),
        pauses=NONE),
    Row("node-names", "Node http, keep-alive agent, a host's name", (node(),), modes="sp",
        pauses=NONE, named=True),
    Row("node-names-new", "Node http, a connection per call to a host's name", (node(KEEP="0"),),
        modes="sp", pauses=NONE, named=True),
    Row("node-later", "Node http, calls begun from setImmediate()", (node(LATER="1"),), modes="sp",
        pauses=NONE),
    Row("node-fetch", "Node, fetch() from a host's name", (node(CLIENT="fetch"),), modes="sp",
        pauses=NONE, named=True),
    Row("node-cluster", "Node's cluster, two processes that are given their connections",
        (NODE_CLUSTER,), modes="sp", pauses=NONE),
    Row("aiohttp", "aiohttp, server and client", (python("aio"),), modes="sp", pauses=NONE),
    Row("starlette", "Starlette by uvicorn, calls by httpx", (uvicorn("asyncio"),), modes="spg"),
    Row("starlette-middleware", "the same behind two middlewares, each with a task for what is within",
        (uvicorn("asyncio", MIDDLEWARE="2"),), modes="spg"),
    Row("asyncio", "asyncio, a task per connection", (python("streams"),), modes="sp"),
    Row("tornado", "Tornado, server and client", (python("tornado_app"),), modes="sp",
        pauses=NONE, needs="tornado"),
    # Pools: another thread than the reader works.
    Row("python-executor", "Python, reader thread and ThreadPoolExecutor", (python("executor"),)),
    Row("python-pool", "ThreadingHTTPServer, calls by a pool, by threads with a queue, by pools that requests make",
        (python("threads"),), modes="qje"),
    Row("python-queue", "ThreadingHTTPServer, calls by threads with a queue.Queue",
        (python("threads", JOBS="Queue"),), modes="j"),
    Row("waitress", "waitress: one thread reads, others serve, and call by threads and a pool",
        (python("reader"),), needs="waitress", modes="stq"),
    Row("asyncio-executor", "asyncio, calls by a pool of threads", (python("streams"),), modes="q"),
    Row("starlette-background", "Starlette, background tasks behind some responses (FastAPI has the same)",
        (uvicorn("asyncio"),), modes="ssb", background=True),
    Row("starlette-threads", "Starlette, endpoints in threads of anyio's, and calls by a pool",
        (uvicorn("asyncio"),), modes="dq"),
    Row("starlette-uvloop", "the same, and calls by httpx, in uvloop", (uvicorn("uvloop"),),
        modes="spgdq"),
    Row("java-pool", "Java HttpServer, calls by another executor", (java("url"),), make="java",
        modes="q"),
    Row("java-virtual", "the same, a virtual thread for each request (Java 21 or later)",
        (java("url", "virtual", machine="{java_21}"),), make="java", needs="java_21",
        modes="sq"),
    Row("java-client", "Java HttpServer, java.net.http.HttpClient: send(), also by an executor, sendAsync()",
        (java("client"),), make="java", modes="saq"),
    Row("puma", "Ruby puma, 8 threads", (PUMA,)),
    Row("puma-more", "the same, calls from threads made for the request", (PUMA,), modes="tp"),
    Row("puma-new", "Ruby puma, a connection per request", (PUMA,), new_connections=1),
    Row("webrick", "Ruby WEBrick, a thread per connection", (ruby("webrick"),)),
    Row("ruby-queue", "Ruby, a thread reads, workers take connections out of a queue",
        (ruby("queue", "socket"),)),
    Row("go", "Go net/http", (go(),), make="go"),
    Row("go-more", "the same, calls from goroutines made for the request", (go(),), make="go",
        modes="tp"),
    Row("go-pool-buffer", "the same, calls by a pool that takes jobs from a buffer", (go(),),
        make="go", modes="b"),
    Row("go-pool-grows", "the same, by a pool that the first requests make", (go(),), make="go",
        modes="e"),
    Row("go-http2", "Go: requests go on to another program on streams of one connection of HTTP/2",
        go_http2(), make="go_http2", needs="go_http2"),
    Row("go-http2-more", "the same, calls from goroutines made for the request", go_http2(),
        make="go_http2", modes="t", needs="go_http2"),
    Row("go-grpc", "the same by gRPC (grpc-go)", go_http2("grpc"), make="go_grpc", needs="go_grpc"),
    Row("go-pool", "the same, calls by a pool of goroutines", (go(),), make="go", modes="q"),
    # Two processes of a host.
    Row("php-fpm-unix", "nginx, PHP-FPM over a unix socket",
        php_fpm("{folder}/fpm.sock", "unix:{folder}/fpm.sock", "{folder}/fpm.sock"), modes="sc"),
    Row("php-fpm-tcp", "nginx, PHP-FPM over loopback TCP",
        php_fpm("127.0.0.1:8081", "127.0.0.1:8081", INNER_PORT), modes="scp"),
    Row("nginx-python", "nginx, Python threads behind it on loopback",
        (python("threads", INNER_PORT, "127.0.0.1"), nginx("kept", "127.0.0.1:8081"))),
    Row("uwsgi-http", "uWSGI behind its own router, two processes of four threads",
        (uwsgi("--processes", "2", "--threads", "4"),), needs="uwsgi", new_connections=1),
    Row("uwsgi-http-kept", "the same, its router keeps connections",
        (uwsgi("--processes", "2", "--threads", "4", "--http-keepalive"),), needs="uwsgi"),
    Row("uwsgi-http-unix", "the same, and asks over a unix socket",
        (uwsgi("--processes", "2", "--threads", "4", "--http-keepalive", "--http-to", "{folder}/uwsgi.sock",
               "--socket", "{folder}/uwsgi.sock"),), needs="uwsgi"),
    Row("loopback", "client, Python threads and upstream on one host's lo", (python("threads"),),
        lo=True),
    # Adversarial.
    Row("c-epoll-queue", "C, epoll, 4 connections to the upstream", (c("epoll", CONNECTIONS="4"),),
        modes="sp", pauses=NONE),
    Row("c-epoll-queue-rare", "C, epoll, 12 connections: at 8 in flight, few calls wait",
        (c("epoll", CONNECTIONS="12"),), modes="sp", pauses=NONE),
    Row("c-epoll-late", "C, epoll, 6 connections, whose objects are told whose call it is after that was sent",
        (c("epoll", CONNECTIONS="6", NOTES="1"),), modes="sp", pauses=NONE),
    Row("c-epoll-last", "the same, they know who has called last of those that did not have to wait",
        (c("epoll", CONNECTIONS="6", NOTES="2"),), modes="sp", pauses=NONE),
    Row("c-epoll-left", "C, epoll, calls of its own, on connections that know who has called last",
        (c("epoll", BACKGROUND_MS="4", NOTES="3"),), modes="sp", pauses=NONE, background=True),
    Row("node-queue-rare", "Node, maxSockets 12, the same", (node(CONNECTIONS="12"),), modes="sp",
        pauses=NONE),
    Row("node-queue", "Node, maxSockets 4", (node(CONNECTIONS="4"),), modes="sp", pauses=NONE),
    Row("node-fetch-queue", "Node, fetch(), 4 connections",
        (node(CONNECTIONS="4", CLIENT="fetch"),), modes="sp", pauses=NONE),
    Row("node-limit", "Node, 4 calls at once: who is done begins the next", (node(LIMIT="4"),),
        modes="sp", pauses=NONE),
    Row("node-bare-then", "Node, timers, reactions without parameters", (node_bare("then"),),
        calls=(1, 1)),
    Row("node-bare-arrow", "Node, timers, async functions without parameters, called in place",
        (node_bare("arrow"),)),
    Row("node-bare-middleware", "Node, timers in functions before and behind, without parameters",
        (node_bare("middleware"),)),
    Row("node-bare-turns", "Node, the same; requests wait for each other, and for calls of its own",
        (node_bare("turns", BACKGROUND_MS="700"),), calls=(1, 1), background=True),
    Row("node-bare-flush", "the same; some requests make no call, and respond when all others are done",
        (node_bare("flush", BACKGROUND_MS="700"),), calls=(0, 1), background=True),
    Row("node-bare-shared", "Node, the same; who finds nobody at work calls for all",
        (node_bare("shared"),), calls=(1, 1)),
    Row("node-bare-batch", "Node, the same; the first one's timer calls for all",
        (node_bare("batch"),), calls=(1, 1)),
    Row("node-bare-pair", "Node, the same; two requests respond together",
        (node_bare("pair"),), calls=(1, 1)),
    Row("node-callbacks", "Node, callbacks instead of promises", (node_way("callbacks"),)),
    Row("node-list", "Node, the same, calls wait in a list, who is done begins the next",
        (node_way("list"),)),
    Row("node-chain", "Node, each call waits for the one before, also for the program's own",
        (node_way("chain", BACKGROUND_MS="700"),), background=True),
    Row("node-chain-await", "the same, in another way",
        (node_way("chain-await", BACKGROUND_MS="700"),), background=True),
    Row("node-behind", "Node, each call waits for the one before, also one after the response",
        (node_way("chain-await", BEHIND="1"),), background=True),
    Row("node-drain", "Node, a list of calls; a function of some request's makes all of them",
        (node_way("drain"),)),
    Row("node-batch", "Node, calls wait for each other: the last begins all", (node(BATCH="3"),),
        modes="sp", pauses=NONE),
    Row("node-stack", "Node, all calls of a turn are begun at its end, the last one first",
        (node(STACK="1"),), modes="sp", pauses=NONE),
    Row("node-files", "Node http, calls after what other threads of libuv's do", (node(),),
        modes="f", pauses=NONE, needs="libuv_names"),
    Row("node-lookups", "Node, requests share look-ups of a name",
        (node(KEEP="0", LOOKUP="own"),), modes="sp", pauses=NONE, named=True),
    Row("node-workers", "Node, calls by another thread of JavaScript (worker_threads), asked by postMessage()",
        (node_workers(),), modes="sp", pauses=NONE),
    Row("node-workers-background", "the same, and calls of its own, some of them asked for by messages",
        (node_workers(BACKGROUND_MS="20"),), modes="sp", pauses=NONE, background=True),
    Row("haproxy-queue", "HAProxy, maxconn 4", (haproxy(server="maxconn 4"),), pauses=NONE,
        calls=(1, 1)),
    Row("aiohttp-uvloop", "aiohttp, server and client, on uvloop", (python("aio", LOOP="uvloop"),),
        modes="sp"),
    Row("aiohttp-queue", "aiohttp, 4 connections", (python("aio", CONNECTIONS="4"),), modes="sp",
        pauses=NONE),
    Row("tornado-queue", "Tornado, its client calls 4 at once",
        (python("tornado_app", CONNECTIONS="4"),), modes="sp", pauses=NONE, needs="tornado"),
    Row("c-fibers", "C, fibers, which go on on any of four threads", (c("fibers"),)),
    Row("c-epoll-timers", "C, epoll, timers between read and call", (c("epoll"),), modes="sp"),
    Row("node-timers", "Node, timers between read and call", (node(),), modes="sp"),
    Row("aiohttp-timers", "aiohttp, sleeps between read and call", (python("aio"),), modes="sp"),
    Row("c-epoll-background", "C, epoll, calls of its own", (c("epoll", BACKGROUND_MS="4"),),
        modes="sp", pauses=NONE, background=True),
    Row("node-background", "Node, calls of its own", (node(BACKGROUND_MS="4"),), modes="sp",
        pauses=NONE, background=True),
    Row("aiohttp-background", "aiohttp, calls of its own", (python("aio", BACKGROUND_MS="4"),),
        modes="sp", pauses=NONE, background=True),
    Row("node-names-background", "Node, calls of its own, to a host's name",
        (node(KEEP="0", BACKGROUND_MS="4"),), modes="sp", pauses=NONE, background=True,
        named=True),
    Row("asyncio-lock", "asyncio, calls of its own, and a lock that requests hold, too",
        (python("streams", LOCK="1"),), modes="sp", background=True),
    Row("asyncio-pool", "asyncio, calls by tasks that the first request makes",
        (python("streams", WORKERS="8"),), modes="sp"),
    Row("asyncio-limit", "asyncio, 4 calls at once: who is done makes a task for the next",
        (python("streams", LIMIT="4"),), modes="sp"),
    Row("asyncio-goes-on", "the same, and then goes on itself",
        (python("streams", LIMIT="4", GOES_ON="2"),), modes="sp"),
    Row("python-limit", "Python, 4 calls at once: who is done gives a pool the next",
        (python("threads"),), modes="l"),
    Row("gevent-unsure", "gunicorn, gevent workers, calls in four other ways (see calls.py)",
        (gunicorn("-w", "1", "-k", "gevent"),), modes="tmqj"),
    Row("python-several", "Python, threads take several jobs at a time, and call then",
        (python("threads"),), modes="b"),
    Row("python-queue-several", "the same through a queue.Queue; who lays by what they take; who is done puts in the next",
        (python("threads", JOBS="Queue"),), modes="bhl"),
    Row("python-heap", "Python, threads, and jobs of a pool, that go on with what was laid by last",
        (python("threads"),), modes="hx"),
    Row("python-bare", "Python, new threads that go on with what was laid by last",
        (python("threads"),), modes="y"),
    Row("python-processes", "Python, a pool of processes, which a request makes now and then",
        (python("threads"),), modes="z"),
    Row("ruby-limit", "Ruby puma, 4 calls at once: who is done makes a thread for the next", (PUMA,),
        modes="l"),
    Row("ruby-goes-on", "the same, who is done goes on with the next itself, or does all that waits",
        (PUMA,), modes="da"),
    Row("ruby-kept", "Ruby puma, connections kept in a queue, calls of its own",
        (dataclasses.replace(PUMA, env={"BACKGROUND_MS": "4"}),), modes="k", background=True),
    Row("go-limit", "Go, 4 calls at once: who is done starts a goroutine for the next", (go(),),
        make="go", modes="l"),
    Row("go-goes-on", "the same, who is done goes on with the next itself, or does all that waits",
        (go(),), make="go", modes="gc"),
    Row("go-several", "Go, several jobs taken at a time, things handed round, timers", (go(),),
        make="go", modes="skuva"),
    Row("java-client-limit", "java.net.http.HttpClient, 4 calls at once: who is done begins the next; begun by a pool; in batches",
        (java("client"),), make="java", modes="mbn"),
    Row("java-client-direct", "the same, and its own threads do nothing but wait (Runnable::run)",
        (java("direct"),), make="java", modes="mns"),
    Row("java-list", "a client that has a list of calls: whoever comes by sends the next",
        (java("list"),), make="java"),
    Row("java-bare", "Java, new threads that go on with what was laid by last", (java("url"),),
        make="java", modes="h"),
    Row("java-batch", "Java, whoever comes by has a pool do all that waits", (java("url"),),
        make="java", modes="r"),
    Row("java-unsure", "Java, calls in seven other ways (see Ways.java)", (java("url"),), make="java",
        modes="iwcdfel"),
    Row("java-virtual-unsure", "the same, and a limit of calls, in virtual threads (Java 21 or later)",
        (java("url", "virtual", machine="{java_21}"),), make="java", needs="java_21",
        modes="qiwcdfelkt"),
    Row("tomcat-streams", "Tomcat, calls by parallelStream(), and by threads that requests make",
        (tomcat(options=("-Djava.util.concurrent.ForkJoinPool.common.parallelism=8",)),),
        make="tomcat", needs="tomcat", modes="vvtp"),
    Row("tomcat-async", "Tomcat, its threads do what other requests of theirs want",
        (tomcat("start"),), make="tomcat", needs="tomcat", modes="sqt"),
    Row("tomcat-blind", "the same, with objects that cannot be looked at",
        (tomcat("start", options=("-XX:-UseCompressedClassPointers",)),), make="tomcat",
        needs="tomcat", modes="sqt"),
    Row("dotnet", ".NET (Mono): any thread of its pool goes on with any request",
        (Program(("mono", "{made}/dotnet/Server.exe", "{port}")),), make="dotnet", modes="sptbj"),
    Row("erlang", "Erlang, a process per connection: any scheduler goes on with any process", (erlang(),),
        needs="erlang", modes="stpkh"),
    Row("erlang-background", "the same, and a process that seldom calls for itself",
        (erlang(BACKGROUND_MS="700"),), needs="erlang", modes="stpk", background=True),
    Row("tokio", "Rust's hyper on tokio, one thread: tasks use each other's connections", (rust(),),
        make="rust", needs="rust", slow=True, modes="spt", pauses=NONE),
    Row("tokio-one", "the same, in a runtime for several threads that has one", (rust("1"),),
        make="rust", needs="rust", slow=True, modes="spt", pauses=NONE),
    Row("tokio-large", "the same on the one thread that there is, with answers and responses of 20 KB",
        (rust(BYTES="20000"),), make="rust", needs="rust", slow=True, modes="s", pauses=NONE,
        answer=20000),
    Row("tokio-slow", "the same, with timers before and between calls", (rust(),), make="rust",
        needs="rust", slow=True, modes="spt"),
    Row("tokio-threads", "the same, on four threads", (rust("4"),), make="rust", needs="rust",
        slow=True, modes="spt", pauses=NONE),
    Row("tokio-outlive", "the same, on one thread, with tasks that outlive their requests", (rust(),),
        make="rust", needs="rust", slow=True, modes="so", pauses=NONE, background=True),
    Row("tokio-threads-outlive", "and on four", (rust("4"),), make="rust", needs="rust", slow=True,
        modes="so", pauses=NONE, background=True),
    Row("python-batch", "Python, reads several requests, then hands them to executors",
        (python("executor", BATCH="1"),)),
    Row("python-late", "Python, hands requests to executors from timers",
        (python("executor", LATE_MS="8"),)),
    Row("python-background", "Python threads, calls of its own",
        (python("threads", BACKGROUND_MS="4"),), modes="st", background=True),
    Row("ruby-writer", "Ruby, workers that never see the connection", (ruby("queue", "number"),),
        modes="st"),
    Row("ruby-heap", "the same, they lay by what they take and go on with something else",
        (ruby("queue", "heap"),)),
    Row("puma-pool", "Ruby puma, calls by a pool that the first requests make", (PUMA,),
        modes="q"),
    Row("go-http2-background", "Go, streams of HTTP/2, and calls of its own in new goroutines",
        go_http2(BACKGROUND_MS="4"), make="go_http2", modes="s", needs="go_http2", background=True),
    Row("go-background", "Go, calls of its own", (go(BACKGROUND_MS="4"),), make="go", modes="st",
        background=True),
    Row("haproxy-check", "HAProxy, health checks of the upstream",
        (haproxy(server="check inter 20ms fall 100000", check="\n  ".join(CHECK)),), pauses=NONE, calls=(1, 1),
        background=True),
    Row("python-health", "Python threads, health checks by others", (python("threads"),),
        modes="st", health=True),
    Row("node-health", "Node, health checks by others", (node(),), modes="sp", pauses=NONE,
        health=True),
    Row("node-redis", "Node, asks Redis before each call, on one connection for all requests",
        REDIS_NODE, modes="d", pauses=NONE),
    Row("node-redis-some", "the same, for every other request",
        REDIS_NODE, modes="ds", pauses=NONE),
    Row("python-roots", "Python threads, clients without traceparent", (python("threads"),),
        calls=(2, 3), asks="root"),
    Row("node-roots", "Node, clients without traceparent", (node(),), calls=(2, 3), pauses=NONE,
        asks="root"),
    Row("request-id", "Node, timers between read and call, forwards x-request-id",
        (node(COPY="x-truth,x-request-id"),), modes="sp", asks="id"),
)
