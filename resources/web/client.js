/**
 * Asks the local server of desktop-rag. No user interface, no dependencies.
 *
 *     import { Client } from "http://localhost:8642/client.js";
 *     const client = new Client({ server: "http://localhost:8642", token: "drag-…" });
 *     for await (const event of client.ask("When is the lamp lit?")) console.log(event);
 */

const JSON_TYPE = "application/json";

/**
 * A request that failed. `status` is that of HTTP, 0 when the server was not reached; `code` is for
 * programs; `retryAfter` is in seconds, 0 when the server asks for no wait.
 */
export class RequestError extends Error {
  constructor(message, { status = 0, code = "", retryAfter = 0 } = {}) {
    super(message);
    this.name = "RequestError";
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/**
 * `server` is its address, by default that of the page; `model` the name that is asked by default.
 * `token` is that of the page, `userToken` that of the person who uses it. Each may be a function
 * that gives the token, or a promise of it, before each request.
 */
export class Client {
  constructor({ server = "", token = "", userToken = "", model = "desktop-rag" } = {}) {
    this.server = new URL(server || location.origin, location.href).href.replace(/\/+$/, "");
    this.token = token;
    this.userToken = userToken;
    this.model = model;
  }

  /**
   * The events of an answer, as they come. Each has a `type`:
   *
   * - `sources`: what was found, before the first word (`sources`, `notes`)
   * - `thinking`; `waiting` with a `reason`
   * - `text`: more of the text; `restated`: the text so far, in place of what came before
   * - `answer`: the finished answer (`text`, `sources`, `state`, `fault`, `answer_id`, …)
   * - `changed`: the answer again, after its claims were checked or follow-up questions were found
   *
   * `history` holds earlier turns, `{ role, content }`; with `documents` only those are read.
   * Aborting the `signal`, or leaving the loop, stops the answer.
   */
  async *ask(question, { history = [], model = this.model, documents, signal } = {}) {
    const body = { question, history, model, ...(documents && { documents }) };
    const response = await this.#fetch("/chat/ask", { body, signal });
    for await (const event of eventsOf(response)) {
      if (event.type === "end") return;
      if (event.type === "error") {
        throw failure(event.error, { status: event.status, retryAfter: event.retry_after || 0 });
      }
      for (const source of [...(event.sources || []), ...(event.nearest || [])]) {
        source.url = this.#reachable(source.url);
      }
      yield event;
    }
    throw new RequestError("The connection ended.");
  }

  /** The passages that fit best, best first, in `results`; for a token that may read. */
  async search(query, more = {}) {
    return this.#json("/api/v1/search", { body: { query, ...more } });
  }

  /**
   * Says what the person thinks of an answer, "like", "dislike" or "none", and gives `answer_id`, with
   * which the opinion can be changed. An answer that has none yet is told by its `question` and its
   * text, `answer`, and stored with the opinion; `rewrite` is how it should have been.
   */
  async feedback(opinion, { answerId, question, answer, rewrite } = {}) {
    const which = answerId ? { answer_id: answerId } : { question, answer };
    return this.#json("/api/v1/feedback", { body: { opinion, rewrite, ...which } });
  }

  /** The names that may be asked: `{ id, title }` each. */
  async models() {
    return (await this.#json("/chat/models")).models;
  }

  async #json(path, options) {
    return (await this.#fetch(path, options)).json();
  }

  async #fetch(path, { body, signal } = {}) {
    const headers = {};
    const [token, userToken] = await Promise.all([valueOf(this.token), valueOf(this.userToken)]);
    if (token) headers.Authorization = `Bearer ${token}`;
    if (userToken) headers["X-Desktop-Rag-User"] = userToken;
    if (body) headers["Content-Type"] = JSON_TYPE;
    let response;
    try {
      response = await fetch(this.server + path, {
        method: body ? "POST" : "GET",
        body: body && JSON.stringify(body),
        headers,
        signal,
        // A page of the server itself has logged in by a cookie.
        credentials: token ? "omit" : "same-origin",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const code = (await this.#isForeign()) ? "wrong_origin" : "unreachable";
      throw new RequestError("No answer.", { code });
    }
    if (response.ok) return response;
    const told = await response.json().catch(() => ({}));
    const retryAfter = Number(response.headers.get("Retry-After")) || 0;
    throw failure(told.error, { status: response.status, retryAfter });
  }

  /** Whether the server is there, but refuses the origin of this page: a browser doesn't tell. */
  async #isForeign() {
    if (new URL(this.server).origin === globalThis.location?.origin) return false;
    return fetch(`${this.server}/chat.js`, { mode: "no-cors" }).then(() => true, () => false);
  }

  /** The address of a passage, at the name by which this page reaches the server. */
  #reachable(address) {
    const { pathname, search } = new URL(address, this.server);
    return pathname.startsWith("/source/") ? this.server + pathname + search : address;
  }
}

async function valueOf(token) {
  return typeof token === "function" ? token() : token;
}

function failure(error, more = {}) {
  return new RequestError(error?.message || "", { code: error?.code || "", ...more });
}

/** The JSON values of server-sent events. */
async function* eventsOf(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += decoder.decode(value, { stream: true });
      const whole = waiting.split("\n\n");
      waiting = whole.pop();
      for (const lines of whole) {
        if (lines.startsWith("data: ")) yield JSON.parse(lines.slice(6));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
