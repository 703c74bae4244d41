// SPDX-License-Identifier: Apache-2.0
// Numbers and times as words.
"use strict";

function duration(ns) {
	if (!ns)
		return "–";
	if (ns < 1e6)
		return (ns / 1e3).toPrecision(3) + " µs";
	if (ns < 1e9)
		return (ns / 1e6).toPrecision(3) + " ms";
	return (ns / 1e9).toPrecision(3) + " s";
}

function rate(number) {
	return number >= 100 ? number.toFixed(0) : number.toPrecision(2);
}

function share(part, all) {
	const percent = 100 * part / all;
	return part ? (percent < 10 ? percent.toPrecision(2) : percent.toFixed(0)) + " %" : "0";
}

function clock(ns) {
	const date = new Date(ns / 1e6);
	return date.toLocaleTimeString(undefined, { hour12: false }) + "." +
		String(date.getMilliseconds()).padStart(3, "0");
}

function size(bytes) {
	return bytes === undefined ? undefined : bytes.toLocaleString() + " bytes";
}
