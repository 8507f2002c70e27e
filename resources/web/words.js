const WORDS = {
  en: {
    title: "Ask the documents",
    greeting: "Answers may be wrong: check their sources.",
    question: "Ask a question…",
    send: "Send",
    stop: "Stop",
    close: "Close",
    clear: "New conversation",
    save: "Save the conversation",
    model: "Model",
    log: "Conversation",
    asked: "You asked",
    answered: "Answer",
    searching: "Searching the documents…",
    writing: "Reading {n} sources…",
    thinking: "The model is thinking…",
    checking: "Checking the answer against its sources…",
    checked: "{good} of {all} statements are fully backed by sources.",
    open: " ○: not checked.",
    sources: "Sources",
    source: "Source {n}: {title}",
    others: "Read, but not cited ({n})",
    nearest: "Nearest passages, but probably not about it",
    passage: "Show the passage",
    original: "Open the page",
    back: "Back to the text",
    like: "Good answer",
    dislike: "Bad answer",
    again: "Ask again",
    againIn: "Ask again in {n} s",
    followUps: "You may want to ask",
    same: "Answer the next question from the same sources only ({n})",
    stopped: "You stopped the answer; it is not complete.",
    partial: "The answer is not complete.",
    unchecked: "This answer was not checked against its sources.",
    disputed: "A source contradicts part of this answer.",
    excerpts: "These are sentences of the documents: no model is set up.",
    own: "Not from the documents: the model's own knowledge.",
    tooMany: "Too many questions at the moment. Please wait a little.",
    denied: "This chat has no access here. Reload the page, or ask whoever runs it.",
    unreachable: "The server can't be reached. Is it off?",
    foreign: "The server refuses this page: its option --origin allows it.",
    failed: "That did not work.",
    supported: "Backed by sources",
    partly: "Partly supported",
    "not in the sources": "Not found in the sources",
    contradicted: "Contradicted by a source",
    "not checked": "Not checked",
  },
  de: {
    title: "Die Dokumente fragen",
    greeting: "Antworten können falsch sein: prüfen Sie die Quellen.",
    question: "Frage eingeben…",
    send: "Senden",
    stop: "Anhalten",
    close: "Schließen",
    clear: "Neues Gespräch",
    save: "Gespräch speichern",
    model: "Modell",
    log: "Gespräch",
    asked: "Ihre Frage war",
    answered: "Antwort",
    searching: "Die Dokumente werden durchsucht…",
    writing: "{n} Quellen werden gelesen…",
    thinking: "Das Modell denkt nach…",
    checking: "Die Antwort wird mit ihren Quellen verglichen…",
    checked: "{good} von {all} Aussagen sind durch die Quellen voll belegt.",
    open: " ○: nicht geprüft.",
    sources: "Quellen",
    source: "Quelle {n}: {title}",
    others: "Gelesen, aber nicht zitiert ({n})",
    nearest: "Die nächsten Stellen, die aber wohl etwas anderes behandeln",
    passage: "Stelle anzeigen",
    original: "Seite öffnen",
    back: "Zurück zum Text",
    like: "Gute Antwort",
    dislike: "Schlechte Antwort",
    again: "Noch einmal fragen",
    againIn: "Noch einmal fragen in {n} s",
    followUps: "Mögliche weitere Fragen",
    same: "Die nächste Frage nur aus denselben Quellen beantworten ({n})",
    stopped: "Sie haben die Antwort angehalten; sie ist unvollständig.",
    partial: "Die Antwort ist unvollständig.",
    unchecked: "Diese Antwort wurde nicht mit ihren Quellen verglichen.",
    disputed: "Eine Quelle widerspricht einem Teil dieser Antwort.",
    excerpts: "Das sind Sätze aus den Dokumenten: Es ist kein Modell eingerichtet.",
    own: "Nicht aus den Dokumenten: eigenes Wissen des Modells.",
    tooMany: "Zurzeit sind es zu viele Fragen. Bitte warten Sie ein wenig.",
    denied: "Dieser Chat hat hier keinen Zugang. Laden Sie die Seite neu, oder fragen Sie ihren Betreiber.",
    unreachable: "Der Server ist nicht erreichbar. Ist er aus?",
    foreign: "Der Server antwortet dieser Seite nicht: Die Option --origin erlaubt sie.",
    failed: "Das hat nicht geklappt.",
    supported: "Durch die Quellen belegt",
    partly: "Teilweise belegt",
    "not in the sources": "In den Quellen nicht gefunden",
    contradicted: "Eine Quelle widerspricht",
    "not checked": "Nicht geprüft",
  },
};

/**
 * Gives the texts of a language, a tag like "de-AT", by their names; English for one without texts.
 * `own` replaces some of them, so that a page can add a language or speak for itself.
 */
export function speaker(language, own = {}) {
  const words = { ...WORDS.en, ...WORDS[primary(language)], ...own };
  return (name, values = {}) =>
    words[name].replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/** The language in which the chat speaks when a page asks for this one. */
export function spoken(language) {
  return primary(language) in WORDS ? primary(language) : "en";
}

function primary(language) {
  return String(language).toLowerCase().split("-")[0];
}
