// Elements made from values. Text is always text: nothing here, or anywhere on this page, parses markup.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === "value" || name === "checked" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function put(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Call at most once per `wait` milliseconds of silence.
export function settle(call, wait) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
}

// Tabs of one group: arrow keys move, as everywhere.
export function tabs(label, items, choose) {
  const list = h("div", { role: "tablist", "aria-label": label, class: "tabs" });
  // On a narrow page a long title has a short form, so that all of them are in sight.
  const buttons = items.map(([name, title, short]) =>
    h("button", { type: "button", role: "tab", "data-tab": name, "aria-label": short ? title : null, "aria-selected": "false", tabindex: "-1", onclick: () => choose(name) }, h("span", { class: short ? "wide-name" : "" }, title), short ? h("span", { class: "short-name" }, short) : null),
  );
  list.append(...buttons);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons[at].focus();
    choose(buttons[at].dataset.tab);
    event.preventDefault();
  });
  list.select = (name) => {
    for (const button of buttons) {
      const chosen = button.dataset.tab === name;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
  };
  return list;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
