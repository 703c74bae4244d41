// SPDX-License-Identifier: Apache-2.0
// Shows what /api/v1 has (docs/api.md); the view "Profile" is in profile.js. Paths and names come from
// strangers: all of it gets into the page as text or as the value of an attribute, never as markup.
"use strict";

const REFRESH_MS = 10000;
const SVG = "http://www.w3.org/2000/svg";
const main = document.getElementById("main");
const statusLine = document.getElementById("status");
let turn = 0; // what a view asked for before the next one began is not shown
let timer = null;

// --- building blocks

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === "function")
			node.addEventListener(name, value);
		else if (value !== undefined && value !== null && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
	return node;
}

function el(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}

function say(text, bad) {
	statusLine.textContent = text;
	statusLine.classList.toggle("bad", Boolean(bad));
}

function query(parameters) {
	const known = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
	const text = new URLSearchParams(known).toString();
	return text ? "?" + text : "";
}

async function ask(path, parameters) {
	const answer = await fetch("api/v1/" + path + query(parameters || {}));
	const said = await answer.json();
	if (!answer.ok)
		throw new Error(said.error || answer.statusText);
	return said;
}

// --- numbers as words

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

// --- drawings

function line(values, highest) {
	const width = 100 / Math.max(values.length - 1, 1);
	return values.map((value, i) =>
		(i ? "L" : "M") + (i * width).toFixed(1) + " " + (22 - 20 * value / highest).toFixed(1)).join("");
}

function spark(title, values, errors) {
	const highest = Math.max(...values, 1);
	return svg("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", role: "img",
			    "aria-label": title },
		svg("title", {}, title),
		svg("path", { d: line(values, highest) }),
		errors && errors.some(Boolean) ? svg("path", { class: "errors", d: line(errors, highest) }) : null);
}

