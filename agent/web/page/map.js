// SPDX-License-Identifier: Apache-2.0
// The view "Map": who calls whom.
"use strict";

const NODES_MAX = 60, NODE = { width: 170, height: 30, across: 300, down: 54 };
// A letter of a label is so wide at most; parts of an edge, where its label may be.
const NOTE = { letter: 6, height: 14, beside: [0, -16, 16, -32, 32], places: Array.from({ length: 19 }, (_, i) => 0.5 + (i % 2 ? 0.05 : -0.05) * Math.ceil(i / 2)) };

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

// Where an edge begins and ends.
function ends({ from, to }) {
	return { x1: from.x + NODE.width, y1: from.y + NODE.height / 2, x2: to.x, y2: to.y + NODE.height / 2 };
}

function drawEdge(edge) {
	const { x1, y1, x2, y2 } = ends(edge), middle = (x1 + x2) / 2;
	return svg("path", { class: "edge" + (edge.errors ? " bad" : ""), d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
			     "stroke-width": Math.min(1 + Math.log10(edge.count), 6) },
		svg("title", {}, `${edge.caller} → ${edge.callee}: ${edge.count} requests, ${edge.errors} errors`));
}

// The point of an edge's curve at `t`, from 0 to 1.
function pointOf(edge, t) {
	const { x1, y1, x2, y2 } = ends(edge), middle = (x1 + x2) / 2, s = 1 - t;
	return { x: s ** 3 * x1 + 3 * s * t * (s + t) * middle + t ** 3 * x2,
		 y: s * s * (s + 3 * t) * y1 + t * t * (t + 3 * s) * y2 };
}

const apart = (a, b) => Math.abs(a.x - b.x) >= (a.width + b.width) / 2 || Math.abs(a.y - b.y) >= (a.height + b.height) / 2;

// On its edge, the middle first, or else beside it: where a label covers no box and no other label.
function placeNote(edge, text, taken) {
	const box = { width: text.length * NOTE.letter, height: NOTE.height };
	const on = NOTE.places.map((t) => ({ ...box, ...pointOf(edge, t) }));
	const free = NOTE.beside.flatMap((down) => on.map((place) => ({ ...place, y: place.y + down })))
		.find((place) => place.y > NOTE.height && taken.every((other) => apart(place, other)));
	const place = free || { ...box, ...pointOf(edge, 0.5) };
	taken.push(place);
	return place;
}

// Labels stand on their edges, and hide what is behind them.
function drawNotes(edges, nodes, seconds) {
	const taken = nodes.map(({ x, y }) => ({ x: x + NODE.width / 2, y: y + NODE.height / 2, width: NODE.width, height: NODE.height }));
	return edges.map((edge) => {
		const text = `${rate(edge.count / seconds)}/s, p99 ${duration(edge.p99_ns)}`;
		const { x, y, width, height } = placeNote(edge, text, taken);
		return svg("g", { class: "note" },
			svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 3 }),
			svg("text", { x, y: y + 4, "text-anchor": "middle" }, text));
	});
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
			lines.map(drawEdge), [...shown].map(drawNode), drawNotes(lines, [...shown], answer.seconds)));
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
