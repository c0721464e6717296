// Outputs: newest first, up to date, filtered.

import { ask, latest } from "./api.js";
import { h, put, settle } from "./dom.js";
import { age, bytes, clock, duration, number, project, share, short, shownShare } from "./format.js";
import { VirtualList } from "./virtual.js";

const FIRST = 200;
const NARROW = matchMedia("(max-width: 760px)");
const TIMES = [["", "Any time"], ["3600", "Last hour"], ["86400", "Last day"], ["604800", "Last 7 days"]];
const OUTCOMES = { stored: "clipped", whole: "whole", lost: "lost", partial: "in part", removed: "removed" };

const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));

// What is known of every output, held while the page is open so that going back is immediate.
const known = { rows: new Map(), complete: false, filters: {}, chosen: null, first: 0 };

export class OutputsView {
  constructor(root, app) {
    this.app = app;
    this.found = null; // ids that hold the text that is looked for
    this.find = latest("text");
    this.filters = known.filters;
    this.root = root;
    this.build();
    this.load();
  }

  build() {
    const filter = (name, label, width) => {
      const input = h("input", { type: "search", name, "aria-label": label, placeholder: label, class: width, value: this.filters[name] ?? "", autocomplete: "off", spellcheck: "false" });
      input.addEventListener("input", () => this.filter(name, input.value));
      return input;
    };
    this.selects = {};
    const select = (name, label) => {
      const element = h("select", { name, "aria-label": label });
      element.addEventListener("change", () => this.filter(name, element.value));
      this.selects[name] = [element, label];
      return element;
    };
    this.search = filter("command", "Command, tool or ref", "wide");
    this.text = filter("text", "Text in outputs", "");
    this.filterBar = h(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      this.search,
      this.text,
      select("tool", "Tool"),
      select("project", "Project"),
      select("kind", "Kind"),
      select("outcome", "Outcome"),
      h("select", { name: "time", "aria-label": "Time", onchange: (event) => this.filter("time", event.target.value) }, TIMES.map(([value, title]) => h("option", { value, selected: (this.filters.time ?? "") === value }, title))),
      (this.summary = h("span", { class: "summary", role: "status", "aria-live": "polite" })),
    );
    this.head = h("div", { class: "row head", "aria-hidden": "true" }, ...["When", "Tool", "Command", "Kind", "Exit", "Time", "Lines", "Shown", "Tokens"].map((title) => h("span", {}, title)));
    this.scroller = h("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Outputs, newest first" });
    this.empty = h("div", { class: "empty", hidden: true });
    put(this.root, h("section", { class: "outputs" }, h("h1", { class: "hide" }, "Outputs"), this.filterBar, this.head, this.scroller, this.empty));
    this.list = new VirtualList({ scroller: this.scroller, rowHeight: NARROW.matches ? 64 : 38, make: (index) => this.row(index) });
    this.resize = () => this.list.setRowHeight(NARROW.matches ? 64 : 38);
    NARROW.addEventListener("change", this.resize);
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.scroller.addEventListener("focus", () => this.mark());
    this.ticking = setInterval(() => this.list.refresh(), 30_000);
  }

  close() {
    known.first = this.list.first;
    clearInterval(this.ticking);
    NARROW.removeEventListener("change", this.resize);
    this.list.close();
  }

  async load() {
    this.apply();
    try {
      let from = 0;
      let version = null;
      const fresh = new Map();
      for (;;) {
        const answer = await ask("outputs", { from, count: from ? 2000 : FIRST });
        for (const row of answer.rows) fresh.set(row.id, row);
        from += answer.rows.length;
        this.problem = answer.problem;
        version ??= answer.version;
        const done = from >= answer.all || !answer.rows.length;
        if (fresh.size >= known.rows.size || done) {
          known.rows = new Map(fresh);
          this.apply();
          await painted(); // the newest are on the screen before the others are asked for
        }
        if (done) break;
      }
      known.complete = true;
      this.app.version = version; // what has changed since the first answer comes by polling
      this.apply();
      if (this.filters.text) this.look();
    } catch (error) {
      this.app.fail(error);
    }
  }

  changed({ rows, removed, problem }) {
    for (const id of removed) known.rows.delete(id);
    for (const row of rows) known.rows.set(row.id, row);
    this.problem = problem;
    this.apply();
    if (this.filters.text && rows.length) this.look();
  }

  filter(name, value) {
    this.filters[name] = value;
    if (name === "text") this.look();
    else this.apply(true);
  }

  look = settle(async () => {
    const text = this.filters.text?.trim();
    if (!text) {
      this.found = null;
      return this.apply(true);
    }
    try {
      const answer = await this.find({ q: text });
      if (!answer) return;
      this.found = answer;
      this.apply(true);
    } catch (error) {
      this.app.fail(error);
    }
  }, 200);

  apply(anew = false) {
    const every = [...known.rows.values()].sort((one, other) => other.created - one.created || (one.id < other.id ? -1 : 1));
    this.options(every);
    const { command = "", tool, project: where, kind, outcome, time } = this.filters;
    const words = command.toLowerCase().split(/\s+/).filter(Boolean);
    const since = time ? Date.now() / 1000 - Number(time) : 0;
    const held = this.found && new Set(this.found.ids);
    const chosen = this.rows?.[this.at]?.id ?? known.chosen;
    this.rows = every.filter(
      (row) =>
        (!tool || row.tool === tool) &&
        (!where || row.project === where) &&
        (!kind || row.kind === kind) &&
        (!outcome || row.outcome === outcome) &&
        row.created >= since &&
        (!held || held.has(row.id)) &&
        words.every((word) => `${row.command} ${row.tool} ${row.ref ?? ""}`.toLowerCase().includes(word)),
    );
    this.at = Math.max(0, this.rows.findIndex((row) => row.id === chosen));
    const looked = this.found && this.found.searched < this.found.all ? `, ${number(this.found.searched)} looked through` : "";
    this.summary.textContent = this.rows.length === every.length ? `${number(every.length)} outputs` : `${number(this.rows.length)} of ${number(every.length)} outputs${looked}`;
    this.list.setCount(this.rows.length);
    if (anew) this.list.show(0);
    else if (known.first) {
      this.list.show(known.first);
      known.first = 0;
    }
    this.mark();
    this.sayEmpty(every.length);
  }

  sayEmpty(all) {
    this.empty.hidden = this.rows.length > 0 || (!known.complete && !this.problem);
    this.head.hidden = this.scroller.hidden = !this.empty.hidden;
    if (this.empty.hidden) return;
    if (all) put(this.empty, h("h2", {}, "Nothing matches"), h("p", {}, "No output matches these filters."), h("button", { type: "button", onclick: () => this.clear() }, "Clear filters"));
    else
      put(
        this.empty,
        h("h2", {}, this.problem ? "The store cannot be read" : "No outputs yet"),
        h("p", {}, this.problem || "When a tool prints more than the limits allow, its whole output is kept and appears here."),
        h("p", {}, "Try it: ", h("code", {}, "spill run -- seq 100000")),
      );
  }

  clear() {
    for (const name of Object.keys(this.filters)) delete this.filters[name];
    for (const element of this.filterBar.elements) element.value = "";
    this.found = null;
    this.apply(true);
    this.search.focus();
  }

  options(every) {
    for (const [name, [element, label]] of Object.entries(this.selects)) {
      const values = [...new Set(every.map((row) => row[name]).filter(Boolean))].sort();
      const key = values.join("\n");
      if (element.dataset.key === key) continue;
      element.dataset.key = key;
      put(element, h("option", { value: "" }, `Any ${label.toLowerCase()}`), ...values.map((value) => h("option", { value }, name === "project" ? project(value) : name === "outcome" ? (OUTCOMES[value] ?? value) : value)));
      element.value = this.filters[name] ?? "";
      element.hidden = name === "project" && values.length < 2;
    }
  }

  row(index) {
    const row = this.rows[index];
    const failed = row.exit !== null && row.exit !== 0;
    const tokens = row.tokens === null ? "" : row.shown_tokens === null ? short(row.tokens) : `${short(row.shown_tokens)} of ${short(row.tokens)}`;
    const part = shownShare(row.shown, row.lines, row);
    const meter = h("span", { class: "meter", "aria-hidden": "true" }, h("i", { style: { width: `${Math.max(2, Math.round(100 * (part ?? 1)))}%` } }));
    const element = h(
      "a",
      {
        class: `row${index === this.at ? " chosen" : ""}`, role: "option", id: `row-${index}`, tabindex: "-1", href: `#/output/${row.id}`, "aria-selected": String(index === this.at),
        "aria-setsize": this.rows.length, "aria-posinset": index + 1, "data-id": row.id, onclick: () => this.choose(index),
      },
      h("time", { class: "when", title: clock(row.created) }, age(row.created)),
      h("span", { class: "tool" }, row.tool),
      h("span", { class: "command", title: row.command }, row.command || h("em", {}, "no command"), row.pinned ? h("b", { class: "tag" }, "pinned") : null, row.retrievals ? h("b", { class: "tag", title: "Fetched back by the model" }, `↩ ${row.retrievals}`) : null),
      h("span", { class: "kind" }, row.kind || "–"),
      h("span", { class: `exit ${failed ? "bad" : row.exit === 0 ? "good" : ""}` }, row.exit === null ? "–" : row.exit),
      h("span", { class: "time" }, duration(row.seconds)),
      h("span", { class: "total", title: bytes(row.bytes) }, number(row.lines)),
      h("span", { class: `shown ${row.outcome}` }, row.outcome === "stored" ? [meter, h("span", {}, part === null ? OUTCOMES.partial : share(part, 1))] : (OUTCOMES[row.outcome] ?? row.outcome)),
      h("span", { class: "tokens" }, tokens || bytes(row.bytes)),
    );
    return element;
  }

  choose(index) {
    this.at = index;
    known.chosen = this.rows[index]?.id ?? null;
  }

  move(step) {
    if (!this.rows.length) return;
    this.choose(Math.min(Math.max(0, this.at + step), this.rows.length - 1));
    this.list.reveal(this.at);
    this.list.refresh();
    this.mark();
    this.scroller.focus();
  }

  mark() {
    if (this.rows.length) this.scroller.setAttribute("aria-activedescendant", `row-${this.at}`);
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
    if (event.key in steps) {
      this.move(steps[event.key]);
      event.preventDefault();
    } else if (event.key === "Enter") this.open();
  }

  open() {
    const row = this.rows[this.at];
    if (row) {
      this.choose(this.at);
      location.hash = `/output/${row.id}`;
    }
  }

  keys = {
    j: () => this.move(1),
    k: () => this.move(-1),
    Enter: () => this.open(),
    "/": () => this.search.focus(),
  };
}
