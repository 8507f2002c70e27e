import { Client } from "./client.js";
import { GrowingText, link, marked, node } from "./markup.js";
import { styleSheet } from "./style.js";
import { speaker, spoken } from "./words.js";

const ICONS = {
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M6 6h12v12H6z",
  clear: "M12 5v14M5 12h14",
  save: "M12 4v10.5M8 11l4 4 4-4M5 16.5V20h14v-3.5",
  close: "M6 6l12 12M18 6L6 18",
  like: "M7.5 10.5v9h-3v-9zM7.5 11l4-7c1.6 0 2.3 1.2 2 2.6l-.7 3.4H18c1.2 0 2 1 1.7 2.2l-1.5 5.8c-.3 1-1 1.5-2 1.5H7.5",
  rewrite: "M5 15.5V19h3.5L19 8.5 15.5 5zM13 7.5l3.5 3.5",
};
const SIGNS = { supported: "✓", partly: "≈", "not in the sources": "?", contradicted: "✗", "not checked": "○" };
const MOST_TURNS = 40;
const NEAR_END = 80;
const QUOTE_CHARS = 300;
const SCRIPT_ORIGIN = document.currentScript?.src ? new URL(document.currentScript.src).origin : "";

/**
 * Puts a chat into the page and returns it: `element`, `client`, `ask(question)`, `stop()`, `clear()`,
 * `open()`, `close()`, `conversation()`, `remove()`.
 *
 * - `server`: the address of desktop-rag; `token`, `userToken`: see the client
 * - `element`: an element or a selector to fill; without one, a button opens the chat in a corner
 * - `model`: the name that is asked; with `showAdvanced` the person chooses it
 * - `language` ("en", "de"); `words` replaces single texts; `title`, `greeting`
 * - `theme`: "light", "dark" or "auto"; `suggestions`: questions to begin with
 * - `onSave(conversation)`: takes a conversation that is saved, in place of a download
 * - `onFeedback(opinion, { question, answer })`: takes "like", "dislike" or "none" instead of the server
 */
export function init(options = {}) {
  return new Chat(options);
}

class Chat {
  constructor(options) {
    const { server, token, userToken, model, element, theme = "auto" } = options;
    const language = options.language || document.documentElement.lang || navigator.language;
    this.options = options;
    this.client = new Client({ server: server || SCRIPT_ORIGIN, token, userToken, model });
    this.say = speaker(language, options.words);
    this.turns = [];
    this.writing = null;
    this.documents = [];
    const place = typeof element === "string" ? document.querySelector(element) : element;
    const lang = options.words ? language : spoken(language);
    this.element = node("div", { lang, "data-theme": theme, "data-floating": !place });
    this.root = this.element.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [styleSheet()];
    this.#build(!place);
    (place || document.body).append(this.element);
    if (options.showAdvanced) this.#offerModels();
  }

  #build(isFloating) {
    const { say } = this;
    const title = (this.title = this.options.title || say("title"));
    this.log = node("div.log", { role: "log", "aria-live": "off", "aria-label": say("log"), tabindex: "0" });
    this.told = node("p.unseen", { role: "status" });
    this.saving = this.#button("save", () => this.save());
    this.header = node("header", {}, node("h2", {}, title), this.#button("clear", () => this.clear()), this.saving);
    if (isFloating) this.header.append(this.#button("close", () => this.close()));
    this.same = node("input", { type: "checkbox" });
    this.sameWords = node("span");
    this.sameRow = node("label.same", { hidden: true }, this.same, this.sameWords);
    this.field = node("textarea", {
      rows: "1",
      placeholder: say("question"),
      "aria-label": say("question"),
      keydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        this.#send();
      },
    });
    this.button = node("button.primary.send", { type: "submit" });
    const submit = (event) => {
      event.preventDefault();
      if (this.writing) this.stop();
      else this.#send();
    };
    const form = node("form", { submit }, this.field, this.button);
    const footer = node("footer", {}, this.sameRow, form, node("p.notes", {}, say("wrong")));
    const role = isFloating ? "dialog" : "region";
    const keydown = (event) => isFloating && event.key === "Escape" && this.close();
    this.panel = node("section.chat", { role, "aria-label": title, keydown }, this.header, this.log, footer, this.told);
    this.root.append(this.panel);
    if (isFloating) {
      this.launch = node("button.primary.launch", { click: () => this.open() }, title);
      this.root.append(this.launch);
      this.open(false);
    }
    this.#write(null);
    this.clear();
  }

