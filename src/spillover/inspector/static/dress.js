// JSON as a tree with what was elided, and tables as tables.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { number } from "./format.js";
import { VirtualList } from "./virtual.js";

const CHUNK = 200;
const SEEN = { all: ["seen", "shown"], part: ["partly", "shown in part"], none: ["hidden", "not shown"] };

export class Dress {
  constructor(root, id, facts, app) {
    Object.assign(this, { root, id, facts, app });
    if (facts.kind.endsWith("json")) this.tree();
    else this.table();
  }

  close() {
    this.list?.close();
  }

  async tree() {
    put(this.root, h("p", { class: "muted", role: "status" }, "Reading…"));
    try {
      const root = await ask(`output/${this.id}/tree`);
      const tree = h("ul", { class: "tree", role: "tree", "aria-label": "JSON" });
      put(this.root, h("p", { class: "muted legend" }, h("span", { class: "seen" }, "shown to the model"), h("span", { class: "partly" }, "in part"), h("span", { class: "hidden" }, "elided")), h("div", { class: "grow" }, tree));
      tree.append(this.node(root, true));
    } catch (error) {
      put(this.root, h("p", { class: "note" }, error.message));
    }
  }

  node(node, open = false) {
    const [name, words] = SEEN[node.seen];
    const key = node.key === "" ? null : h("span", { class: "key" }, node.key, ": ");
    if (node.type !== "object" && node.type !== "array")
      return h("li", { role: "treeitem", class: name, title: words, tabindex: "-1" }, key, h("span", { class: `value ${node.type}` }, node.text, node.cut ? "…" : ""));
    const sign = node.type === "object" ? ["{", "}", "key"] : ["[", "]", "item"];
    const inner = h("ul", { role: "group", hidden: true });
    const toggle = h("button", { type: "button", class: "plain toggle", "aria-expanded": "false" }, key, `${sign[0]} `, h("span", { class: "muted" }, `${number(node.count)} ${sign[2]}${node.count === 1 ? "" : "s"}`), ` ${sign[1]}`, node.seen === "all" ? null : h("b", { class: "tag" }, words), key && node.text ? h("span", { class: "preview" }, node.text, node.cut ? "…" : "") : null);
    const item = h("li", { role: "treeitem", class: name, "aria-expanded": "false", tabindex: "-1" }, toggle, inner);
    toggle.addEventListener("click", async () => {
      const opening = inner.hidden;
      inner.hidden = !opening;
      for (const element of [toggle, item]) element.setAttribute("aria-expanded", String(opening));
      if (opening && !inner.childElementCount) await this.more(node, inner, 0, { flat: node.seen === "none" ? 1 : null });
    });
    if (open) toggle.click();
    return item;
  }

  // Members from one on; what was left out beside each other is one line, until somebody wants to see it.
  async more(node, inner, from, { upto = Infinity, flat = null, before = null } = {}) {
    try {
      const page = await ask(`output/${this.id}/tree`, { start: node.start, end: node.end, depth: node.depth, from, flat });
      const rows = page.rows.slice(0, upto - from).map((row) => (row.run ? this.elided(node, inner, row) : this.node(row)));
      const next = Math.min(upto, page.next);
      const left = Math.min(upto, page.all) - next;
      if (left > 0) {
        const button = h("button", { type: "button", class: "more" }, `${number(left)} more…`);
        const item = h("li", {}, button);
        button.addEventListener("click", async () => {
          await this.more(node, inner, next, { upto, flat, before: item });
          item.remove();
        });
        rows.push(item);
      }
      if (before) before.before(...rows);
      else inner.append(...rows);
    } catch (error) {
      this.app.fail(error);
    }
  }

  elided(node, inner, { run, from }) {
    const item = h("li", { class: "hidden" });
    const button = h("button", { type: "button", class: "more elided" }, `… ${number(run)} not shown to the model …`);
    button.addEventListener("click", async () => {
      await this.more(node, inner, from, { upto: from + run, flat: 1, before: item });
      item.remove();
    });
    item.append(button);
    return item;
  }

  async table() {
    const scroller = h("div", { class: "list cells", role: "table", tabindex: "0", "aria-label": "Table", "aria-rowcount": this.facts.lines });
    const head = h("div", { class: "cell-row head", role: "row" });
    put(this.root, h("div", { class: "sheet" }, head, scroller));
    scroller.addEventListener("scroll", () => (head.scrollLeft = scroller.scrollLeft), { passive: true });
    this.chunks = new Map();
    try {
      const first = await this.chunk(0);
      const count = Math.max(1, ...first.slice(0, 50).map((row) => row.length));
      const widths = Array.from({ length: count }, (_, column) => Math.min(32, Math.max(4, ...first.map((row) => (row[column] ?? "").length + 2))));
      this.root.style.setProperty("--columns", `${String(this.facts.lines).length + 2}ch ${widths.map((width) => `${width}ch`).join(" ")}`);
      this.root.style.setProperty("--row", `${widths.reduce((all, one) => all + one, 8) + count * 1.2}ch`);
      put(head, h("span", { role: "columnheader", class: "gutter" }, "#"), first[0].map((cell) => h("span", { role: "columnheader", title: cell }, cell)));
      this.list = new VirtualList({ scroller, rowHeight: 26, make: (index) => this.row(index + 2), onview: (from, upto) => this.need(from + 1, upto + 1) });
      this.list.setCount(Math.max(0, this.facts.lines - 1));
    } catch (error) {
      put(this.root, h("p", { class: "note" }, error.message));
    }
  }

  row(line) {
    const cells = this.chunks.get(Math.floor((line - 1) / CHUNK))?.[(line - 1) % CHUNK];
    const shown = this.facts.shown.some(([first, last]) => line >= first && line <= last);
    return h("div", { class: `cell-row ${shown ? "seen" : "hidden"}`, role: "row", "aria-rowindex": line }, h("span", { class: "gutter", role: "rowheader" }, number(line)), (cells ?? []).map((cell) => h("span", { role: "cell", title: cell }, cell)));
  }

  async need(from, upto) {
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < upto; chunk++) {
      if (this.chunks.has(chunk)) continue;
      try {
        await this.chunk(chunk);
        this.list.refresh();
      } catch (error) {
        this.app.fail(error);
      }
    }
  }

  async chunk(number_) {
    this.chunks.set(number_, undefined);
    const answer = await ask(`output/${this.id}/table`, { from: number_ * CHUNK + 1, count: CHUNK, kind: this.facts.kind });
    this.chunks.set(number_, answer.rows);
    return answer.rows;
  }
}
