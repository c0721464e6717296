// What the keys do.

import { h } from "./dom.js";

const KEYS = [
  ["Anywhere", [["?", "this help"], ["/", "search"], ["Esc", "leave a field, go back"]]],
  ["Outputs", [["j k", "next, previous"], ["Enter", "open"]]],
  ["One output", [["j k", "next, previous shown part"], ["n N", "next, previous match"], ["g G", "first, last line"], ["c", "copy the command"], ["m", "as the model saw it"], ["w", "what if"], ["b", "what was fetched back"], ["u", "back to the list"]]],
  ["Runs", [["j k", "next, previous command"]]],
];

export function openHelp() {
  const before = document.activeElement;
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keyboard"),
    h("div", { class: "keys" }, KEYS.map(([title, rows]) => h("section", {}, h("h3", {}, title), h("dl", {}, rows.map(([keys, what]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, what))))))),
    h("form", { method: "dialog" }, h("button", {}, "Close")),
  );
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.();
  });
  document.body.append(dialog);
  dialog.showModal();
}
