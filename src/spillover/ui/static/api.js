// What the server is asked, with the token that came behind the # of the address.

const KEEP = "spill-token";

// The token leaves the address at once: what is copied or photographed from there does not hold it.
function take() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("token")) return;
  localStorage.setItem(KEEP, given.get("token"));
  history.replaceState(null, "", `${location.pathname}#${given.get("to") ?? "/"}`);
}
take();
addEventListener("hashchange", take);

export class Refused extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

const headers = () => ({ Authorization: `Bearer ${localStorage.getItem(KEEP) ?? ""}` });

export async function ask(path, given = {}, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== null && value !== undefined && value !== "") query.set(name, value);
  let response;
  try {
    response = await fetch(`/api/${path}${query.size ? `?${query}` : ""}`, { headers: headers(), ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "spill ui no longer answers. Start it again, and open the address that it prints.");
  }
  if (response.ok) return response.json();
  let words = `${response.status} ${response.statusText}`;
  try {
    words = (await response.json()).error ?? words;
  } catch {
    // not of ours
  }
  throw new Refused(response.status, words);
}

// A question of which only the newest matters: an earlier one that waits is given up.
export function latest(path) {
  let running = null;
  return async (given, rest = "") => {
    running?.abort();
    running = new AbortController();
    const mine = running;
    try {
      return await ask(path + rest, given, { signal: mine.signal });
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}
