// The whole output by lines: only what is in view is asked for. What the model saw is marked, the rest is dimmed.

import { ask } from "./api.js";
import { h, put, s } from "./dom.js";
import { number } from "./format.js";
import { VirtualList } from "./virtual.js";

const CHUNK = 200;
const HELD = 60; // chunks
const MAP = 14;

export class Lines {
  constructor(id, facts, { onview = () => {}, onselect = () => {}, fail = () => {} }) {
    Object.assign(this, { id, facts, onview, onselect, fail });
    this.raw = false;
    this.chunks = new Map();
    this.asked = new Set();
    this.hits = new Map(); // line → text that matches
    this.hit = null;
    this.selected = null;
    this.widest = 0;
    this.mark(facts.shown, facts.why);
    this.fetched = facts.retrievals.flatMap((each) => each.lines);
    this.scroller = h("div", { class: `lines kind-${facts.kind}`, tabindex: "0", role: "region", "aria-label": "The whole output" });
    this.map = s("svg", { class: "map", "aria-hidden": "true", preserveAspectRatio: "none" });
    this.element = h("div", { class: "whole" }, this.scroller, this.map);
    this.digits = Math.max(3, String(facts.lines).length);
    this.element.style.setProperty("--digits", this.digits);
    this.list = new VirtualList({ scroller: this.scroller, rowHeight: 20, make: (index) => this.row(index + 1), onview: (from, upto) => this.seen(from, upto) });
    this.list.setCount(facts.lines);
    this.map.addEventListener("pointerdown", (event) => this.drag(event));
    this.watch = new ResizeObserver(() => this.drawMap());
    this.watch.observe(this.map);
  }

  close() {
    this.list.close();
    this.watch.disconnect();
  }

  // Which lines are shown, and why; of the record, or of what would be shown.
  mark(ranges, why) {
    this.ranges = ranges;
    this.why = new Map();
    for (const [first, , words] of why) if (!this.why.has(first)) this.why.set(first, words);
    for (const [first] of ranges) if (!this.why.has(first)) this.why.set(first, "");
    if (this.list) {
      this.list.refresh();
      this.drawMap();
    }
  }

