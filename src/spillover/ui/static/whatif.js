// What if: other limits, and the clip changes at once, with its cost.

import { latest } from "./api.js";
import { clipText } from "./cliptext.js";
import { copy, h, put, settle } from "./dom.js";
import { number, share } from "./format.js";

const MOST = 32_000;
const NO_RULE = "Change a limit to get the rule for it.";

export class WhatIf {
  constructor(id, app, facts, changed) {
    Object.assign(this, { app, facts, changed, clip: null, seen: null });
    this.ask = latest(`output/${id}/clip`);
    this.fields = {};
    this.status = h("p", { class: "cost", role: "status", "aria-live": "polite" }, "Clipping it…");
    this.rule = h("code", { class: "step rule" }, NO_RULE);
    this.copy = h("button", { type: "button", disabled: true, onclick: () => copy(this.rule.textContent) }, "Copy");
    this.text = h("div", {});
    this.element = h("div", { class: "pane", "data-pane": "whatif", role: "tabpanel", "aria-label": "What if" });
  }

  start() {
    if (this.started) return;
    this.started = true;
    const { about } = this.app;
    const field = (name, title, props = {}) => {
      const input = h("input", { id: `try-${name}`, name, autocomplete: "off", spellcheck: "false", ...props });
      input.addEventListener("input", () => this.change());
      this.fields[name] = input;
      return h("label", { for: `try-${name}` }, h("span", {}, title), input);
    };
    const choice = (name, title, values, none) => {
      const select = h("select", { id: `try-${name}`, name }, none === null ? null : h("option", { value: "" }, none), values.map((value) => h("option", { value }, value)));
      select.addEventListener("change", () => this.change());
      this.fields[name] = select;
      return h("label", { for: `try-${name}` }, h("span", {}, title), select);
    };
    const tokens = about?.limits.tokens;
    const slider = h("input", { type: "range", min: "0", max: "1000", "aria-label": "Tokens, by hand", value: toSlider(tokens ?? 4000) });
    slider.addEventListener("input", () => {
      this.fields.tokens.value = fromSlider(Number(slider.value));
      this.change();
    });
    put(
      this.element,
      h(
        "form",
        { class: "try", onsubmit: (event) => event.preventDefault() },
        field("tokens", "Tokens", { type: "number", min: "0", inputmode: "numeric", placeholder: tokens ?? "no limit" }),
        h("div", { class: "slide" }, slider),
        field("lines", "Lines", { type: "number", min: "0", inputmode: "numeric", placeholder: about?.limits.lines ?? "no limit" }),
        field("bytes", "Bytes", { type: "number", min: "0", inputmode: "numeric", placeholder: about?.limits.bytes ?? "no limit" }),
        choice("keep", "Keep", about?.keeps ?? [], "as configured"),
        choice("profile", "Profile", about?.profiles ?? [], "none"),
        field("worth", "Worth", { type: "number", min: "0", max: "1", step: "0.01", placeholder: about?.worth ?? "" }),
        field("query", "Query", { type: "text", placeholder: "e.g. timeout" }),
      ),
      this.status,
      h("div", { class: "foot" }, this.rule, this.copy),
      this.text,
    );
    this.fields.tokens.addEventListener("input", () => (slider.value = toSlider(Number(this.fields.tokens.value) || tokens || 4000)));
    this.run();
  }

  compareWith(seen) {
    this.seen = seen;
    if (this.clip) this.say();
  }

  change = settle(() => this.run(), 120);

  async run() {
    const given = Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()]));
    this.element.setAttribute("aria-busy", "true");
    try {
      const clip = await this.ask(given);
      if (!clip) return;
      this.clip = clip;
      this.wrong = "";
      this.changed(clip);
    } catch (error) {
      if (error.status === 401) return this.app.fail(error);
      this.wrong = error.message;
    }
    this.element.removeAttribute("aria-busy");
    this.say(given);
  }

  say(given = null) {
    if (this.wrong) return put(this.status, h("span", { class: "bad" }, this.wrong));
    const { clip, seen } = this;
    const got = seen?.match ? seen.received : seen && (this.facts.row?.shown_tokens ?? null);
    const differs = got === null ? 0 : clip.received - got;
    put(
      this.status,
      h("b", { id: "tried-tokens" }, number(clip.received)),
      ` tokens of about ${number(clip.produced)} (${share(clip.received, clip.produced)})`,
      got !== null ? h("span", { class: differs > 0 ? "bad" : differs < 0 ? "good" : "muted" }, differs ? `, ${differs > 0 ? "+" : "−"}${number(Math.abs(differs))} against what the model saw` : ", as the model saw it") : null,
      `; ${number(clip.shown.lines)} of ${number(clip.total.lines)} lines. `,
      h("span", { class: "muted" }, `${number(clip.milliseconds)} ms`),
    );
    put(this.text, clipText(clip));
    if (!given) return;
    const rule = this.toRule(given);
    this.rule.textContent = rule || NO_RULE;
    this.copy.disabled = !rule;
  }

  // As it stands in spillover.toml, for this tool; nothing where no limit was changed.
  toRule(given) {
    const said = Object.entries(given).filter(([name, value]) => value && !["query", "profile"].includes(name));
    const values = said.map(([name, value]) => `${name} = ${name === "keep" ? JSON.stringify(value) : value}`);
    return said.length ? [`[tools.${JSON.stringify(this.facts.tool)}]`, ...values, ""].join("\n") : "";
  }
}

const toSlider = (tokens) => Math.round((1000 * Math.log(Math.max(200, Math.min(tokens, MOST)) / 200)) / Math.log(MOST / 200));
const fromSlider = (at) => {
  const tokens = 200 * (MOST / 200) ** (at / 1000);
  return Math.round(tokens / (tokens < 1000 ? 10 : 100)) * (tokens < 1000 ? 10 : 100);
};
