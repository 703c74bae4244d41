// SPDX-License-Identifier: Apache-2.0
// http2_client.js URL COUNT STREAMS: so many requests on one connection, so many at once; prints how many had status 200.
const http2 = require('http2');

const [url, count, streams] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const session = http2.connect(url);
let begun = 0, done = 0, good = 0;

function ask() {
  if (begun === count)
    return;
  const request = session.request({ ':path': '/a', 'x-number': String(begun++), 'user-agent': 'node' });
  request.on('response', (headers) => { good += headers[':status'] === 200; });
  request.on('end', () => {
    if (++done === count)
      session.close(() => console.log(good));
    ask();
  });
  request.resume();
  request.end();
}

for (let stream = 0; stream < streams; stream++)
  ask();
