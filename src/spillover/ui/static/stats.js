// Stats: the figures of `spill stats` as charts, by day and tool.

import { ask } from "./api.js";
import { bars, stacks } from "./chart.js";
import { h, put } from "./dom.js";
import { number, share, short } from "./format.js";

const PERIODS = [[1, "Today"], [7, "7 days"], [30, "30 days"], [90, "90 days"], [365, "A year"]];
const FIGURES = [
  ["produced", "Produced", "tokens that tools printed"],
  ["host_cut", "Cut by hosts", "what the agent would have cut by itself: never a saving"],
  ["shown", "Shown", "tokens of outputs that reached the model"],
  ["fetched", "Fetched back", "tokens the model went back for"],
  ["notices", "Notices", "our own words around them"],
  ["schemas", "Schemas", "the descriptions of our tools"],
  ["reruns", "Re-runs", "whole outputs of commands run again within ten minutes of a clip: perhaps our fault"],
];

export class StatsView {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.days = Number(localStorage.getItem("spill-days")) || 30;
    this.body = h("div", { class: "body" });
    this.period = h("select", { "aria-label": "Period" }, PERIODS.map(([days, title]) => h("option", { value: days, selected: days === this.days }, title)));
    this.period.addEventListener("change", () => {
      this.days = Number(this.period.value);
      localStorage.setItem("spill-days", this.days);
      this.load();
    });
    put(root, h("section", { class: "stats" }, h("header", {}, h("h1", {}, "Stats"), this.period), this.body));
    this.load();
  }

  changed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.load(), 1000);
  }

  close() {
    clearTimeout(this.waiting);
  }

  async load() {
    try {
      this.draw(await ask("stats", { days: this.days }));
    } catch (error) {
      this.app.fail(error);
    }
  }

  draw({ total, days, tools, commands, damaged }) {
    if (!total.clips && !total.retrievals) return put(this.body, h("div", { class: "empty" }, h("h2", {}, "Nothing to add up yet"), h("p", {}, "Every clip and every retrieval leaves one line in the journal, without a word of content. Their sums appear here.")));
    const parts = (sums) => [["shown", sums.shown], ["back", sums.fetched], ["words", sums.notices + sums.schemas], ["net", Math.max(0, sums.net)]];
    const say = (sums) => `${number(sums.produced)} produced, ${number(sums.received)} reached the model, net ${number(sums.net)}`;
    const table = (title, rows, name) =>
      h("details", {}, h("summary", {}, `${title} as a table`), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, h("table", {}, h("thead", {}, h("tr", {}, [name, "Clips", ...FIGURES.map(([, label]) => label), "Net"].map((label) => h("th", { scope: "col" }, label)))), h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.names[0] || "–"), h("td", {}, number(row.clips)), FIGURES.map(([key]) => h("td", {}, number(row[key]))), h("td", { class: row.net < 0 ? "bad" : "" }, number(row.net))))))));
    put(
      this.body,
      h(
        "div",
        { class: "cards" },
        h("div", { class: "card main" }, h("span", {}, "Net"), h("b", { id: "net", class: total.net < 0 ? "bad" : "" }, short(total.net)), h("small", {}, `tokens the model did not have to read: ${share(Math.max(0, total.net), total.produced)} of what tools printed`)),
        FIGURES.map(([key, title, words]) => h("div", { class: "card", title: words }, h("span", {}, `${key === "produced" ? "" : "− "}${title}`), h("b", { "data-figure": key, "data-value": total[key] }, short(total[key])))),
      ),
      h("p", { class: "muted" }, `${number(total.clips)} outputs, ${number(total.cut)} of them clipped; the model went back ${number(total.retrievals)} times.${damaged ? ` ${number(damaged)} damaged lines were skipped.` : ""} Net = produced − everything else; it may be below zero.`),
      h("h2", {}, "By day"),
      h("p", { class: "legend" }, [["shown", "shown"], ["back", "fetched back"], ["words", "notices and schemas"], ["net", "saved, net"]].map(([name, title]) => h("span", {}, h("i", { class: `part-${name}`, "aria-hidden": "true" }), title))),
      stacks(days.map((row) => ({ label: row.names[0].slice(5), title: `${row.names[0]}: ${say(row)}`, parts: parts(row) })), { label: "Tokens by day", room: this.body.clientWidth }),
      table("Days", days, "Day"),
      h("h2", {}, "By tool"),
      bars(tools.map((row) => ({ label: row.names[0] || "–", title: say(row), parts: parts(row), note: `${short(row.produced)} · net ${short(row.net)}` }))),
      table("Tools", tools, "Tool"),
      h("h2", {}, "What floods most"),
      bars(commands.filter((row) => row.names[0]).slice(0, 10).map((row) => ({ label: row.names[0], title: `${row.names[0]}\n${say(row)}`, parts: parts(row), note: `${short(row.produced)} · net ${short(row.net)}` }))),
      table("Commands", commands, "Command"),
    );
  }

  keys = { "/": () => this.period.focus() };
}
