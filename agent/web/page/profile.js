// SPDX-License-Identifier: Apache-2.0
// The view "Profile": CPU and waits by endpoint, and a flame graph of what was chosen. The graph is
// a picture that the server draws (/api/v1/profile.svg), in a frame of its own.
"use strict";

const PROFILE_TIMES = [["10m", "10 minutes"], ["1h", "1 hour"]];
// Of the requests of an endpoint in a minute.
const PROFILE_BUCKETS = {
	p50: "the faster half",
	p90: "slower than the median, up to the 90th percentile",
	p99: "slower than the 90th, up to the 99th percentile",
	max: "slower than the 99th percentile",
};
const PROFILE_NONE = "(no request)";
const PROFILE_DIFFERENCE = "p50-p99"; // as a value of `bucket` in this view's address
const PROFILE_REASONS = 3;
const PROFILE_KEPT_MS = 30000, PROFILE_AGAIN_MS = 500, PROFILE_TRIES = 12;
let profileTable = null; // what was told last: { last, at, answer }

function profileAddress(chosen) {
	const known = Object.entries(chosen).filter(([, value]) => value !== undefined);
	return "#/profile?" + new URLSearchParams(known);
}

// The table, which is not asked for again at each choice.
async function askProfile(last) {
	if (profileTable && profileTable.last === last && Date.now() - profileTable.at < PROFILE_KEPT_MS)
		return profileTable.answer;
	const answer = await askProfileAgain(last, PROFILE_TRIES);
	profileTable = { last, at: Date.now(), answer };
	return answer;
}

// Profiles are read one at a time: somebody else's may be.
async function askProfileAgain(last, tries) {
	try {
		return await ask("profile", { last });
	} catch (error) {
		if (tries < 2 || !error.message.startsWith("another profile"))
			throw error;
		await new Promise((resolve) => setTimeout(resolve, PROFILE_AGAIN_MS));
		return askProfileAgain(last, tries - 1);
	}
}

// --- the picture

function pictureAddress({ last, service, endpoint, of, bucket, all }) {
	const parameters = { last, service, endpoint, of, all: endpoint === undefined ? all : undefined };
	if (bucket === PROFILE_DIFFERENCE)
		[parameters.from_bucket, parameters.to_bucket] = bucket.split("-");
	else
		parameters.bucket = bucket;
	const known = Object.entries(parameters).filter(([, value]) => value !== undefined);
	return "api/v1/profile.svg?" + new URLSearchParams(known);
}

// A frame is as high as what is drawn in it.
function fitPicture() {
	const frame = document.querySelector("iframe.flame");
	const drawn = frame && frame.contentDocument && frame.contentDocument.documentElement;
	const box = drawn && drawn.viewBox && drawn.viewBox.baseVal;
	if (box)
		frame.height = Math.ceil(frame.clientWidth * box.height / box.width);
}

// What came instead of a picture.
function pictureError(frame) {
	try {
		return JSON.parse(frame.contentDocument.body.textContent).error || "";
	} catch {
		return "";
	}
}

function picture(chosen, tries = PROFILE_TRIES) {
	const frame = el("iframe", { class: "flame", title: "Flame graph", src: pictureAddress(chosen), load() {
		const error = pictureError(frame);
		if (error.startsWith("another profile") && tries > 1)
			setTimeout(() => frame.isConnected && frame.replaceWith(picture(chosen, tries - 1)), PROFILE_AGAIN_MS);
		else if (error)
			frame.replaceWith(el("p", { class: "bad" }, error));
		else
			fitPicture();
	} });
	return frame;
}

addEventListener("resize", fitPicture);

// --- what can be chosen

function isChosen(endpoint, { service, endpoint: name }) {
	return endpoint.endpoint === name && (service === undefined || (endpoint.service || "") === service);
}

// What the host did beside requests is one row, below all others.
function isNone(endpoint) {
	return endpoint.endpoint === PROFILE_NONE && !endpoint.service;
}

// Are there requests, and something else? Else there is nothing to begin with, or to leave out.
function isMixed(answer) {
	return answer.requests_cpu_ns > 0 && answer.requests_cpu_ns < answer.cpu_ns;
}

// Nanoseconds of CPU time of what is chosen, by bucket.
function chosenBuckets(answer, chosen) {
	const sums = {}, leftOut = isMixed(answer) && !chosen.all;
	for (const endpoint of answer.endpoints)
		if (chosen.endpoint === undefined ? !(leftOut && isNone(endpoint)) : isChosen(endpoint, chosen))
			for (const [bucket, ns] of Object.entries(endpoint.bucket_cpu_ns))
				sums[bucket] = (sums[bucket] || 0) + ns;
	return sums;
}

