# SPDX-License-Identifier: Apache-2.0
"""echo_uvicorn.py PORT: answers with the fields of the request and the length of its body, as JSON.
The parser is httptools, which is llhttp."""
import json
import sys

import uvicorn


async def echo(scope, receive, send):
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    fields = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
    body = json.dumps({"fields": fields, "length": length}).encode()
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


uvicorn.run(echo, host="0.0.0.0", port=int(sys.argv[1]), http="httptools", lifespan="off",
            log_level="critical")
