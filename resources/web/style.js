const STYLE = `
:host {
  all: initial; display: block; height: 100%; color-scheme: light dark; color: var(--text);
  font: var(--desktop-rag-font, 1rem/1.5 system-ui, sans-serif);
  --text: light-dark(#1c2330, #e5e9ef); --muted: light-dark(#586273, #a3adbc);
  --window: light-dark(#fbfbfc, #15181e); --surface: light-dark(#fff, #1c2028);
  --hover: light-dark(#e9ebf0, #242a34);
  --line: light-dark(#dfe2e8, #2f3641); --edge: #767f8e;
  --accent: var(--desktop-rag-accent, light-dark(#4754c9, #97a2ff));
  --on-accent: var(--desktop-rag-on-accent, light-dark(#fff, #11142c));
  --soft: light-dark(#e8eafb, #2a3061); --on-soft: light-dark(#343e9e, #c8ceff);
  --bad: light-dark(#8f1f19, #ffbdb6); --bad-soft: light-dark(#fcebe9, #3c1f1f);
  --warn: light-dark(#6b4100, #f7d199); --warn-soft: light-dark(#fdf2dd, #37290f);
  --good: light-dark(#145a38, #a3e6c2);
}
:host([data-theme=light]) { color-scheme: light; }
:host([data-theme=dark]) { color-scheme: dark; }
:host([data-floating]) { position: fixed; inset: auto 1rem 1rem auto; z-index: 9999; height: auto; }
* { box-sizing: border-box; }
[hidden], p:empty { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
button, textarea, select { font: inherit; color: inherit; border: 1px solid transparent; border-radius: .5rem; }
button { cursor: pointer; background: none; padding: .25rem .6rem; }
button:hover:enabled { background: var(--hover); }
button:disabled { cursor: default; opacity: .6; }
:focus-visible, .source:focus { outline: 2px solid var(--accent); outline-offset: 1px; }
svg { width: 1.25rem; display: block; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.icon { padding: .4rem; }
[value=dislike] svg { rotate: .5turn; }
.chat { container-type: inline-size; display: flex; flex-direction: column; height: 100%; min-height: 22rem; max-height: 100dvh; background: var(--window); border: 1px solid var(--line); border-radius: .9rem; overflow: hidden; position: relative; }
:host([data-floating]) .chat { width: min(27rem, 100vw - 2rem); height: min(42rem, 100dvh - 2rem); min-height: 0; }
:host([data-floating]) > *, .launch { box-shadow: 0 .5rem 2rem #0005; }
.launch { border-radius: 2rem; padding: .75rem 1.1rem; }
header, footer { background: var(--surface); border: 0 solid var(--line); padding: .5rem .75rem; }
header { display: flex; align-items: center; border-bottom-width: 1px; }
footer { border-top-width: 1px; padding-top: .7rem; }
footer .notes { margin: .4rem 0 0; }
h2 { font-size: 1rem; margin: 0 auto 0 .25rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 1rem; overflow-wrap: anywhere; }
.question, .text *, blockquote, .name span, .claim p { unicode-bidi: plaintext; }
.greeting { color: var(--muted); text-align: center; margin: 2rem 1rem; }
.turn { margin: 0 auto 1.75rem; max-width: 46rem; }
.question { margin: 0 0 .9rem auto; width: fit-content; max-width: 88%; padding: .5rem .85rem; border-radius: 1rem 1rem .25rem; background: var(--soft); white-space: pre-wrap; }
.text :is(p, ul, ol, pre, blockquote), .wide, .box, .state, .summary, .notes, .same { margin: 0 0 .7rem; }
.text :is(h4, h5, h6) { font-size: 1rem; color: inherit; margin: 1rem 0 .4rem; }
:is(ul, ol) { padding-inline-start: 1.5rem; }
.text li > * { margin-bottom: 0; }
pre, .wide { overflow-x: auto; }
pre, code, th, .claim { background: var(--hover); border-radius: .3rem; }
pre { padding: .6rem .8rem; }
code { font: .875em/1.45 ui-monospace, monospace; padding: 0 .2em; }
blockquote { border-inline-start: 3px solid var(--line); padding-inline-start: .75rem; margin: .4rem 0; color: var(--muted); }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: start; overflow-wrap: normal; }
a { color: var(--accent); }
.cite, .sign, .number { padding: 0 .4em; margin: 0 .1em; font-size: .75rem; line-height: 1.25rem; border-radius: .4rem; vertical-align: .1em; }
.cite, .number { background: var(--soft); color: var(--on-soft); font-weight: 600; }
.sign { border: 1px solid; line-height: 1.1rem; }
.supported { color: var(--good); } .partly, .not { color: var(--warn); } .contradicted { color: var(--bad); }
.state, .notes, .summary, .place, .same, .links, .told, summary { color: var(--muted); font-size: .875rem; }
.state { display: flex; gap: .5rem; align-items: center; }
.state::before { content: ""; width: 1rem; height: 1rem; border-radius: 50%; border: 2px solid var(--line); border-top-color: var(--accent); animation: turn 1s linear infinite; }
@keyframes turn { to { rotate: 1turn; } }
@media (prefers-reduced-motion: reduce) { .state::before { animation: none; } }
.box { border-radius: .6rem; padding: .6rem .8rem; background: var(--warn-soft); color: var(--warn); }
.error { background: var(--bad-soft); color: var(--bad); }
.claim { background: var(--hover); color: inherit; }
.box p { margin: 0 0 .3rem; } .box > button { border-color: currentColor; } .box:has(+ .box) { border-radius: .6rem .6rem 0 0; margin: 0; } .box + .box { border-radius: 0 0 .6rem .6rem; }
h4 { font-size: .8125rem; color: var(--muted); margin: .9rem 0 .4rem; }
.list, .next { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
.source { border: 1px solid var(--line); border-radius: .6rem; background: var(--surface); padding: .6rem .75rem; }
.source p { margin: 0; }
.name { display: flex; gap: .5rem; align-items: baseline; font-weight: 600; }
.name .sign { margin-inline-start: auto; border: 0; }
.links { display: flex; flex-wrap: wrap; gap: 0 .9rem; }
.links button { padding: 0; text-decoration: underline; }
details { margin-top: .5rem; } summary { cursor: pointer; margin-bottom: .5rem; }
.actions { display: flex; margin: .5rem 0 0 -.4rem; color: var(--muted); align-items: center; }
.actions [aria-pressed=true] { color: var(--accent); background: var(--soft); }
.next { display: flex; flex-wrap: wrap; }
.next button { border-color: var(--line); border-radius: 1rem; text-align: start; background: var(--surface); }
form, .same { display: flex; gap: .5rem; align-items: end; }
textarea { flex: 1; min-width: 0; resize: none; border-color: var(--edge); background: var(--window); padding: .6rem .8rem; field-sizing: content; min-height: 2.85rem; max-height: 9rem; }
.claim textarea { width: 100%; }
::placeholder { color: var(--muted); opacity: 1; }
.primary, .primary:hover:enabled { background: var(--accent); color: var(--on-accent); }
.send { padding: .75rem; }
input { accent-color: var(--accent); flex: none; align-self: center; margin: 0; }
select { max-width: 11rem; border-color: var(--line); background: var(--window); padding: .3rem; }
@container (width < 24rem) { select { max-width: 7rem; } }
@media (width < 30rem) { :host([data-open]) { inset: 0; } :host([data-floating]) .chat { width: 100%; height: 100dvh; border-radius: 0; } }
`;

let sheet;

/** The style of the chat, made once for all chats of a page. No style element is needed. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
}
