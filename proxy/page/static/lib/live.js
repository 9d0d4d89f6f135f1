/* New requests as they happen: a stream of events, and asking again and again where there is none. Rests while the page
   is hidden.

   live({requests(rows), changed(), state(name), known(row)}) -> stop()
     requests   rows of new requests, oldest first
     changed    sums are other than they were: at most every two seconds, and every half minute though nothing came
     state      "live" | "polling" | "paused"
     known      was this row told already? So that asking again tells only what is new */

import { api } from "./api.js";

const POLL = 4000;
const REFRESH = 2000;
const SLIDE = 30_000; // the range moves on
const STALE = 40_000; // a stream that says nothing for longer than two heartbeats is a dead one

export function live({ requests, changed, state, known }) {
  let source = null;
  let polling = null;
  let due = null;
  let heard = 0;

  const refresh = () => {
    due ??= setTimeout(() => {
      due = null;
      changed();
    }, REFRESH);
  };

  function open() {
    close();
    if (document.hidden) return state("paused");
    heard = Date.now();
    source = new EventSource(api.url("live"));
    source.onopen = () => {
      heard = Date.now();
      stopPolling();
      state("live");
    };
    source.addEventListener("requests", (event) => {
      heard = Date.now();
      requests(JSON.parse(event.data).requests);
      refresh();
    });
    source.addEventListener("totals", () => {
      heard = Date.now();
      refresh();
    });
    source.onerror = () => {
      // The browser tries again by itself, unless the answer was no stream at all.
      poll();
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(() => !source && !document.hidden && !stopped && open(), 15_000);
      }
    };
    return undefined;
  }

  function poll() {
    if (polling) return;
    state("polling");
    polling = setInterval(async () => {
      try {
        const found = await api.get("requests", { limit: 20 });
        const fresh = found.requests.filter((row) => !known(row)).reverse();
        if (fresh.length) {
          requests(fresh);
          refresh();
        }
      } catch {
        // the shell says that the proxy does not answer
      }
    }, POLL);
  }

  function stopPolling() {
    clearInterval(polling);
    polling = null;
  }

  function close() {
    source?.close();
    source = null;
    stopPolling();
  }

  let stopped = false;
  const seen = () => {
    if (document.hidden) {
      close();
      state("paused");
    } else {
      changed();
      open();
    }
  };
  document.addEventListener("visibilitychange", seen);
  const slide = setInterval(() => !document.hidden && changed(), SLIDE);
  const watch = setInterval(() => source?.readyState === EventSource.OPEN && Date.now() - heard > STALE && poll(), STALE);
  open();

  return () => {
    stopped = true;
    close();
    clearTimeout(due);
    clearInterval(slide);
    clearInterval(watch);
    document.removeEventListener("visibilitychange", seen);
  };
}
