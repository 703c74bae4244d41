# SPDX-License-Identifier: Apache-2.0
"""Listens on argv[1]; each request makes a call to argv[2], HOST:PORT, and is answered with what comes."""
import asyncio
import sys

PORT, UPSTREAM = int(sys.argv[1]), sys.argv[2].split(":")


async def call():
    reader, writer = await asyncio.open_connection(*UPSTREAM)
    writer.write(b"GET /called HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(await call())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "0.0.0.0", PORT)
    await server.serve_forever()


asyncio.run(main())
