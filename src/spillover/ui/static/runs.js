// Runs: those of a command over time, and two of them side by side.

import { ask, latest } from "./api.js";
import { stacks } from "./chart.js";
import { h, put } from "./dom.js";
import { age, bytes, clock, duration, number, plural, project } from "./format.js";

export class RunsView {
  constructor(root, app) {
    Object.assign(this, { root, app, at: 0 });
    this.compare = latest("compare");
    this.list = h("ul", { class: "commands", "aria-label": "Commands" });
    this.detail = h("section", { class: "detail", "aria-live": "polite" });
    put(root, h("div", { class: "runs-view" }, h("nav", { "aria-label": "Commands that were run" }, h("h1", {}, "Runs"), this.list), this.detail));
    this.load();
  }

  async load() {
    try {
      const { commands } = await ask("commands");
      const chosen = this.commands?.[this.at];
      this.commands = commands;
      if (!commands.length) return put(this.root, h("div", { class: "empty" }, h("h2", {}, "No runs yet"), h("p", {}, "Commands that run through spill appear here, also those whose output fitted."), h("p", {}, "Try it: ", h("code", {}, "spill run -- make test"))));
      this.at = Math.max(0, commands.findIndex((each) => each.command === chosen?.command && each.project === chosen?.project));
      this.draw();
      await this.open(this.at, false);
    } catch (error) {
      this.app.fail(error);
    }
  }

  changed() {
    this.load();
  }

  draw() {
    const many = new Set(this.commands.map((each) => each.project)).size > 1;
    put(
      this.list,
      this.commands.slice(0, 500).map((each, index) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "plain command-row", "aria-current": index === this.at ? "true" : null, onclick: () => this.open(index) },
            h("span", { class: "command", title: each.command }, each.command),
            h("span", { class: "muted" }, [plural(each.runs, "run"), each.failed ? `${number(each.failed)} failed` : "", age(each.last), many ? project(each.project) : ""].filter(Boolean).join(" · ")),
            h("span", { class: "dots", "aria-hidden": "true" }, each.exits.map((code) => h("i", { class: code === null ? "" : code ? "bad" : "good" }))),
          ),
        ),
      ),
    );
  }

  async open(index, chosen = true) {
    this.at = index;
    [...this.list.querySelectorAll("button")].forEach((button, each) => (each === index ? button.setAttribute("aria-current", "true") : button.removeAttribute("aria-current")));
    const { command, project: where } = this.commands[index];
    try {
      const { runs } = await ask("runs", { command, project: where });
      if (this.at !== index) return;
      this.runs = runs;
      const kept = runs.filter((run) => run.outcome !== "lost");
      this.newer = kept[0]?.id;
      this.older = kept[1]?.id;
      this.show(command);
      if (chosen && matchMedia("(max-width: 760px)").matches) this.detail.scrollIntoView();
    } catch (error) {
      this.app.fail(error);
    }
  }

  show(command) {
    const oldest = [...this.runs].reverse().slice(-60);
    const chart = stacks(
      oldest.map((run) => ({ label: clock(run.created).slice(-8, -3), title: `${clock(run.created)}: exit ${run.exit ?? "–"}, ${duration(run.seconds)}, ${plural(run.lines, "line")}`, parts: [[run.exit === null ? "none" : run.exit ? "bad" : "good", run.lines]] })),
      { height: 96, room: this.detail.clientWidth - 48, label: `Lines of each run of ${command}, the newest on the right; failed runs are red` },
    );
    const pick = (run, side) => {
      const input = h("input", { type: "radio", name: side, value: run.id, "aria-label": `${side === "older" ? "Compare from" : "Compare to"} the run of ${clock(run.created)}`, checked: run.id === this[side], disabled: run.outcome === "lost" });
      input.addEventListener("change", () => {
        this[side] = run.id;
        this.contrast();
      });
      return h("td", { class: "pick" }, input);
    };
    this.compared = h("div", { class: "compared" });
    put(
      this.detail,
      h("h2", {}, command),
      chart,
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs of this command" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ["When", "Exit", "Time", "Lines", "Size", "Failures", "Older", "Newer", ""].map((title) => h("th", { scope: "col", class: title === "Older" || title === "Newer" ? "pick" : null }, title)))),
          h(
            "tbody",
            {},
            this.runs.slice(0, 200).map((run) =>
              h(
                "tr",
                {},
                h("td", { title: age(run.created) }, clock(run.created)),
                h("td", { class: run.exit ? "bad" : run.exit === 0 ? "good" : "" }, run.exit ?? "–"),
                h("td", {}, duration(run.seconds)),
                h("td", {}, number(run.lines)),
                h("td", {}, bytes(run.bytes)),
                h("td", { class: run.failures ? "bad" : "" }, number(run.failures)),
                pick(run, "older"),
                pick(run, "newer"),
                h("td", {}, run.outcome === "lost" ? h("span", { class: "muted" }, "lost") : h("a", { href: `#/output/${run.id}`, "aria-label": `Open the output of ${clock(run.created)}` }, "open")),
              ),
            ),
          ),
        ),
      ),
      this.compared,
    );
    this.contrast();
  }

  async contrast() {
    if (!this.older || !this.newer) return put(this.compared, h("p", { class: "muted" }, "With a second run of this command, what changed between the two appears here."));
    if (this.older === this.newer) return put(this.compared, h("p", { class: "muted" }, "Both are the same output: nothing changed."));
    put(this.compared, h("p", { class: "muted", role: "status" }, "Comparing…"));
    try {
      const found = await this.compare({ new: this.newer, old: this.older });
      if (!found) return;
      const column = (title, name, { lines, rows }, words) =>
        h("section", { class: `column ${name}` }, h("h3", {}, title, " ", h("b", {}, number(lines))), rows.length ? h("div", { class: "diff-lines", tabindex: "0", role: "region", "aria-label": title }, rows.map(([line, text]) => h("div", {}, h("span", { class: "gutter" }, number(line)), h("span", {}, text)))) : h("p", { class: "muted" }, words), lines > rows.length ? h("p", { class: "muted" }, `${number(lines - rows.length)} more`) : null);
      put(
        this.compared,
        h("h2", {}, "What changed"),
        h("p", { class: "muted" }, found.unchanged ? "Nothing: both runs say the same." : `${plural(found.same, "line")} of ${number(found.lines)} the same. Times, durations, addresses and the order of lines are ignored.`),
        found.unchanged ? null : h("div", { class: "columns" }, column("Gone", "gone", found.gone, "Nothing is gone."), column("New", "new", found.new, "Nothing is new.")),
        found.numbers.lines ? column("Other numbers only", "numbers", found.numbers, "") : null,
      );
    } catch (error) {
      put(this.compared, h("p", { class: "note" }, error.message));
    }
  }

  keys = {
    j: () => this.step(1),
    k: () => this.step(-1),
    "/": () => this.list.querySelector("button")?.focus(),
  };

  step(by) {
    if (!this.commands?.length) return;
    const next = Math.min(Math.max(0, this.at + by), this.commands.length - 1);
    this.list.querySelectorAll("button")[next]?.focus();
    this.open(next, false);
  }
}
