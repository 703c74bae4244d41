// SPDX-License-Identifier: Apache-2.0
// node_server.js PORT: answers "METHOD COUNT-OF-TRACEPARENTS BODY-LENGTH".
const http = require("http");
http.createServer((request, answer) => {
  let length = 0;
  request.on("data", (piece) => { length += piece.length; });
  request.on("end", () => {
    const names = request.rawHeaders.filter((_, i) => i % 2 === 0);
    const count = names.filter((name) => name.toLowerCase() === "traceparent").length;
    answer.end(`${request.method} ${count} ${length}\n`);
  });
}).listen(Number(process.argv[2]), "::");
