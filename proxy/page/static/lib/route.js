/* Addresses inside the page.

   href(view, name?, query?)   "#/request/req_1?scope=…": for links
   parse(hash)                 {view, params}: params has the query's names; the name is params.id for a request or a
                               job, params.name for a session and its desk */

const NAMES = { request: "id", session: "name", desk: "name", jobs: "id" };

export function href(view, name, query = {}) {
  const path = name === undefined || name === null ? view : `${view}/${encodeURIComponent(name)}`;
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `#/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, name] = path.split("/", 2);
  const params = Object.fromEntries(new URLSearchParams(query));
  if (name && NAMES[view]) params[NAMES[view]] = decoded(name);
  return { view: view || "now", params };
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
