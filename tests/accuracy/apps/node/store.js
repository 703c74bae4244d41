// SPDX-License-Identifier: Apache-2.0
/*
 * Something that requests ask for before they call: of Redis, on one connection for all of them.
 * Environment: REDIS (port on 127.0.0.1).
 */
'use strict';
const redis = process.env.REDIS && require('redis').createClient({
	socket: {host: '127.0.0.1', port: Number(process.env.REDIS)},
});

exports.connect = async () => redis && redis.connect();
exports.ask = () => redis.get('something');
