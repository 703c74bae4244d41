// SPDX-License-Identifier: Apache-2.0
// The view "Traces": those that a form asks for.
"use strict";

function traceRow(trace, longest) {
	const { first } = trace;
	const name = (first.method || "") + " " + (first.path || "(no path)");
	return el("tr", {},
		el("td", { class: "number" }, clock(trace.start_ns)),
		el("td", {}, first.service || el("span", { class: "faint" }, first.remote || "not known")),
		el("td", { class: "path" }, el("a", { href: "#/trace/" + trace.trace_id }, name)),
		el("td", { class: "number" + (trace.errors ? " bad" : "") },
			first.status === undefined ? "–" : String(first.status)),
		el("td", { class: "number", title: trace.partial ? "the rest of the row is of the newest ones" : "" }, String(trace.spans)),
		el("td", { class: "number" }, duration(trace.duration_ns)),
		el("td", { class: "bars" }, bar(0, trace.duration_ns / longest, trace.errors)));
}

const TRACE_HEADS = [["Began", true], ["Service"], ["Request"], ["Status", true], ["Spans", true], ["Duration", true], [""]];

function traceFilter(p) {
	return filter("traces",
		entry("service", "Service", p.service), entry("endpoint", "Path", p.endpoint, "/api/*"),
		entry("route", "Route", p.route), entry("method", "Method", p.method), entry("status", "Status", p.status, "5xx"),
		entry("slow", "At least", p.slow, "100ms"),
		choice("kind", "Side", [["", "both"], ["server", "served"], ["client", "called"]], p.kind || ""),
		choice("last", "Within", [["", "all"], ...WINDOWS], p.last || ""),
		choice("order", "Order", [["newest", "newest first"], ["slowest", "slowest first"]], p.order || "newest"),
		el("label", { class: "check" }, el("input", { type: "checkbox", name: "errors", value: "1", checked: Boolean(p.errors) }),
			"with errors"));
}

function older(parameters, body, next) {
	const button = el("button", {
		async click() {
			button.disabled = true;
			try {
				const page = await ask("traces", { ...parameters, cursor: next });
				addTraces(body, page.traces);
				button.replaceWith(page.next ? older(parameters, body, page.next) : "");
			} catch (error) {
				button.disabled = false;
				say(error.message, true);
			}
		},
	}, "Older ones");
	return button;
}

function addTraces(body, traces) {
	const longest = Math.max(...traces.map((trace) => trace.duration_ns), 1);
	body.append(...traces.map((trace) => traceRow(trace, longest)));
}

async function traces(parameters) {
	const page = await ask("traces", parameters);
	const body = el("tbody");
	addTraces(body, page.traces);
	return () => show(el("h1", {}, "Traces"), traceFilter(parameters),
		page.traces.length ? el("table", { id: "traces" },
			el("thead", {}, el("tr", {}, heads(TRACE_HEADS))), body) :
			el("p", {}, "There is no such trace."),
		page.next ? older(parameters, body, page.next) : null);
}