// Buttons of which one is pressed: [value, text, can it be chosen?, what it means]
function oneOf(title, key, values, chosen, choose) {
	return el("div", { class: "choice", role: "group", "aria-label": title }, el("span", { class: "faint" }, title),
		values.map(([value, text, possible, hint]) => el("button", {
			type: "button", "data-key": key, disabled: !possible, title: hint, "aria-pressed": String(chosen[key] === value),
			click() { choose({ [key]: value }); },
		}, text)));
}

// The switch: what belongs to no request is not in the first picture.
function otherWork(answer, chosen, choose) {
	if (!isMixed(answer) || chosen.endpoint !== undefined)
		return null;
	const none = share(answer.cpu_ns - answer.requests_cpu_ns, answer.cpu_ns);
	return oneOf("Work", "all", [[undefined, "for requests", true],
				     ["1", "whole host", true, `${none} of all CPU time belongs to no request`]], chosen, choose);
}

function buttons(answer, chosen, choose) {
	const sums = chosenBuckets(answer, chosen), [from, to] = PROFILE_DIFFERENCE.split("-");
	const all = Object.values(sums).reduce((sum, ns) => sum + ns, 0);
	const buckets = Object.entries(PROFILE_BUCKETS).map(([bucket, hint]) =>
		[bucket, sums[bucket] ? `${bucket} (${share(sums[bucket], all)} of CPU)` : bucket, sums[bucket] || answer.off_cpu,
		 sums[bucket] ? hint : hint + ": no CPU samples"]);
	const waits = answer.off_cpu ? "blocked, or waiting for a CPU" : "not measured: ctxpropd --profile 19,off-cpu does";
	return el("div", { class: "choices" },
		otherWork(answer, chosen, choose),
		oneOf("Time", "of", [["cpu", "on the CPU", true], ["waits", "off the CPU", answer.off_cpu, waits],
				     ["wall", "both", answer.off_cpu, waits]], chosen, choose),
		oneOf("Requests", "bucket", [[undefined, "all", true], ...buckets,
					     [PROFILE_DIFFERENCE, `difference ${from} → ${to}`, sums[from] && sums[to]]], chosen, choose),
		el("p", { class: "faint" }, "p50: the faster half of an endpoint's requests in each minute; p90, p99: slower ones, up to " +
			"these percentiles; max: the slowest 1 %."));
}

// --- the table

function profileHeads(answer) {
	const waits = [["Blocked per request", true, "its threads waited for something else than a CPU"],
		       ["Run queue per request", true, "its threads could have run, and waited for a CPU"]];
	return [["Service"], ["Endpoint"], ["Requests", true, "that ended in that time"], ["CPU per request", true],
		["CPU", true, "of all its requests"], ["Share", true, "of the CPU time of all requests"], ...answer.off_cpu ? waits : []];
}

function perRequest(ns, requests) {
	return el("td", { class: "number" }, requests && ns ? duration(ns / requests) : "–");
}

// A link that chooses here, and may be opened elsewhere, too.
function chooser(chosen, changes, choose, text) {
	return el("a", { href: profileAddress({ ...chosen, ...changes }), click(event) {
		if (event.ctrlKey || event.metaKey || event.shiftKey)
			return;
		event.preventDefault();
		choose(changes);
	} }, text);
}

function profileRow(endpoint, answer, chosen, choose) {
	const { requests, blocked_ns, run_queue_ns, cpu_ns } = endpoint;
	const changes = { service: endpoint.service || "", endpoint: endpoint.endpoint, bucket: undefined };
	return el("tr", { class: isNone(endpoint) ? "none" : null },
		el("td", {}, endpoint.service || el("span", { class: "faint" }, requests ? "not known" : "–")),
		el("td", { class: "path" }, chooser(chosen, changes, choose, endpoint.endpoint)),
		el("td", { class: "number" }, requests ? requests.toLocaleString() : "–"),
		perRequest(cpu_ns, requests),
		el("td", { class: "number" }, duration(cpu_ns)),
		el("td", { class: "number" }, isNone(endpoint) ? "–" : share(cpu_ns, answer.requests_cpu_ns)),
		answer.off_cpu ? [perRequest(blocked_ns, requests), perRequest(run_queue_ns, requests)] : null);
}

