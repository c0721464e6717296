// Numbers, sizes and times as a person reads them.

const whole = new Intl.NumberFormat("en-US");
const UNITS = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

export const number = (value) => (value === null || value === undefined ? "–" : whole.format(value));

export function short(value) {
  if (value === null || value === undefined) return "–";
  for (const [size, unit] of UNITS)
    if (Math.abs(value) >= size) return `${(value / size).toFixed(Math.abs(value) >= 100 * size ? 0 : 1)} ${unit}`;
  return whole.format(value);
}

export function bytes(value) {
  if (value < 1000) return `${value} B`;
  for (const [size, unit] of UNITS) if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)} ${unit === "k" ? "kB" : `${unit}B`}`;
  return "";
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} m`;
}

export function age(when) {
  const seconds = Math.max(0, Date.now() / 1000 - when);
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return "just now";
}

export function clock(when) {
  const date = new Date(when * 1000);
  const today = new Date().toDateString() === date.toDateString();
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return today ? time : `${date.toLocaleDateString("en-CA")} ${time.slice(0, 5)}`;
}

export function share(part, all) {
  if (!all) return "0 %";
  const value = (100 * part) / all;
  return value > 0 && value < 0.1 ? "< 0.1 %" : `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

// How much of an output the model saw: of its lines; where it saw a part of each, as of one huge line, of its tokens.
export function shownShare(lines, all, row) {
  if (lines < all) return lines / all;
  return row?.tokens && row.shown_tokens !== null ? Math.min(1, row.shown_tokens / row.tokens) : null;
}

export const project = (path) => path.split("/").filter(Boolean).at(-1) ?? path;

export const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
