// SPDX-License-Identifier: Apache-2.0
// echo.js PORT: answers with the fields of the request and the length of its body, as JSON.
const http = require("http");
http.createServer((request, answer) => {
  let length = 0;
  request.on("data", (piece) => { length += piece.length; });
  request.on("end", () => {
    const raw = request.rawHeaders, fields = [];
    for (let i = 0; i < raw.length; i += 2) fields.push([raw[i], raw[i + 1]]);
    answer.end(JSON.stringify({fields, length}));
  });
}).listen(Number(process.argv[2]), "::");
