// SPDX-License-Identifier: Apache-2.0
// sdk_app.js ADDRESS PORT UPSTREAM_ADDRESS UPSTREAM_PORT: a service that makes one call for each request, over kept
// connections. It knows nothing of traces.
"use strict";
const http = require("http");

const [address, port, upstream, upstreamPort] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

http
  .createServer((request, response) => {
    http
      .get({ host: upstream, port: upstreamPort, path: request.url, agent }, (answer) => answer.pipe(response))
      .on("error", (error) => response.writeHead(500).end(String(error)));
  })
  .listen(Number(port), address);
