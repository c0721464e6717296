// The frame: which view is open, the keys, the theme, and what has changed.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { project } from "./format.js";
import { OutputsView } from "./outputs.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const POLL = 1000; // milliseconds
const THEMES = { auto: ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };

const app = {
  about: null,
  view: null,
  version: null, // of the rows that the view knows
  fail(error) {
    if (error.status === 401) return refuse(error.message);
    warn(error.message);
  },
  say: warn,
};

function warn(words) {
  banner.hidden = !words;
  put(banner, words ? h("span", {}, words) : null, words ? h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: () => warn("") }, "×") : null);
}

function refuse(words) {
  app.view?.close?.();
  app.view = null;
  live("off", "no token");
  put(main, h("div", { class: "empty", id: "refused" }, h("h1", {}, "This page needs its token"), h("p", {}, words), h("p", {}, "Go back to the terminal where ", h("code", {}, "spill ui"), " runs, and open the address it printed.")));
}

function live(state, words) {
  const element = document.getElementById("live");
  element.dataset.state = state;
  element.lastElementChild.textContent = words;
}

// Views other than the first are loaded when they are opened: the list is on the screen sooner.
async function open() {
  const [, name = "", id = ""] = /^#\/([^/]*)\/?(.*)$/.exec(location.hash) ?? [];
  app.view?.close?.();
  app.view = null;
  warn("");
  main.dataset.view = name || "outputs";
  for (const link of document.querySelectorAll("[data-nav]")) {
    if (link.dataset.nav === (name === "output" || !name ? "outputs" : name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const asked = location.hash;
  const load = {
    output: async () => new (await import("./output.js")).OutputView(main, app, decodeURIComponent(id)),
    runs: async () => new (await import("./runs.js")).RunsView(main, app),
    stats: async () => new (await import("./stats.js")).StatsView(main, app),
  }[name];
  if (!load) app.view = new OutputsView(main, app);
  else {
    const view = await load();
    if (location.hash === asked) app.view = view;
    else view.close?.();
  }
  document.title = { output: `${id} · spill`, runs: "Runs · spill", stats: "Stats · spill" }[name] ?? "Outputs · spill";
}

function theme(next) {
  const names = Object.keys(THEMES);
  const now = localStorage.getItem("spill-theme") ?? "auto";
  const name = next ? names[(names.indexOf(now) + 1) % names.length] : now;
  localStorage.setItem("spill-theme", name);
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = THEMES[name][0];
  button.setAttribute("aria-label", `Theme: ${THEMES[name][1]}`);
}

const openHelp = async () => (await import("./help.js")).openHelp();

const typing = (target) => target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) return event.target.blur();
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "?") return openHelp();
  const keys = app.view?.keys ?? {};
  const inside = event.target.closest?.("button, a, summary");
  if (event.key in keys && !(event.key === "Enter" && inside)) {
    event.preventDefault();
    keys[event.key]();
  }
});

// What has changed since the view was loaded, asked for again and again.
async function poll() {
  for (let wait = POLL; ; ) {
    try {
      const { version } = app;
      const answer = await ask("outputs", version === null ? { count: 0 } : { since: version });
      if (app.version === version) {
        app.version = answer.version;
        if (version !== null && answer.version !== version) app.view?.changed?.(answer);
      } // else the view was loaded meanwhile
      live(answer.problem ? "off" : "on", answer.problem ? "no store" : "live");
      wait = answer.ready ? POLL : 0;
    } catch (error) {
      if (error.status === 401) return app.fail(error);
      live("off", "not connected");
      wait = Math.min(Math.max(POLL, wait * 2), 8 * POLL);
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

document.getElementById("theme").addEventListener("click", () => theme(true));
document.getElementById("help").addEventListener("click", openHelp);
addEventListener("hashchange", open);

async function begin() {
  theme(false);
  if (!/^#\//.test(location.hash)) history.replaceState(null, "", `${location.pathname}#/`);
  const known = ask("about");
  const ready = open();
  try {
    app.about = await known;
  } catch (error) {
    return app.fail(error);
  }
  const where = document.getElementById("where");
  where.textContent = app.about.project ? project(app.about.project) : "all projects";
  where.title = `${app.about.project || "All projects"}, in ${app.about.store}`;
  await ready;
  app.view?.told?.();
  poll();
}
begin();