// How many samples of processes that serve requests belong to none, and the first reasons.
function serversLine(servers) {
	if (!servers)
		return null;
	const reasons = Object.entries(servers.reasons).sort((a, b) => b[1] - a[1]).slice(0, PROFILE_REASONS)
		.map(([reason, count]) => `${reason} ${share(count, servers.samples)}`).join(", ");
	return el("p", { class: "faint" }, `${share(servers.without_request, servers.samples)} of the samples of servers have no request`,
		reasons ? `: ${reasons}.` : ".");
}

function profileSummary(answer) {
	const time = (seconds, timeZoneName) => new Date(1000 * seconds).toLocaleTimeString(undefined, { hour12: false, timeZoneName });
	const lost = answer.lost ? `, ${answer.lost.toLocaleString()} others were lost` : "";
	const unreadable = answer.unreadable ? `; ${answer.unreadable} minutes of it could not be read` : "";
	const older = answer.left_out ? "; older minutes were too much to read" : "";
	return [el("p", { class: "faint" }, `${time(answer.from)} to ${time(answer.to, "short")}: ${answer.samples.toLocaleString()} samples${lost}, ` +
		`${duration(answer.requests_cpu_ns)} of CPU time for requests, ${duration(answer.cpu_ns)} in total${unreadable}${older}.`,
		answer.cut ? " These are the first 1,000 endpoints." : ""), serversLine(answer.servers)];
}

function noProfile(answer) {
	return answer.kept ? "There is no profile of that time; each minute appears when it has ended." :
		["No profile has been recorded yet. Start ctxpropd with ", el("code", {}, "--profile 19"),
		 "; each minute appears when it has ended."];
}

// --- the view

function profileFilter(last) {
	return el("form", {
		submit(event) {
			event.preventDefault();
			const address = profileAddress({ ...viewOf(location.hash).parameters, ...Object.fromEntries(new FormData(event.target)) });
			profileTable = null;
			if (location.hash === address)
				go(false);
			else
				location.hash = address;
		},
		change(event) { event.currentTarget.requestSubmit(); },
	}, choice("last", "Within", PROFILE_TIMES, last), el("button", {}, "Show"));
}

function graphParts(answer, chosen, choose) {
	const isOfAll = chosen.endpoint === undefined;
	const isThere = isOfAll || answer.cut || answer.endpoints.some((endpoint) => isChosen(endpoint, chosen));
	const back = chooser(chosen, { service: undefined, endpoint: undefined, bucket: undefined }, choose, "All endpoints");
	return [el("h2", {}, isOfAll ? "All endpoints" : `${chosen.service || ""} ${chosen.endpoint}`),
		isOfAll ? "" : el("p", {}, back),
		isThere ? buttons(answer, chosen, choose) : "",
		isThere ? el("div", { class: "graph" }, picture(chosen)) : el("p", {}, "There are no samples of this endpoint in that time.")];
}

// Table, buttons and picture. What is chosen changes them where they are, so that the focus stays.
function profileParts(answer, begun) {
	const graph = el("section", { "aria-label": "Flame graph" });
	const rows = answer.endpoints.map((endpoint) => [endpoint, profileRow(endpoint, answer, begun, choose)]);
	let chosen = begun;
	function draw() {
		for (const [endpoint, row] of rows)
			if (isChosen(endpoint, chosen))
				row.setAttribute("aria-current", "true");
			else
				row.removeAttribute("aria-current");
		graph.replaceChildren(...graphParts(answer, chosen, choose));
	}
	function choose(changes) {
		const { key } = graph.contains(document.activeElement) ? document.activeElement.dataset : {};
		chosen = { ...chosen, ...changes };
		history.pushState(null, "", profileAddress(chosen));
		draw();
		if (key)
			graph.querySelector(`[data-key=${key}][aria-pressed=true]`).focus();
	}
	draw();
	const table = el("table", { id: "profile" }, el("thead", {}, el("tr", {}, heads(profileHeads(answer)))),
		el("tbody", {}, rows.map(([, row]) => row)));
	return [el("div", { class: "scroll", tabindex: "0" }, table), graph];
}

async function profile(parameters) {
	const chosen = { last: "10m", of: "cpu", ...parameters };
	const answer = await askProfile(chosen.last);
	return () => show(el("h1", {}, "Profile"), profileFilter(chosen.last),
		...answer.windows ? [...profileSummary(answer), ...profileParts(answer, chosen)] : [el("p", {}, noProfile(answer))]);
}
