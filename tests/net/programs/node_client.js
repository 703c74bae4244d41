// SPDX-License-Identifier: Apache-2.0
// node_client.js URL COUNT KEEPALIVE: POSTs of 5,000 bytes, five at a time.
const http = require("http");
const [url, count, keepAlive] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: keepAlive === "1", maxSockets: 5 });
for (let i = 0; i < Number(count); i++) {
  const request = http.request(url + "/" + i, { method: "POST", agent }, (answer) => {
    answer.resume();
    if (answer.statusCode !== 200) process.exitCode = 1;
  });
  request.on("error", (error) => { console.error(error); process.exitCode = 1; });
  request.write("n".repeat(2000));
  request.end("n".repeat(3000));
}
