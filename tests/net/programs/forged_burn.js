// SPDX-License-Identifier: Apache-2.0
// Burns CPU in burn_forged() once a line was read.
const net = require('net');

function burn_forged() {
  let number = 0;
  console.log('ready');
  for (;;)
    number = (number + 1) % 1000003;
}

net.createServer().listen(0, '127.0.0.1', () => console.log('listening'));
process.stdin.once('data', () => setImmediate(burn_forged));
