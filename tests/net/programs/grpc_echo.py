# SPDX-License-Identifier: Apache-2.0
"""gRPC's C core without TLS: grpc_echo.py serve PORT, or grpc_echo.py ask ADDRESS:PORT CALLS AT_ONCE.

The answer to a call is its own bytes, and how many traceparents came with it. The client prints how many calls were answered
with theirs, and how many traceparents they had, and the different ones of these.
"""
import concurrent.futures
import sys

import grpc

METHOD = "/echo.Echo/Say"
SECONDS = 30


class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(say) if details.method == METHOD else None


def say(request, context):
    parents = [value for key, value in context.invocation_metadata() if key == "traceparent"]
    return b"|".join([request, *map(str.encode, parents)])


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=(Echo(),))
    server.add_insecure_port(f"0.0.0.0:{port}")
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


def ask(peer, calls, at_once):
    with grpc.insecure_channel(peer) as channel, concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        stub = channel.unary_unary(METHOD)
        grpc.channel_ready_future(channel).result(SECONDS)

        def call(number):
            said, *parents = stub(b"%d" % number, timeout=SECONDS).split(b"|")
            return said == b"%d" % number, parents

        answers = list(pool.map(call, range(calls)))
    parents = [parent for _, found in answers for parent in found]
    print(sum(right for right, _ in answers), len(parents), len(set(parents)))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