  isShown(line) {
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle][1] < line) low = middle + 1;
      else high = middle;
    }
    return low < this.ranges.length && this.ranges[low][0] <= line;
  }

  setRaw(raw) {
    this.raw = raw;
    this.chunks.clear();
    this.asked.clear();
    this.list.refresh();
  }

  setFetched(back) {
    this.fetched = back.flatMap((each) => each.lines);
    this.list.refresh();
    this.drawMap();
  }

  setHits(hits, current) {
    this.hits = new Map(hits.map(([line, , text]) => [line, text]));
    this.hit = current;
    this.list.refresh();
    this.drawMap();
  }

  go(line) {
    this.list.reveal(line - 1);
  }

  // The lines in view, from 1.
  get view() {
    const first = Math.floor(this.list.first) + 1;
    return [first, Math.max(first, Math.min(this.facts.lines, Math.floor(this.list.first + this.list.visible)))];
  }

  get middle() {
    const [first, last] = this.view;
    return (first + last) / 2;
  }

  seen(from, upto) {
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < upto; chunk++) this.fetch(chunk);
    this.drawView();
    this.onview(this.view);
  }

  async fetch(chunk) {
    if (this.chunks.has(chunk) || this.asked.has(chunk)) return;
    this.asked.add(chunk);
    const raw = this.raw;
    try {
      const answer = await ask(`output/${this.id}/lines`, { from: chunk * CHUNK + 1, count: CHUNK, raw: raw ? 1 : null });
      if (raw !== this.raw) return;
      this.chunks.set(chunk, answer.rows);
      if (this.chunks.size > HELD) this.chunks.delete(this.chunks.keys().next().value);
      const widest = Math.max(this.widest, ...answer.rows.map((row) => row[0].length));
      if (widest > this.widest) {
        this.widest = widest;
        this.element.style.setProperty("--widest", `${widest + 2}ch`);
      }
      for (const [index, element] of this.list.rows)
        if (Math.floor(index / CHUNK) === chunk) {
          element.remove();
          this.list.rows.delete(index);
        }
      this.list.later();
    } catch (error) {
      this.fail(error);
    } finally {
      this.asked.delete(chunk);
    }
  }

  row(line) {
    const data = this.chunks.get(Math.floor((line - 1) / CHUNK))?.[(line - 1) % CHUNK];
    const shown = this.isShown(line);
    const names = ["line", shown ? "seen" : "hidden"];
    if (this.hits.has(line)) names.push("hit");
    if (this.hit === line) names.push("now");
    if (data?.[2] && data[2] !== "stdout") names.push("err");
    if (this.selected && line >= this.selected[0] && line <= this.selected[1]) names.push("selected");
    if (this.fetched.some(([first, last]) => line >= first && line <= last)) names.push("fetched");
    if (this.facts.kind === "diff" && data) names.push(dressDiff(data[0]));
    const why = this.why.get(line);
    const text = h("span", { class: "text" });
    if (data) this.write(text, data, line);
    return h(
      "div",
      { class: names.join(" "), "data-line": line },
      h("span", { class: "gutter", title: data?.[2] ?? null, onclick: (event) => this.select(line, event.shiftKey) }, number(line)),
      text,
      shown && why ? h("span", { class: "why", title: why }, why) : null,
    );
  }

  write(element, [text, size], line) {
    const sought = this.hits.get(line);
    const at = sought ? text.indexOf(sought) : -1;
    if (at >= 0) element.append(text.slice(0, at), h("mark", {}, sought), text.slice(at + sought.length));
    else element.append(text);
    if (size > 2000) element.append(h("button", { type: "button", class: "more", onclick: () => this.readOn(line, 2001, size) }, `… ${number(size - 2000)} more bytes`));
  }

  // A line of a million characters, piece by piece.
  async readOn(line, column, size) {
    const dialog = h("dialog", { class: "long", "aria-label": `Line ${number(line)}` });
    const text = h("pre", {});
    const place = h("span", { class: "muted", role: "status" });
    const show = async (from) => {
      const answer = await ask(`output/${this.id}/line`, { line, column: Math.max(1, from), raw: this.raw ? 1 : null });
      column = answer.column;
      text.textContent = answer.text;
      place.textContent = `line ${number(line)}, from byte ${number(column)} of ${number(size)}`;
    };
    put(
      dialog,
      h("header", {}, place, h("button", { type: "button", onclick: () => show(column - 2000) }, "‹ before"), h("button", { type: "button", onclick: () => show(column + 2000) }, "after ›"), h("button", { type: "button", onclick: () => dialog.close() }, "Close")),
      text,
    );
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    try {
      await show(column);
    } catch (error) {
      dialog.close();
      this.fail(error);
    }
  }

  select(line, extend) {
    if (extend && this.selected) this.selected = [Math.min(line, this.anchor), Math.max(line, this.anchor)];
    else {
      this.anchor = line;
      this.selected = this.selected?.[0] === line && this.selected[1] === line ? null : [line, line];
    }
    this.list.refresh();
    this.onselect(this.selected);
  }

  // Where the shown parts are, in the whole.
  drawMap() {
    const height = this.map.clientHeight;
    if (!height) return;
    this.map.setAttribute("viewBox", `0 0 ${MAP} ${height}`);
    const scale = height / Math.max(1, this.facts.lines);
    const bars = (ranges, name, x, width) => {
      const out = [];
      let last = -2;
      for (const [first, end] of ranges) {
        const y = Math.floor((first - 1) * scale);
        const size = Math.max(2, Math.ceil((end - first + 1) * scale));
        if (y + size <= last) continue; // as one with the bar before
        out.push(s("rect", { class: name, x, y, width, height: size }));
        last = y + size;
      }
      return out;
    };
    this.frame = s("rect", { class: "frame", x: 0, width: MAP });
    const hits = [...this.hits.keys()].map((line) => [line, line]);
    put(this.map, bars(this.ranges, "bar-seen", 3, 8), bars(this.fetched.toSorted((a, b) => a[0] - b[0]), "bar-back", 0, 3), bars(hits, "bar-hit", 11, 3), this.frame);
    this.drawView();
  }

  drawView() {
    if (!this.frame) return;
    const height = this.map.clientHeight;
    const scale = height / Math.max(1, this.facts.lines);
    const size = Math.max(6, Math.min(height, this.list.visible * scale));
    this.frame.setAttribute("y", Math.min(height - size, Math.max(0, this.list.first * scale)));
    this.frame.setAttribute("height", size);
  }

  drag(event) {
    const move = (at) => {
      const box = this.map.getBoundingClientRect();
      this.list.show(((at.clientY - box.top) / box.height) * this.facts.lines - this.list.visible / 2);
    };
    const stop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", stop);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
    move(event);
    event.preventDefault();
  }
}

function dressDiff(text) {
  if (/^(\+\+\+|---|diff |index )/.test(text)) return "diff-head";
  if (text.startsWith("@@")) return "diff-at";
  return { "+": "diff-in", "-": "diff-out" }[text[0]] ?? "diff-same";
}
