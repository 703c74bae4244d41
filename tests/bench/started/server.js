// SPDX-License-Identifier: Apache-2.0
// Listens on argv[2]; each request makes a call to argv[3], a URL, and is answered with what comes.
const http = require('http');
const [, , port, upstream] = process.argv;

http.createServer((request, response) => {
  http.get(upstream, (answer) => answer.pipe(response));
}).listen(Number(port));
