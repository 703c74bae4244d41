// SPDX-License-Identifier: Apache-2.0
// Shows what /api/v1 has (docs/api.md): which view, and when it is drawn again.
"use strict";

const REFRESH_MS = 10000;
let turn = 0; // what a view asked for before the next one began is not shown
let timer = null;

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
