// SPDX-License-Identifier: Apache-2.0
// One trace: its spans as a waterfall.
"use strict";

const DETAILS = [
	["span id", (s) => s.span_id], ["parent id", (s) => s.parent_id || "none"],
	["began", (s) => clock(s.start_ns)], ["duration", (s) => duration(s.duration_ns)],
	["to first byte of the response", (s) => s.first_byte_ns && duration(s.first_byte_ns)],
	["outcome", (s) => s.outcome], ["status", (s) => s.status],
	["path", (s) => s.path], ["route", (s) => s.route], ["host", (s) => s.host], ["user agent", (s) => s.user_agent],
	["local address", (s) => s.local], ["remote address", (s) => s.remote],
	["connection", (s) => s.reused ? "reused" : "new"], ["forwarded by this host", (s) => s.forwarded ? "yes" : undefined],
	["request", (s) => size(s.request_bytes)], ["response", (s) => size(s.response_bytes)],
	["service", (s) => s.service], ["process", (s) => s.pid], ["thread", (s) => s.tid], ["container", (s) => s.container],
	["header", (s) => s.header], ["cause known by", (s) => s.evidence], ["cause not believed", (s) => s.veto],
];

// Is `server` the other end of the request that `client` is? A program that hands a traceparent on names its
// caller's span: then the connection tells which call it was.
function isOtherEnd(server, client) {
	return server.kind === "server" && client.kind === "client" && server.local === client.remote && server.remote === client.local &&
		server.start_ns >= client.start_ns && server.start_ns <= client.start_ns + client.duration_ns;
}

// Spans in the order of a tree, each with its depth; those whose parent is not here are roots.
function tree(spans) {
	const ids = new Set(spans.map((span) => span.span_id));
	const below = new Map();
	const ordered = new Map();
	const calls = new Map();
	for (const call of spans.filter((span) => span.kind === "client"))
		calls.set(call.local, [...(calls.get(call.local) || []), call]);
	for (const span of spans) {
		const call = (calls.get(span.remote) || []).find((other) => isOtherEnd(span, other));
		const parent = call ? call.span_id : ids.has(span.parent_id) ? span.parent_id : "";
		below.set(parent, [...(below.get(parent) || []), span]);
	}
	const walk = (some, depth) => {
		for (const span of some || []) {
			if (ordered.has(span))
				continue;
			ordered.set(span, depth);
			walk(below.get(span.span_id), depth + 1);
		}
	};
	walk(below.get(""), 0);
	walk(spans, 0); // strangers may send ids that lead in circles
	return [...ordered].map(([span, depth]) => ({ span, depth }));
}

function details(span) {
	const known = DETAILS.map(([title, of]) => [title, of(span)]).filter(([, value]) => value !== undefined && value !== 0);
	return el("dl", {}, known.map(([title, value]) => [el("dt", {}, title), el("dd", {}, String(value))]));
}

function spanName(span) {
	const where = span.kind === "client" ? " → " + (span.host || span.remote) : "";
	return (span.service || "not known") + where + "  " + (span.method || "") + " " + (span.path || "");
}

function spanRow({ span, depth }, begin, whole) {
	const from = (span.start_ns - begin) / whole, to = from + span.duration_ns / whole;
	const mark = span.first_byte_ns ? from + span.first_byte_ns / whole : 0;
	const row = el("li");
	const name = el("span", { class: "name" + (span.error ? " bad" : ""), title: spanName(span) },
		"\u2003".repeat(Math.min(depth, 20)) + spanName(span));
	const button = el("button", {
		"aria-expanded": "false",
		click() {
			const open = button.getAttribute("aria-expanded") === "true";
			button.setAttribute("aria-expanded", String(!open));
			if (open)
				row.lastChild.remove();
			else
				row.append(details(span));
		},
	}, name, el("span", { class: "number" }, duration(span.duration_ns)), bar(from, to, span.error, mark));
	row.append(button);
	return row;
}

// Up and down go from span to span.
function walkSpans(event) {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	const buttons = [...event.currentTarget.querySelectorAll("button")];
	const next = buttons[buttons.indexOf(document.activeElement) + step];
	if (!step || !next)
		return;
	event.preventDefault();
	next.focus();
}

async function trace(parameters, id) {
	const { spans, left_out: leftOut } = await ask("traces/" + id);
	const begin = Math.min(...spans.map((span) => span.start_ns));
	const end = Math.max(...spans.map((span) => span.start_ns + span.duration_ns));
	return () => show(el("h1", {}, "Trace ", el("span", { class: "id" }, id)),
		el("p", { class: "faint" }, `${clock(begin)}, ${duration(end - begin)}, ${spans.length} spans. ` +
			"A line within a bar: the response began."),
		leftOut ? el("p", { id: "left-out" }, `${leftOut} more spans that ended earlier are not shown.`) : null,
		el("ol", { class: "waterfall", keydown: walkSpans },
			tree(spans).map((row) => spanRow(row, begin, Math.max(end - begin, 1)))));
}
