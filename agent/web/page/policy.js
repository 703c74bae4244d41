// SPDX-License-Identifier: Apache-2.0
// The view "Policy": the rules, and what they have decided.
"use strict";

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
		el("p", { class: "faint" }, "The first rule that matches decides. Rules are changed by ", el("code", {}, "ctxprop policy"), "."),
		el("table", { id: "policy" }, el("thead", {}, el("tr", {}, heads(RULE_HEADS))),
			el("tbody", {}, rules.map((rule) => ruleRow(rule, all)))));
}