// A bar from `from` to `to` (0..1), with a mark at `mark`.
function bar(from, to, bad, mark) {
	const x = 1000 * from, width = Math.max(1000 * (to - from), 3);
	return svg("svg", { class: "bar", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" },
		svg("rect", { x: Math.min(x, 997), y: 2, width, height: 10, class: bad ? "bad" : "good" }),
		mark ? svg("line", { x1: 1000 * mark, x2: 1000 * mark, y1: 0, y2: 14 }) : null);
}

// --- parts of views

function choice(name, title, values, chosen) {
	return el("label", {}, title, el("select", { name },
		values.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
}

function entry(name, title, value, hint) {
	return el("label", {}, title, el("input", { name, value: value || "", placeholder: hint, autocomplete: "off" }));
}

// A form whose values become the view's parameters.
function filter(view, ...parts) {
	return el("form", {
		submit(event) {
			event.preventDefault();
			location.hash = "#/" + view + query(Object.fromEntries(new FormData(event.target)));
		},
		change(event) {
			if (event.target.tagName === "SELECT" || event.target.type === "checkbox")
				event.currentTarget.requestSubmit();
		},
	}, parts, el("button", {}, "Show"));
}

const WINDOWS = [["15m", "15 minutes"], ["1h", "1 hour"], ["6h", "6 hours"], ["24h", "24 hours"]];

// Heads of columns: [title, is it one of numbers?]
function heads(columns) {
	return columns.map(([title, isNumber]) => el("th", { scope: "col", class: isNumber ? "descending" : null }, title));
}

function show(...nodes) {
	main.replaceChildren(...nodes.filter(Boolean));
}

// --- endpoints

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

// --- traces

function traceRow(trace, longest) {
	const { first } = trace;
	const name = (first.method || "") + " " + (first.path || "(no path)");
	return el("tr", {},
		el("td", { class: "number" }, clock(trace.start_ns)),
		el("td", {}, first.service || el("span", { class: "faint" }, first.remote || "not known")),
		el("td", { class: "path" }, el("a", { href: "#/trace/" + trace.trace_id }, name)),
		el("td", { class: "number" + (trace.errors ? " bad" : "") },
			first.status === undefined ? "–" : String(first.status)),
		el("td", { class: "number" }, String(trace.spans)),
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

// --- one trace

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

// Spans in the order of a tree, each with its depth; those whose parent is not here are roots.
function tree(spans) {
	const ids = new Set(spans.map((span) => span.span_id));
	const below = new Map();
	const ordered = new Map();
	for (const span of spans) {
		const parent = ids.has(span.parent_id) ? span.parent_id : "";
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
	const { spans } = await ask("traces/" + id);
	const begin = Math.min(...spans.map((span) => span.start_ns));
	const end = Math.max(...spans.map((span) => span.start_ns + span.duration_ns));
	return () => show(el("h1", {}, "Trace ", el("span", { class: "id" }, id)),
		el("p", { class: "faint" }, `${clock(begin)}, ${duration(end - begin)}, ${spans.length} spans. ` +
			"A line within a bar: the response began."),
		el("ol", { class: "waterfall", keydown: walkSpans },
			tree(spans).map((row) => spanRow(row, begin, Math.max(end - begin, 1)))));
}

// --- the map

const NODES_MAX = 60, NODE = { width: 170, height: 30, across: 300, down: 54 };

function nodesOf(edges) {
	const nodes = new Map();
	const node = (name, outside) => {
		const key = (outside ? "outside " : "inside ") + name;
		if (!nodes.has(key))
			nodes.set(key, { key, name, outside, column: 0, count: 0 });
		return nodes.get(key);
	};
	const joined = edges.map((edge) => {
		const from = node(edge.caller, edge.from_outside), to = node(edge.callee, edge.to_outside);
		from.count += edge.count;
		to.count += edge.count;
		return { ...edge, from, to };
	});
	return { nodes: [...nodes.values()], edges: joined };
}

// Those of the edges, the busiest first, that make no circle.
function withoutCircles(edges) {
	const callees = new Map();
	const reaches = (from, to, seen) => from === to || (!seen.has(from) &&
		(callees.get(from) || []).some((next) => reaches(next, to, seen.add(from))));
	return edges.filter(({ from, to }) => {
		if (reaches(to, from, new Set()))
			return false;
		callees.set(from, [...(callees.get(from) || []), to]);
		return true;
	});
}

// Callers stand to the left of whom they call, as far as circles allow it; every second column a
// little lower, so that lines that pass a box are seen.
function place(nodes, edges) {
	const ordered = withoutCircles(edges);
	for (let moved = true; moved;) {
		moved = false;
		for (const { from, to } of ordered.filter((edge) => edge.to.column <= edge.from.column)) {
			to.column = from.column + 1;
			moved = true;
		}
	}
	const rows = [];
	for (const node of nodes) {
		rows[node.column] = rows[node.column] || 0;
		node.x = 10 + node.column * NODE.across;
		node.y = 10 + rows[node.column]++ * NODE.down + (node.column % 2) * NODE.down / 2;
	}
	return { width: 20 + NODE.across * (rows.length - 1) + NODE.width,
		 height: 20 + NODE.down / 2 + NODE.down * Math.max(...Array.from(rows, (count) => count || 0), 1) };
}

function drawEdge(edge, seconds) {
	const x1 = edge.from.x + NODE.width, y1 = edge.from.y + NODE.height / 2;
	const x2 = edge.to.x, y2 = edge.to.y + NODE.height / 2, middle = (x1 + x2) / 2;
	const note = `${rate(edge.count / seconds)}/s, p99 ${duration(edge.p99_ns)}`;
	return svg("g", {},
		svg("path", { class: "edge" + (edge.errors ? " bad" : ""), d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
			      "stroke-width": Math.min(1 + Math.log10(edge.count), 6) },
			svg("title", {}, `${edge.caller} → ${edge.callee}: ${edge.count} requests, ${edge.errors} errors`)),
		svg("text", { class: "note", x: middle, y: (y1 + y2) / 2 - 4, "text-anchor": "middle" }, note));
}

function drawNode(node) {
	const name = node.name.length > 24 ? node.name.slice(0, 23) + "…" : node.name;
	const box = svg("g", { class: "node" + (node.outside ? " outside" : "") },
		svg("title", {}, node.name),
		svg("rect", { x: node.x, y: node.y, width: NODE.width, height: NODE.height, rx: 5 }),
		svg("text", { x: node.x + NODE.width / 2, y: node.y + 19, "text-anchor": "middle" }, name));
	return node.outside ? box : svg("a", { href: "#/traces" + query({ service: node.name }) }, box);
}

function drawMap(answer) {
	const { nodes, edges } = nodesOf(answer.edges);
	const shown = new Set(nodes.sort((a, b) => b.count - a.count).slice(0, NODES_MAX));
	const lines = edges.filter((edge) => shown.has(edge.from) && shown.has(edge.to));
	const { width, height } = place([...shown], lines);
	return el("div", { class: "scroll", tabindex: "0" },
		svg("svg", { class: "map", width, height, role: "group", "aria-label": "Who calls whom; the table below says the same" },
			lines.map((edge) => drawEdge(edge, answer.seconds)), [...shown].map(drawNode)));
}

const EDGE_HEADS = [["Caller"], ["Callee"], ["Requests/s", true], ["Errors", true], ["p99", true]];

function edgeRow(edge, seconds) {
	return el("tr", {}, el("td", {}, edge.caller), el("td", {}, edge.callee),
		el("td", { class: "number" }, rate(edge.count / seconds)),
		el("td", { class: "number" + (edge.errors ? " bad" : "") }, share(edge.errors, edge.count)),
		el("td", { class: "number" }, duration(edge.p99_ns)));
}

async function map(parameters) {
	const { last = "15m" } = parameters;
	const answer = await ask("map", { last });
	const edges = answer.edges.sort((a, b) => b.count - a.count);
	return () => show(el("h1", {}, "Who calls whom"),
		filter("map", choice("last", "Within", WINDOWS, last)),
		answer.cut ? el("p", { class: "faint" }, "There were more requests than are read for this; these are the newest.") : null,
		edges.length ? drawMap(answer) : el("p", {}, "No request was seen in that time."),
		el("table", { id: "edges" }, el("thead", {}, el("tr", {}, heads(EDGE_HEADS))), el("tbody", {}, edges.map((edge) => edgeRow(edge, answer.seconds)))));
}

// --- the policy

const RULE_HEADS = [["Priority", true], ["Rule"], ["Requests decided", true], ["Share", true]];

function ruleRow(rule, all) {
	return el("tr", {}, el("td", { class: "number" }, String(rule.prio)),
		el("td", { class: "rule" }, rule.rule, rule.builtin ? el("span", { class: "faint" }, " built in") : null),
		el("td", { class: "number" }, rule.hits.toLocaleString()),
		el("td", { class: "number" }, share(rule.hits, all)));
}

async function policy() {
	const { rules } = await ask("policy");
	const all = rules.reduce((sum, rule) => sum + rule.hits, 0);
	return () => show(el("h1", {}, "Policy"),
		el("p", { class: "faint" }, "The first rule that fits decides. Rules are changed by ", el("code", {}, "ctxprop policy"), "."),
		el("table", { id: "policy" }, el("thead", {}, el("tr", {}, heads(RULE_HEADS))),
			el("tbody", {}, rules.map((rule) => ruleRow(rule, all)))));
}

// --- which view

const VIEWS = { endpoints, traces, trace, profile, map, policy };
const REFRESHED = new Set(["endpoints", "map", "policy"]);

function viewOf(hash) {
	const [path, words] = hash.replace(/^#\//, "").split("?");
	const [view, id] = path.split("/");
	return { view: VIEWS[view] ? view : "endpoints", id, parameters: Object.fromEntries(new URLSearchParams(words || "")) };
}

function markCurrent(view) {
	for (const link of document.querySelectorAll("nav a"))
		if (link.getAttribute("href") === "#/" + (view === "trace" ? "traces" : view))
			link.setAttribute("aria-current", "page");
		else
			link.removeAttribute("aria-current");
}

// `again`: the same view, whose focus stays where it is.
async function go(again) {
	const mine = ++turn;
	const { view, id, parameters } = viewOf(location.hash);
	clearTimeout(timer);
	if (again && document.hidden) {
		timer = setTimeout(() => go(true), REFRESH_MS);
		return;
	}
	markCurrent(view);
	try {
		const draw = await VIEWS[view](parameters, id);
		if (mine !== turn)
			return;
		if (!again || !main.contains(document.activeElement) || document.activeElement === main)
			draw();
		if (!again)
			main.focus({ preventScroll: true });
		say("");
	} catch (error) {
		if (mine !== turn)
			return;
		say(error.message, true);
		if (!again)
			show(el("p", { class: "bad" }, error.message));
	}
	if (REFRESHED.has(view))
		timer = setTimeout(() => go(true), REFRESH_MS);
}

addEventListener("hashchange", () => {
	if (location.hash === "#main")
		main.focus();
	else
		go(false);
});
go(false);
