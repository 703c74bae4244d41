// SPDX-License-Identifier: Apache-2.0
// Zoom by a click on a frame, search by "search"; frames have their place in data-x, -w and -d. By keys:
// arrows go from frame to frame, Enter zooms, Escape shows all, "/" searches.
"use strict";
const WIDTH = 1200, MARGIN = 10, CHARACTER = 6.7;
const AMOUNT = / \([\d.]+ (samples|ms), [^(]*$/; // behind a name
const frames = [...document.querySelectorAll("#frames g")].map((group) => ({
	group, x: +group.dataset.x, w: +group.dataset.w, d: +group.dataset.d,
	name: group.querySelector("title").textContent, rect: group.querySelector("rect"), text: group.querySelector("text"),
}));

function label(name, width) {
	const room = Math.floor((width - 6) / CHARACTER), short = name.replace(AMOUNT, "");
	return room < 3 ? "" : short.length <= room ? short : short.slice(0, room - 2) + "..";
}

// Let what is below `top` have the whole width; what it stands on is wide, and pale.
function zoom(top) {
	const scale = WIDTH / top.w;
	for (const frame of frames) {
		const below = frame.d < top.d && frame.x <= top.x + 0.001 && frame.x + frame.w >= top.x + top.w - 0.001;
		const inside = frame.d >= top.d && frame.x >= top.x - 0.001 && frame.x + frame.w <= top.x + top.w + 0.001;
		const x = below ? 0 : (frame.x - top.x) * scale, width = below ? WIDTH : frame.w * scale;
		frame.group.style.display = below || inside ? "" : "none";
		frame.group.classList.toggle("past", below);
		frame.rect.setAttribute("x", MARGIN + x);
		frame.rect.setAttribute("width", Math.max(width - 0.3, 0.1));
		frame.text.setAttribute("x", MARGIN + x + 3);
		frame.text.textContent = label(frame.name, width);
	}
}

// Samples under the outermost frames that fit, each counted once.
function search(words) {
	let expression = null, covered = [];
	try { expression = words ? new RegExp(words, "i") : null; } catch { return; }
	for (const frame of frames) {
		const fits = Boolean(expression && expression.test(frame.name.replace(AMOUNT, "")));
		frame.group.classList.toggle("found", fits);
		if (fits && !covered.some((c) => c.x <= frame.x + 0.001 && c.x + c.w >= frame.x + frame.w - 0.001))
			covered.push(frame);
	}
	const share = 100 * covered.reduce((sum, frame) => sum + frame.w, 0) / WIDTH;
	document.getElementById("told").textContent = expression ? words + ": " + share.toFixed(1) + " %" : "";
}

function ask() {
	search(prompt("Functions (a regular expression):") || "");
}

function all() {
	if (frames.length) zoom(frames[0]);
}

// The frame that an arrow leads to: up to the widest of what a function calls, down to who called it.
function neighbour(frame, key) {
	const shown = frames.filter((other) => other.group.style.display !== "none");
	const inside = (one, other) => one.x >= other.x - 0.001 && one.x + one.w <= other.x + other.w + 0.001;
	const beside = shown.filter((other) => other.d === frame.d);
	if (key === "ArrowUp")
		return shown.filter((other) => other.d === frame.d + 1 && inside(other, frame)).sort((a, b) => b.w - a.w)[0];
	if (key === "ArrowDown")
		return shown.find((other) => other.d === frame.d - 1 && inside(frame, other));
	return beside[beside.indexOf(frame) + (key === "ArrowRight" ? 1 : -1)];
}

function go(key) {
	const next = here ? neighbour(here, key) : frames[0];
	if (!next) return;
	if (here) here.group.classList.remove("here");
	here = next;
	here.group.classList.add("here");
	here.group.scrollIntoView({ block: "nearest" });
	document.getElementById("told").textContent = here.name;
}

let here = null; // the frame that keys have led to
for (const frame of frames)
	frame.group.addEventListener("click", () => zoom(frame));
document.getElementById("back").addEventListener("click", all);
document.getElementById("ask").addEventListener("click", ask);
addEventListener("keydown", (event) => {
	const { key, target } = event;
	if (event.ctrlKey || event.altKey || event.metaKey) return;
	if (key === "Escape") all();
	else if (key === "/" || (key === "Enter" && target.id === "ask")) ask();
	else if (key === "Enter" && target.id === "back") all();
	else if (key === "Enter" && here) zoom(here);
	else if (key.startsWith("Arrow")) go(key);
	else return;
	event.preventDefault();
});
all();
