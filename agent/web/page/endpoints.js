// SPDX-License-Identifier: Apache-2.0
// The view "Endpoints": how often each is asked for, how it ends, and how long it takes.
"use strict";

const COLUMNS = [
	["service", "Service", (e) => e.service],
	["route", "Route", (e) => e.route],
	["rate", "Requests/s", (e) => -e.rate],
	["errors", "Errors", (e) => -e.errors / e.count],
	["p50", "p50", (e) => -e.p50_ns],
	["p99", "p99", (e) => -e.p99_ns],
];

function sortedBy(endpoints, name) {
	const key = (COLUMNS.find(([column]) => column === name) || COLUMNS[2])[2];
	return endpoints.slice().sort((a, b) => {
		const [x, y] = [key(a), key(b)];
		return typeof x === "string" ? x.localeCompare(y) : x - y;
	});
}

// Names from A to Z, numbers from the largest on.
function sortOrder(name) {
	return name === "service" || name === "route" ? "ascending" : "descending";
}

function endpointRow(endpoint, last) {
	const { service, kind, method, route, points } = endpoint;
	const traces = "#/traces" + query({ service, kind, method, route, last, order: "slowest" });
	const cpu = "#/profile" + query({ service, endpoint: method + " " + route });
	return el("tr", {},
		el("td", {}, service || el("span", { class: "faint" }, "not known"),
			kind === "client" ? el("span", { class: "faint" }, " calls") : null),
		el("td", { class: "path" }, el("a", { href: traces }, method + " " + (route || "(no path)"))),
		el("td", { class: "number" }, rate(endpoint.rate)),
		el("td", { class: "number" + (endpoint.errors ? " bad" : "") }, share(endpoint.errors, endpoint.count)),
		el("td", { class: "number" }, duration(endpoint.p50_ns)),
		el("td", { class: "number" }, duration(endpoint.p99_ns)),
		el("td", {}, spark("requests and errors over time", points.count, points.errors)),
		el("td", {}, spark("p99 over time", points.p99_ns)),
		el("td", {}, kind === "server" ? el("a", { href: cpu }, "CPU") : null));
}

function endpointHead(parameters, sort) {
	const sortable = COLUMNS.map(([name, title]) => el("th", { scope: "col", class: sortOrder(name), "aria-sort": name === sort ? sortOrder(name) : null },
		el("button", { click() { location.hash = "#/endpoints" + query({ ...parameters, sort: name }); } }, title)));
	return el("thead", {}, el("tr", {}, sortable, heads([["Requests"], ["p99"], ["Profile"]])));
}

async function endpoints(parameters) {
	const { last = "1h", sort = "rate", side = "" } = parameters;
	const answer = await ask("endpoints", { last });
	const wanted = answer.endpoints.filter((e) => !side || e.kind === side);
	return () => show(el("h1", {}, "Endpoints"),
		filter("endpoints", choice("last", "Within", WINDOWS, last),
			choice("side", "Side", [["", "both"], ["server", "served"], ["client", "called"]], side),
			el("input", { type: "hidden", name: "sort", value: sort })),
		wanted.length ? el("table", { id: "endpoints" }, endpointHead({ last, side }, sort),
			el("tbody", {}, sortedBy(wanted, sort).map((e) => endpointRow(e, last)))) :
			el("p", {}, "No request was seen in that time."));
}
