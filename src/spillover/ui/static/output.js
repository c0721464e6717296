// One output: the whole on the left; as the model saw it, what if, and what was fetched back on the right.

import { ask, latest } from "./api.js";
import { copy, h, put, settle, tabs } from "./dom.js";
import { age, bytes, clock, duration, number, plural, share, shownShare } from "./format.js";
import { Lines } from "./lines.js";
import { clipText } from "./cliptext.js";
import { WhatIf } from "./whatif.js";

const LARGE = 256e6; // bytes

export class OutputView {
  constructor(root, app, id) {
    Object.assign(this, { root, app, id, hits: [], at: -1, closed: false });
    this.find = latest(`output/${id}/search`);
    put(root, h("p", { class: "empty", role: "status" }, "Opening…"));
    this.load(true);
  }

  close() {
    this.closed = true;
    this.lines?.close();
  }

  async load(first = false) {
    if (!first) return this.reload();
    try {
      this.facts = await ask(`output/${this.id}`);
    } catch (error) {
      if (error.status === 401) return this.app.fail(error);
      return put(this.root, h("div", { class: "empty" }, h("h1", {}, "This output cannot be shown"), h("p", {}, error.message), h("p", {}, h("a", { href: "#/" }, "All outputs"))));
    }
    if (!this.closed) this.build();
  }

  async reload() {
    try {
      this.facts = await ask(`output/${this.id}`);
      put(this.summary, this.sum());
      this.showBack();
      this.lines.setFetched(this.facts.retrievals);
      this.app.say("");
    } catch (error) {
      this.app.fail(error);
    }
  }

  changed({ rows, removed, problem }) {
    if (problem) this.app.say(problem);
    else if (removed.includes(this.id)) this.app.say("This output has been removed. What is on the screen is all that is left of it.");
    else if (rows.some((row) => row.id === this.id)) this.reload();
  }

  build() {
    const facts = this.facts;
    this.lines = new Lines(this.id, facts, { onview: () => this.sayCommand(), onselect: () => this.sayCommand(), fail: (error) => this.app.fail(error) });
    this.summary = h("p", { class: "facts" }, this.sum());
    this.command = h("code", { class: "step", "aria-label": "The command that reads these lines" });
    this.left = tabs("The whole output", [["lines", "Lines"]], (name) => this.open("left", name));
    this.right = tabs("What the model got", [["model", "As the model saw it", "Model saw"], ["whatif", "What if"], ["back", "Fetched back"]], (name) => this.open("right", name));
    this.model = h("div", { class: "pane", "data-pane": "model", role: "tabpanel", "aria-label": "As the model saw it" }, h("p", { class: "muted", role: "status" }, "Clipping it again…"));
    this.whatif = new WhatIf(this.id, this.app, facts, (clip) => this.tried(clip));
    this.back = h("div", { class: "pane", "data-pane": "back", role: "tabpanel", "aria-label": "Fetched back" });
    this.split = h(
      "div",
      { class: "split" },
      h("section", { class: "side left", "aria-label": "The whole output" }, this.left, h("div", { class: "pane", "data-pane": "lines", role: "tabpanel", "aria-label": "Lines" }, this.tools(), this.lines.element, this.foot())),
      h("section", { class: "side right", "aria-label": "What the model got" }, this.right, this.model, this.whatif.element, this.back),
    );
    put(
      this.root,
      h(
        "article",
        { class: "output" },
        h("header", { class: "title" }, h("a", { class: "up", href: "#/", "aria-label": "All outputs" }, "‹"), h("div", {}, h("h1", { title: facts.command }, facts.command || facts.tool), this.summary)),
        this.split,
      ),
    );
    this.open("left", "lines", false);
    this.open("right", "model", false);
    this.split.dataset.narrow = "lines";
    this.right.classList.add("rest");
    this.showBack();
    this.showModel();
    this.sayCommand();
    this.sayPart();
    const start = facts.shown[0]?.[0];
    if (start && facts.why.length) this.part = 0;
  }

  told() {
    this.sayCommand();
  }

  sum() {
    const { facts } = this;
    const row = facts.row ?? {};
    const shown = facts.shown.reduce((all, [first, last]) => all + last - first + 1, 0);
    const part = shownShare(shown, facts.produced_lines, facts.row);
    const items = [
      [facts.ref ?? "not stored: it fitted", "ref"],
      [`${age(facts.created)}`, "", clock(facts.created)],
      row.exit === null || row.exit === undefined ? null : [`exit ${row.exit}`, row.exit ? "bad" : "good"],
      row.seconds === null || row.seconds === undefined ? null : [duration(row.seconds)],
      [`${plural(facts.produced_lines, "line")}, ${bytes(facts.produced_bytes)}`],
      [facts.kind],
      facts.whole ? ["shown whole"] : [`${number(shown)} shown (${part === null ? "in part" : share(part, 1)})`, "accent"],
      facts.partial ? [`stored in part: ${facts.partial}`, "bad"] : null,
      facts.streams.length ? [plural(facts.streams.filter(([name]) => name === "stderr").length, "part") + " of stderr"] : null,
      facts.retrievals.length ? [`fetched back ${number(facts.retrievals.length)}×`, "accent"] : null,
    ];
    return items.filter(Boolean).map(([text, name = "", title = null]) => h("span", { class: name, title }, text));
  }

