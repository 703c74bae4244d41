// SPDX-License-Identifier: Apache-2.0
/*
 * cluster.js ADDRESS PORT: server.js in two processes, which get their connections from this one.
 */
'use strict';
const cluster = require('cluster');
const path = require('path');

cluster.setupPrimary({exec: path.join(__dirname, 'server.js'), args: process.argv.slice(2)});
cluster.fork();
cluster.fork();
