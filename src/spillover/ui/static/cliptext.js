// The text of a clip, as it is; our own lines in it are told apart by their first letters, and by nothing that a tool could print.

import { h } from "./dom.js";

const OURS = /^\[(?:Output clipped|Clipped|…|Next:| Next:)/;

export function clipText({ text, outcome }) {
  const pre = h("pre", { class: "clip", tabindex: "0", "aria-label": "The text" });
  let plain = [];
  const flush = () => {
    if (plain.length) pre.append(h("span", {}, `${plain.join("\n")}\n`));
    plain = [];
  };
  const lines = text.split("\n");
  // What fitted has no notice, whatever its first line looks like.
  const notice = outcome !== "whole" && lines[0]?.startsWith("[") && !lines[0].startsWith("[tool text]") ? lines.findIndex((line) => line.endsWith("]")) : -1;
  lines.forEach((line, index) => {
    if (index <= notice || OURS.test(line)) {
      flush();
      pre.append(h("span", { class: index <= notice ? "ours notice" : "ours" }, `${line}\n`));
    } else plain.push(line);
  });
  flush();
  return pre;
}