  #button(name, click) {
    return labelled(this.say(name), { class: "icon", click }, icon(name));
  }

  async #offerModels() {
    const models = await this.client.models().catch(() => []);
    if (models.length < 2) return;
    const options = models.map(({ id, title }) =>
      node("option", { value: id, selected: id === this.client.model }, title || id),
    );
    const change = (event) => (this.client.model = event.target.value);
    this.header.firstChild.after(node("select", { "aria-label": this.say("model"), change }, ...options));
  }

  close() {
    this.open(false);
  }

  open(isOpen = true) {
    if (!this.launch) return;
    this.panel.hidden = !isOpen;
    this.launch.hidden = isOpen;
    this.element.toggleAttribute("data-open", isOpen);
    (isOpen ? this.field : this.launch).focus();
  }

  clear() {
    this.turns.forEach((turn) => turn.stop());
    this.turns = [];
    this.documents = [];
    this.same.checked = false;
    const { suggestions = [], greeting = "" } = this.options;
    this.log.replaceChildren(node("p.greeting", {}, greeting), ...this.questions(suggestions));
    this.settled();
    this.field.value = "";
  }

  /** Buttons that ask these questions. */
  questions(texts) {
    const { say } = this;
    if (!texts.length) return [];
    const buttons = texts.map((text) =>
      node("li", {}, node("button", { click: () => this.ask(text) }, text)),
    );
    return [node("h4", {}, say("followUps")), node("ul.next", {}, ...buttons)];
  }

  #send() {
    const question = this.field.value;
    if (this.writing || !question.trim()) return;
    this.field.value = "";
    this.ask(question);
  }

  async ask(question) {
    if (this.writing || !String(question).trim()) return;
    const documents = this.same.checked ? this.documents : undefined;
    const turn = new Turn(this, String(question).trim(), documents);
    if (!this.turns.length) this.log.replaceChildren();
    this.turns.push(turn);
    this.log.append(turn.element);
    await turn.run();
  }

  stop() {
    this.writing?.stop();
  }

  /** Show whether a turn is being written, and with it what the button does. */
  #write(turn) {
    this.writing = turn;
    const name = turn ? "stop" : "send";
    this.button.replaceChildren(icon(name));
    this.button.ariaLabel = this.button.title = this.say(name);
  }

  began(turn) {
    this.#write(turn);
    this.settled();
    this.told.textContent = this.say("searching");
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** A turn is not being written any longer. */
  ended(turn) {
    if (this.writing === turn) this.#write(null);
    this.settled();
  }

  settled() {
    const documents = this.turns.at(-1)?.documentIds() || [];
    if (documents.length) this.documents = documents;
    this.sameRow.hidden = !this.documents.length;
    this.sameWords.textContent = this.say("same", { n: this.documents.length });
    this.saving.disabled = !this.turns.length;
  }

  /** Do what changes the conversation, and stay at its end if the reader is there. */
  growing(change) {
    const { log } = this;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
    change();
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  history(before) {
    const earlier = this.turns.slice(0, this.turns.indexOf(before)).filter((turn) => turn.text);
    return earlier.slice(-MOST_TURNS).flatMap((turn) => [
      { role: "user", content: turn.question },
      { role: "assistant", content: turn.text },
    ]);
  }

  conversation() {
    const { title } = this;
    const turns = this.turns.map((turn) => turn.saved());
    const markdown = [`# ${title}`, ...turns.map((turn) => this.#markdown(turn))].join("\n\n");
    return { title, turns, markdown: `${markdown}\n` };
  }

  #markdown({ question, text, warnings, sources }) {
    const lines = sources.map(({ n, title, place, url, quote }) => {
      const name = escaped([title, place].filter(Boolean).join(", "));
      return `- \\[${n}\\] [${name}](${url})${quote ? `: “${escaped(quote)}”` : ""}`;
    });
    const parts = [`## ${escaped(question)}`, text, ...warnings.map((each) => `*${escaped(each)}*`)];
    if (lines.length) parts.push(`**${this.say("sources")}**`, lines.join("\n"));
    return parts.filter(Boolean).join("\n\n");
  }

  save() {
    const conversation = this.conversation();
    if (this.options.onSave) return this.options.onSave(conversation);
    const href = URL.createObjectURL(new Blob([conversation.markdown], { type: "text/markdown" }));
    node("a", { href, download: `chat-${new Date().toISOString().slice(0, 10)}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  remove() {
    this.turns.forEach((turn) => turn.stop());
    this.element.remove();
  }
}

/** A question and its answer. */
class Turn {
  constructor(chat, question, documents) {
    Object.assign(this, { chat, question, documents, say: chat.say });
    const asked = node("div.question", {}, node("h3.unseen", {}, this.say("asked")), question);
    this.body = node("div.answer", {});
    this.element = node("article.turn", {}, asked, this.body);
  }

  async run() {
    const { chat, question, documents } = this;
    if (chat.writing) return;
    this.#reset();
    chat.began(this);
    const { signal } = this.abort;
    try {
      const history = chat.history(this);
      for await (const event of chat.client.ask(question, { history, documents, signal })) {
        this.#hear(event);
      }
    } catch (error) {
      if (!signal.aborted) this.error = error;
      else if (!this.answer) this.isStopped = true;
    }
    this.isOver = true;
    if (this.error) chat.growing(() => this.#show());
    else this.#show();
    chat.ended(this);
    if (this.isStopped) chat.told.textContent = this.say("stopped");
  }

  stop() {
    this.abort?.abort();
    clearTimeout(this.clock);
  }

  #reset() {
    this.abort = new AbortController();
    Object.assign(this, { text: "", sources: [], answer: null, error: null, isStopped: false, isOver: false, opinion: "none", toldId: "", cameFrom: null });
    this.state = node("p.state", {}, this.say("searching"));
    this.notes = node("p.notes", {});
    this.prose = node("div.text", {});
    this.rest = node("div");
    this.shown = new GrowingText(this.prose);
    const heading = node("h3.unseen", {}, this.say("answered"));
    this.body.replaceChildren(heading, this.notes, this.prose, this.state, this.rest);
    this.body.setAttribute("aria-busy", "true");
  }

  #hear(event) {
    const { chat } = this;
    const { sources, type } = event;
    if (type === "thinking" || type === "waiting") {
      this.state.textContent = event.reason || this.say(type);
    } else if (type === "sources") {
      this.sources = sources;
      this.state.textContent = this.say("writing", { n: sources.length });
      if (chat.options.showAdvanced) this.notes.textContent = event.notes;
    } else if (type === "text" || type === "restated") {
      this.text = type === "text" ? this.text + event.text : event.text;
      // As often as the screen is drawn.
      this.drawing ??= requestAnimationFrame(() => {
        this.drawing = null;
        if (!this.answer && !this.isOver) chat.growing(() => this.#showText());
      });
    } else if (type === "answer" || type === "changed") {
      Object.assign(this, { answer: event, text: event.text, sources });
      if (type === "answer") chat.growing(() => this.#showText());
      this.#show();
      if (type === "answer") {
        chat.ended(this);
        // Citations are no words to listen to.
        chat.told.textContent = `${this.say("answered")}: ${event.text.replace(/\s*\[\d[\d, ]*\]/g, "")}`;
      }
    }
  }

  #claims() {
    return (this.answer?.claims || []).filter((claim) => claim.verdict in SIGNS);
  }

  #isChecked() {
    return this.#claims().some((claim) => claim.verdict !== "not checked");
  }

  #cited() {
    // As long as the server has not said which.
    const isUsed = (n) => !this.answer && this.text.includes(`[${n}]`);
    return this.sources.filter((source) => source.is_cited || isUsed(source.n));
  }

  documentIds() {
    if (!this.answer) return [];
    const used = this.#cited().length ? this.#cited() : this.sources;
    return [...new Set(used.map((source) => source.id).filter(Boolean))];
  }

  #showText() {
    const claims = this.#claims();
    const text = claims.length ? marked(this.text, claims.map((claim) => claim.sign_at)) : this.text;
    const isNew = this.known !== this.sources.length;
    this.known = this.sources.length;
    this.shown.show(text, { cite: (n) => this.#cite(n), mark: (index) => this.#sign(claims[index]) }, { isNew });
  }

  #cite(n) {
    const source = this.sources.find((each) => each.n === n);
    if (!source) return null;
    const label = this.say("source", { n, title: source.title });
    const click = (event) => this.#go(n, event.currentTarget);
    return labelled(label, { class: "cite", click }, String(n));
  }

  #cites() {
    return [...this.prose.querySelectorAll(".cite")];
  }

  /** Lead from a citation to its source, and remember the way back. */
  #go(n, from) {
    const card = this.rest.querySelector(`[data-n="${n}"]`);
    if (!card) return;
    const folded = card.closest("details");
    if (folded) folded.open = true;
    // By its place: what follows an answer may make the button anew.
    this.cameFrom = { n, at: this.#cites().indexOf(from) };
    card.querySelector(".back").hidden = false;
    card.focus();
    card.scrollIntoView({ block: "nearest" });
  }

  #sign(claim) {
    if (!claim) return null;
    const label = this.say(claim.verdict);
    const click = () => this.#explain(claim, label);
    return labelled(label, { class: `sign ${claim.is_near ? "near" : claim.verdict}`, click }, SIGNS[claim.verdict]);
  }

  /** Tell why a sentence has its sign, or no longer. */
  #explain(claim, label) {
    const wasOpen = this.explained?.isConnected && this.explains === claim;
    this.explained?.remove();
    if (wasOpen) return;
    this.explains = claim;
    const cite = claim.source && this.#cite(claim.source);
    this.explained = node("div.box.claim", { tabindex: "-1" },
      node("p", {}, node("strong", {}, `${SIGNS[claim.verdict]} ${label} `), cite),
      node("p", {}, `“${claim.text}”`),
      claim.explanation && node("p", {}, claim.explanation));
    this.prose.after(this.explained);
    this.explained.focus({ preventScroll: true });
    this.explained.scrollIntoView({ block: "nearest" });
  }

  /** What the reader must know of an answer before trusting it. */
  #warnings() {
    const { answer, say } = this;
    if (!answer) return this.isOver && this.text ? [say(this.isStopped ? "stopped" : "partial")] : [];
    const isWhole = answer.state === "done";
    const isUnchecked = isWhole && this.isOver && this.#cited().length && !this.#isChecked();
    const warnings = [];
    if (!isWhole) warnings.push([say("partial"), answer.fault].filter(Boolean).join(" "));
    if (answer.is_own_knowledge) warnings.push(say("own"));
    if (answer.is_excerpts) warnings.push(say("excerpts"));
    else if (isUnchecked && !answer.is_own_knowledge) warnings.push(say("unchecked"));
    if (this.#claims().some((claim) => claim.verdict === "contradicted")) warnings.push(say("disputed"));
    return warnings;
  }

  /** Show all of it; what has the focus keeps it, although it may have been made anew. */
  #show() {
    const found = () => [...this.body.querySelectorAll("button:not(.sign), a, summary, .source")];
    const focused = found().indexOf(this.chat.root.activeElement);
    this.#showAll();
    if (!this.chat.root.activeElement) found()[focused]?.focus({ preventScroll: true });
  }

  #showAll() {
    const { answer, say } = this;
    this.#showText();
    this.explained?.remove();
    const claims = this.#claims();
    const isChecking = answer?.state === "done" && !this.isOver && !claims.length && !answer.is_excerpts;
    this.state.hidden = !isChecking;
    this.state.textContent = say("checking");
    this.body.setAttribute("aria-busy", String(!answer && !this.isOver));
    const parts = this.#warnings().map((text) => node("p.box", {}, text));
    if (this.error || this.isStopped || (answer && answer.state !== "done")) parts.push(this.#wayOut());
    if (this.#isChecked()) {
      const count = (verdict) => claims.filter((claim) => claim.verdict === verdict).length;
      const backed = say("checked", { good: count("supported"), all: claims.length });
      parts.push(node("p.summary", {}, backed + (count("not checked") ? ` ○ ${say("not checked")}.` : "")));
    }
    parts.push(...this.#sourceList());
    if (answer) parts.push(this.#actions(), ...this.chat.questions(answer.follow_ups));
    const isOpen = this.rest.querySelector("details")?.open;
    this.rest.replaceChildren(...parts);
    if (isOpen) this.rest.querySelector("details").open = true;
  }

  #sourceList() {
    const { answer, say } = this;
    if (!answer && !this.isOver) return [];
    const list = (sources) => node("ol.list", {}, ...sources.map((source) => this.#card(source)));
    const cited = this.#cited();
    const others = this.sources.filter((source) => !cited.includes(source));
    const parts = [];
    if (cited.length) parts.push(node("h4", {}, say("sources")), list(cited));
    if (others.length) {
      parts.push(node("details", {}, node("summary", {}, say("others", { n: others.length })), list(others)));
    }
    if (answer?.nearest.length) parts.push(node("h4", {}, say("nearest")), list(answer.nearest));
    return parts;
  }

  #card(source) {
    const { say } = this;
    const sign = SIGNS[source.verdict];
    const label = sign && say(source.verdict);
    const file = source.address || source.path.split(/[\\/]/).pop();
    const place = [source.place, file].filter((each) => each && !each.startsWith(source.title)).join(" · ");
    const text = source.quote || source.text;
    const quote = text.length > QUOTE_CHARS ? `${text.slice(0, QUOTE_CHARS)}…` : text;
    const back = node("button.back", { hidden: this.cameFrom?.n !== source.n, click: () => this.#cites()[this.cameFrom.at]?.focus() }, say("back"));
    return node("li.source", { tabindex: "-1", "data-n": source.n },
      node("p.name", {},
        node("span.number", {}, String(source.n)),
        node("span", {}, source.title),
        sign && node("span", { class: `sign ${source.verdict}`, title: label, role: "img", "aria-label": label }, sign)),
      place && node("p.place", {}, place),
      quote && node("blockquote", {}, quote),
      node("p.links", {},
        link(source.url, say("passage")),
        source.address && link(source.address, say("original")),
        back));
  }

  #actions() {
    const told = node("span.told", { role: "status" });
    const opinions = ["like", "dislike"].map((name) =>
      labelled(this.say(name), { class: "icon", value: name, click: (event) => judge(event.currentTarget.value) }, icon("like")),
    );
    const show = (opinion) => {
      this.opinion = opinion;
      opinions.forEach((each) => each.setAttribute("aria-pressed", each.value === opinion));
    };
    const judge = async (wanted) => {
      const before = this.opinion;
      const { chat, question, text } = this;
      show(before === wanted ? "none" : wanted);
      told.textContent = "";
      try {
        const tell = chat.options.onFeedback || chat.client.feedback.bind(chat.client);
        const about = { answerId: this.toldId, question, answer: text };
        this.toldId = (await tell(this.opinion, about))?.answer_id;
      } catch {
        show(before);
        told.textContent = this.say("failed");
      }
    };
    show(this.opinion);
    // The server keeps nothing for the users of another application.
    const { userToken, onFeedback } = this.chat.options;
    const hidden = this.answer.state !== "done" || (userToken && !onFeedback);
    const rewrite = labelled(this.say("rewrite"), { class: "icon", click: () => this.#rewrite(told) }, icon("rewrite"));
    return node("div.actions", { hidden: Boolean(hidden) }, ...opinions, this.answer.may_rewrite && rewrite, told);
  }

  /** Let the reader put the answer as it should have been, for later questions. */
  #rewrite(told) {
    const field = node("textarea", { "aria-label": this.say("rewrite") });
    field.value = this.text;
    const keep = async () => {
      const { chat, question, text, opinion } = this;
      const about = { answerId: this.toldId, question, answer: text, rewrite: field.value };
      try {
        this.toldId = (await chat.client.feedback(opinion, about)).answer_id;
        this.text = field.value;
        // They were about the text before.
        this.answer.claims = [];
        this.#show();
      } catch {
        told.textContent = this.say("failed");
      }
    };
    const form = node("div.box.claim", {}, field, node("button", { click: keep }, this.say("keep")));
    this.rest.firstChild.before(form);
    field.focus();
  }

  /** What went wrong, and a button that asks again, once the server allows it. */
  #wayOut() {
    const { error, say } = this;
    const again = node("button", { click: () => this.run() }, say("again"));
    if (!error) return node("p.box", {}, again);
    this.#countDown(again, error.retryAfter);
    return node("div.box.error", { role: "alert" }, node("p", {}, this.#fault()), again);
  }

  #fault() {
    const { code, message, status } = this.error;
    if (status === 429) return this.say("tooMany");
    if (code === "unreachable" || code === "wrong_origin") return this.say(code);
    if (status === 401 || status === 403) return this.say("denied");
    return `${this.say("failed")} ${message}`;
  }

  #countDown(button, seconds) {
    button.disabled = seconds > 0;
    button.textContent = this.say(seconds ? "againIn" : "again", { n: seconds });
    if (seconds) this.clock = setTimeout(() => this.#countDown(button, seconds - 1), 1000);
  }

  saved() {
    const { question, text } = this;
    return { question, text, warnings: this.#warnings(), sources: this.#cited() };
  }
}

/** A button that shows a picture or a sign, and is called by these words. */
function labelled(label, attributes, content) {
  return node("button", { title: label, "aria-label": label, ...attributes }, content);
}

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Foreign words in a Markdown file, as words only. */
function escaped(text) {
  return text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>#|~]/g, "\\$&");
}
