/* The admin API, from wherever the page is served.

   api.get(path, params?, options?)    api.post(path, body?, options?)    api.patch(path, body?)    api.del(path)
     path     below /admin/api, like "requests" or `requests/${encodeURIComponent(id)}`
     params   null, undefined and "" are left out
     options  {signal}
     returns  the JSON of the answer, null if it has no body
     throws   ApiError {status, message, code, param}; status 0: the proxy does not answer, or a gateway before it says so. An
              aborted call throws AbortError (`isAborted(error)`): whoever aborted it wants no message.
     401      goes to #/login, and throws
   api.url(path, params?)   for an EventSource
   unreachable(error)       says that the proxy does not answer; returns the ApiError
   onReach(fn)              fn(true|false): the proxy answers (again), or does not; returns what ends it */

const BASE = new URL("../../admin/api/", import.meta.url);

export class ApiError extends Error {
  constructor(status, message, code, param = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const GATEWAY = [502, 503, 504];

export const isAborted = (error) => error?.name === "AbortError";

const watchers = new Set();
let isReached = true;

export function onReach(fn) {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

function reached(answers) {
  if (answers === isReached) return;
  isReached = answers;
  for (const fn of watchers) fn(answers);
}

export function unreachable(error) {
  reached(false);
  return new ApiError(0, String(error.message ?? error), "unreachable");
}

function url(path, params = {}) {
  const address = new URL(path, BASE);
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") address.searchParams.set(name, value);
  }
  return address;
}

async function ask(method, path, { params, body, signal } = {}) {
  const headers = { accept: "application/json" };
  if (method !== "GET") headers["content-type"] = "application/json"; // without it a request by cookie is refused
  let answer;
  try {
    answer = await fetch(url(path, params), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "same-origin",
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw unreachable(error);
  }
  let told = null;
  let text;
  try {
    text = await answer.text();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw unreachable(error); // it went away while it answered
  }
  try {
    told = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) throw new ApiError(answer.status, `${path}: the answer is not JSON`, "invalid_json");
  }
  // The proxy says in JSON what is wrong with it; a gateway before it says in HTML that it is not there.
  if (GATEWAY.includes(answer.status) && !told?.error) throw unreachable(new Error(`${answer.status} ${answer.statusText}`));
  reached(true);
  if (answer.ok) return told;
  if (answer.status === 401 && path !== "login") leaveForLogin();
  const error = told?.error ?? {};
  throw new ApiError(answer.status, error.message ?? `${answer.status} ${answer.statusText}`, error.code ?? error.type ?? null, error.param ?? null);
}

function leaveForLogin() {
  if (location.hash.startsWith("#/login")) return;
  location.hash = `#/login?next=${encodeURIComponent(location.hash || "#/now")}`;
}

export const api = {
  get: (path, params, options) => ask("GET", path, { params, ...options }),
  post: (path, body = {}, options) => ask("POST", path, { body, ...options }),
  patch: (path, body, options) => ask("PATCH", path, { body, ...options }),
  del: (path, params, options) => ask("DELETE", path, { params, ...options }),
  url,
};
