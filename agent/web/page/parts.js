// SPDX-License-Identifier: Apache-2.0
// What views are made of: elements, drawings, forms, and what the API answers. Paths and names come
// from strangers: all of it gets into the page as text or as the value of an attribute, never as markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const main = document.getElementById("main");
const statusLine = document.getElementById("status");

// --- elements

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

// --- forms and tables

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

// Heads of columns: [title, is it one of numbers?, what it means]
function heads(columns) {
	return columns.map(([text, isNumber, title]) => el("th", { scope: "col", class: isNumber ? "descending" : null, title }, text));
}

function show(...nodes) {
	main.replaceChildren(...nodes.filter(Boolean));
}