  tools() {
    this.search = h("input", { type: "search", placeholder: "Search (regex)", "aria-label": "Search this output", autocomplete: "off", spellcheck: "false" });
    this.caseless = h("input", { type: "checkbox", id: "caseless", checked: true });
    this.count = h("span", { class: "count", role: "status", "aria-live": "polite" });
    const look = settle(() => this.look(), 150);
    this.search.addEventListener("input", look);
    this.caseless.addEventListener("change", look);
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    });
    this.parts = h("span", { class: "count", role: "status" });
    const raw = h("input", { type: "checkbox", id: "raw" });
    raw.addEventListener("change", () => this.lines.setRaw(raw.checked));
    const step = (label, call, text) => h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick: call }, text);
    return h(
      "div",
      { class: "tools" },
      h("div", { class: "group grow" }, this.search, h("label", { for: "caseless", title: "Ignore case" }, this.caseless, "any case"), this.count, step("Previous match (N)", () => this.next(-1), "↑"), step("Next match (n)", () => this.next(1), "↓")),
      h("div", { class: "group" }, this.parts, step("Previous shown part (k)", () => this.jump(-1), "↑"), step("Next shown part (j)", () => this.jump(1), "↓"), this.facts.streams.length ? step("Next part of stderr (e)", () => this.jumpStream(), "stderr ↓") : null, h("label", { for: "raw", title: "Every control character visible" }, raw, "raw")),
    );
  }

  foot() {
    this.copied = h("span", { class: "muted", role: "status", "aria-live": "polite" });
    return h("div", { class: "foot" }, this.command, h("button", { type: "button", id: "copy", onclick: () => this.copy() }, "Copy"), this.copied);
  }

  // The command that shows an agent, or a person in a terminal, what is on the screen.
  sayCommand() {
    if (!this.copied) return; // not all of it is there yet
    const [first, last] = this.lines.selected ?? this.lines.view;
    const options = this.app.about?.options;
    this.step = this.facts.ref ? `spill read ${this.facts.ref} ${first === last ? first : `${first}:${last}`}${options ? ` ${options}` : ""}` : "";
    this.command.textContent = this.step || "Not stored: the model saw all of it.";
    this.sayPart();
  }

  async copy() {
    if (!this.step) return;
    this.copied.textContent = (await copy(this.step)) ? "Copied" : "Select the text to copy it";
    setTimeout(() => (this.copied.textContent = ""), 4000);
  }

  sayPart() {
    const parts = this.lines.ranges;
    const at = parts.findLastIndex(([first]) => first <= this.lines.middle);
    this.parts.textContent = parts.length ? `part ${number(Math.max(1, at + 1))} of ${number(parts.length)}` : "nothing shown";
  }

  jump(step) {
    const parts = this.lines.ranges;
    const { middle } = this.lines;
    const next = step > 0 ? parts.findIndex(([first]) => first > middle) : parts.findLastIndex(([, last]) => last < middle);
    if (next < 0) return this.lines.list.show(step > 0 ? this.facts.lines : 0);
    this.lines.list.show(parts[next][0] - 1 - this.lines.list.visible / 2);
  }

  jumpStream() {
    const { middle } = this.lines;
    const errors = this.facts.streams.filter(([name]) => name === "stderr");
    const next = errors.find(([, first]) => first > middle) ?? errors[0];
    if (next) this.lines.list.show(next[1] - 1 - this.lines.list.visible / 2);
  }

  async look() {
    const q = this.search.value;
    if (!q) {
      this.hits = [];
      this.count.textContent = "";
      return this.lines.setHits([], null);
    }
    try {
      const found = await this.find({ q, i: this.caseless.checked ? 1 : null });
      if (!found) return;
      this.hits = found.hits;
      this.at = this.hits.findIndex(([line]) => line >= this.lines.view[0]);
      this.total = `${found.exact ? "" : "at least "}${number(found.total)}`;
      this.search.removeAttribute("aria-invalid");
      this.showHit();
    } catch (error) {
      if (error.status === 401) return this.app.fail(error);
      this.search.setAttribute("aria-invalid", "true");
      this.count.textContent = error.message;
    }
  }

  next(step) {
    if (!this.hits.length) return;
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    this.showHit();
  }

  showHit() {
    if (this.at < 0) this.at = 0;
    const hit = this.hits[this.at];
    this.count.textContent = hit ? `${number(this.at + 1)} of ${this.total}` : "no match";
    this.lines.setHits(this.hits, hit?.[0] ?? null);
    if (hit) this.lines.go(hit[0]);
  }

  open(side, name, chosen = true) {
    this[side].select(name);
    this.split.dataset[side] = name;
    if (chosen) this.split.dataset.narrow = name;
    const other = side === "left" ? this.right : this.left;
    if (chosen) this.split.dataset.side = side;
    other.classList.toggle("rest", chosen);
    this[side].classList.remove("rest");
    if (side !== "right" || !this.lines) return;
    if (name === "whatif") this.whatif.start();
    const clip = name === "whatif" ? this.whatif.clip : null;
    this.lines.mark(clip?.ranges ?? this.facts.shown, clip?.why ?? this.facts.why);
    this.sayPart();
  }

  tried(clip) {
    if (this.split?.dataset.right !== "whatif") return;
    this.lines.mark(clip.ranges, clip.why);
    this.sayPart();
  }

  async showModel(asked = false) {
    // All of it is read for this: of a very large output only when somebody wants it.
    if (this.facts.bytes > LARGE && !asked)
      return put(this.model, h("p", {}, "To show what the model saw, the whole output is read and clipped again."), h("p", {}, h("button", { type: "button", onclick: () => this.showModel(true) }, `Read ${bytes(this.facts.bytes)}`)));
    if (asked) put(this.model, h("p", { class: "muted", role: "status" }, "Clipping it again…"));
    try {
      const seen = await ask(`output/${this.id}/replay`);
      this.seen = seen;
      this.whatif.compareWith(seen);
      const words = seen.match === "words"
        ? "These are the very words the model got: the record holds their hash."
        : seen.match === "lines"
          ? "Made again. The lines are those the model saw; the words around them may differ."
          : "";
      if (!words)
        return put(
          this.model,
          h("p", { class: "cost" }, this.facts.row?.shown_tokens ? ["The model got ", h("b", {}, plural(this.facts.row.shown_tokens, "token")), "."] : "The model got another clip than the current settings would give."),
          h("p", { class: "note calm" }, `The text cannot be shown. ${seen.reason} The lines marked under "Lines" are those the model saw; "What if" shows what the current settings would give.`),
        );
      put(
        this.model,
        h("p", { class: "cost" }, h("b", {}, number(seen.received)), ` tokens of about ${number(seen.produced)} (${share(seen.received, seen.produced)}), of which ${number(Math.max(0, seen.received - seen.shown.tokens))} are the notice and the markers.`),
        h("p", { class: "muted" }, words),
        clipText(seen),
      );
    } catch (error) {
      put(this.model, h("p", { class: "note" }, error.message));
    }
  }

  showBack() {
    const { retrievals: back } = this.facts;
    if (!back.length)
      return put(this.back, h("p", { class: "muted" }, this.facts.ref ? "Nothing of it has been fetched back. When the model, or you, read it or search it with spill, that appears here." : "The model saw all of it."));
    put(
      this.back,
      h("p", { class: "cost" }, `Fetched back ${number(back.length)}×, ${number(back.reduce((all, each) => all + each.tokens, 0))} tokens.`),
      h(
        "ol",
        { class: "back", id: "retrievals" },
        back.map((each) =>
          h(
            "li",
            { class: each.failed ? "bad" : "" },
            h("b", {}, each.operation),
            h("span", {}, each.failed ? "failed" : each.lines.length ? each.lines.slice(0, 6).map(([first, last]) => h("button", { type: "button", class: "plain range", onclick: () => this.show(first) }, first === last ? number(first) : `${number(first)}–${number(last)}`)) : "the whole"),
            h("span", { class: "muted" }, `${plural(each.tokens, "token")}${each.host ? ` · ${each.host}` : ""}`),
            h("time", { class: "muted", title: clock(each.created) }, age(each.created)),
          ),
        ),
      ),
    );
  }

  show(line) {
    this.open("left", "lines");
    this.lines.list.show(line - 1 - this.lines.list.visible / 2);
  }

  keys = {
    j: () => this.jump(1),
    k: () => this.jump(-1),
    n: () => this.next(1),
    N: () => this.next(-1),
    e: () => this.jumpStream(),
    g: () => this.lines.list.show(0),
    G: () => this.lines.list.show(this.facts.lines),
    c: () => this.copy(),
    m: () => this.open("right", "model"),
    w: () => this.open("right", "whatif"),
    b: () => this.open("right", "back"),
    u: () => (location.hash = "/"),
    Escape: () => (location.hash = "/"),
    "/": () => {
      this.open("left", "lines");
      this.search.focus();
    },
  };
}
