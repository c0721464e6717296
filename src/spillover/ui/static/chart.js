// Charts as SVG elements. Each has the same figures beside it as text, for those who do not see it.

import { h, s } from "./dom.js";
import { short } from "./format.js";

// Bars beside each other, each a stack of parts from below: rows of {label, title, parts: [[name, value]…]}.
export function stacks(rows, { height = 180, label = "", room = 900 }) {
  const left = 48;
  const width = Math.max(200, rows.length * 14, Math.min(room - left - 40, rows.length * 64));
  const top = Math.max(1, ...rows.map((row) => row.parts.reduce((all, [, value]) => all + Math.max(0, value), 0)));
  const foot = 20;
  const svg = s("svg", { class: "chart", role: "img", "aria-label": label, width: width + left, height: height + foot });
  for (const share of [0.5, 1]) {
    const y = height - share * (height - 12);
    svg.append(s("line", { class: "grid", x1: left, x2: width + left, y1: y, y2: y }), s("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, short(Math.round(top * share))));
  }
  svg.append(s("line", { class: "axis", x1: left, x2: width + left, y1: height, y2: height }));
  const slot = Math.min(64, width / Math.max(1, rows.length));
  const every = Math.ceil(rows.length / Math.max(1, Math.floor(width / 56)));
  rows.forEach((row, index) => {
    let y = height;
    const group = s("g", {}, s("title", {}, row.title));
    for (const [name, value] of row.parts) {
      const size = (Math.max(0, value) / top) * (height - 12);
      if (size <= 0) continue;
      y -= size;
      group.append(s("rect", { class: `part-${name}`, x: left + index * slot + slot * 0.15, y, width: slot * 0.7, height: Math.max(1, size), rx: 1 }));
    }
    svg.append(group);
    if (index % every === 0) svg.append(s("text", { x: left + (index + 0.5) * slot, y: height + 15, "text-anchor": "middle" }, row.label));
  });
  return h("div", { class: "chart-box" }, svg);
}

// One bar under the other: rows of {label, title, parts, note}.
export function bars(rows) {
  const top = Math.max(1, ...rows.map((row) => row.parts.reduce((all, [, value]) => all + Math.max(0, value), 0)));
  return h(
    "div",
    { class: "bars" },
    rows.map((row) =>
      h(
        "div",
        { class: "bar-row", title: row.title },
        h("span", { class: "label" }, row.label),
        h("span", { class: "track", "aria-hidden": "true" }, row.parts.map(([name, value]) => h("i", { class: `part-${name}`, style: { width: `${(100 * Math.max(0, value)) / top}%` } }))),
        h("span", { class: "note" }, row.note),
      ),
    ),
  );
}
