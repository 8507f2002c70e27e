// Markdown as nodes. Text never becomes markup: each node is made by its name from a short list, and
// a link leads to http or https only. HTML in a text stays text, and no image is loaded.

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(?=\S)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
// A mark stands for a node that is put into the text: see `marked`.
const MARK = /\uE000(\d+)\uE001/g;
const INLINE = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<ticks>`+)(?!`)(?<code>[^]{1,2000}?)(?<!`)\k<ticks>(?!`)/,
    /!?\[(?<label>[^[\]]{1,500})\]\((?<href>https?:[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)(?:\s+"[^"]*")?\)/,
    /\[(?<cited>\d{1,4}(?:\s*,\s*\d{1,4})*)\]/,
    /(?<address>https?:\/\/[^\s<>"'`()[\]*\uE000]+[^\s<>"'`()[\]*.,;:!?\uE000])/,
    /\*\*(?!\s)(?<strong>[^]{0,1000}?[^\s*]\*?)\*\*/,
    /~~(?!\s)(?<struck>[^]{0,1000}?\S)~~/,
    /\*(?![\s*])(?<em>[^*]{0,1000}?[^\s*])\*(?!\*)/,
    /(?<!\w)_(?![\s_])(?<em2>[^_]{0,1000}?[^\s_])_(?!\w)/,
    /(?<br>(?: {2,}|\\)\n)/,
    /\uE000(?<mark>\d+)\uE001/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

/**
 * An element, named like "p.note" with its classes. An attribute that is a function listens to the
 * event of that name. No button sends a form by itself.
 */
export function node(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (tag === "button") made.type = "button";
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

/** A link that opens beside the page and tells nothing about it; plain text for other addresses. */
export function link(address, label, attributes = {}) {
  const url = URL.canParse(address) ? new URL(address) : null;
  // With a user before an @ an address looks like that of another host.
  const isSafe = url !== null && /^https?:$/.test(url.protocol) && !url.username;
  if (!isSafe) return node("span", {}, label);
  const fixed = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return node("a", { ...attributes, ...fixed }, label);
}

/** The text with a mark at each of these places, which count characters as Python does. */
export function marked(text, places) {
  const characters = Array.from(text.replace(/[\uE000\uE001]/g, "\uFFFD"));
  places.forEach((place, index) => {
    const at = Math.min(Math.max(0, place), characters.length);
    characters[at] = `\uE000${index}\uE001${characters[at] ?? ""}`;
  });
  return characters.join("");
}

/** The text without marks. */
export function unmarked(text) {
  return text.replace(MARK, "");
}

/** The blocks of a Markdown text, as plain values: { kind, … }. */
export function blocksOf(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let at = 0;
  const take = (matches) => {
    const from = at;
    while (at < lines.length && matches(lines[at], at)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      at += 1;
      const end = new RegExp(`^ {0,3}${fence[1][0]}{${fence[1].length},}\\s*$`);
      blocks.push({ kind: "code", text: take((next) => !end.test(next)).join("\n") });
      at += 1;
    } else if (heading) {
      at += 1;
      blocks.push({ kind: "heading", level: heading[1].length, text: heading[2] });
    } else if (RULE.test(line)) {
      at += 1;
      blocks.push({ kind: "rule" });
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      const inside = take((next) => QUOTE.test(next)).map((next) => next.replace(QUOTE, ""));
      blocks.push({ kind: "quote", blocks: blocksOf(inside.join("\n"), depth + 1) });
    } else if (ITEM.test(line) && depth < DEEPEST) {
      blocks.push(listOf(take(inList(lines, at)), depth));
    } else if (isTable(line, lines[at + 1] ?? "")) {
      const [head, , ...rows] = take((next) => next.includes("|")).map(cellsOf);
      blocks.push({ kind: "table", head, rows });
    } else {
      const from = at;
      const inside = take((next, now) => now === from || !(next.trim() === "" || begins(next)));
      blocks.push({ kind: "paragraph", text: inside.join("\n").trim() });
    }
  }
  return blocks;
}

function isTable(head, rule) {
  return head.includes("|") && rule.includes("|") && TABLE_RULE.test(rule);
}

function begins(line) {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
}

/** Tells the lines of a list: its items, what is indented below them, blank lines between. */
function inList(lines, first) {
  const [, indent, number] = ITEM.exec(lines[first]);
  const isPart = (line = "") => {
    const item = ITEM.exec(line);
    if (item && item[1].length <= indent.length) return !item[2] === !number;
    return /^\s+\S/.test(line);
  };
  // A paragraph goes on without indentation.
  const isLazy = (at) => at > first && lines[at - 1].trim() && !begins(lines[at]);
  return (line, at) => (line.trim() ? isPart(line) || isLazy(at) : isPart(lines[at + 1]));
}

function listOf(lines, depth) {
  const first = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= first[1].length) items.push([line.slice(item[0].length)]);
    else items.at(-1).push(line.replace(/^\s{1,4}/, ""));
  }
  return {
    kind: "list",
    start: first[2] === undefined ? null : Number(first[2]),
    items: items.map((item) => blocksOf(item.join("\n"), depth + 1)),
  };
}

function cellsOf(line) {
  const inside = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/**
 * The nodes of a block. `places` makes what is not text: `cite(n)` the button of a source, or null
 * when there is none of this number, and `mark(index)` the node at a mark.
 */
export function nodesOf(block, places) {
  const inline = (text) => inlineNodes(text, places);
  const inside = (blocks) => blocks.flatMap((each) => nodesOf(each, places));
  switch (block.kind) {
    case "code": {
      const marks = [...block.text.matchAll(MARK)].map((found) => places.mark(Number(found[1])));
      const code = node("code", {}, unmarked(block.text));
      return [node("pre", { tabindex: "0" }, code), ...marks.filter(Boolean)];
    }
    case "heading":
      return [node(`h${Math.min(6, block.level + 3)}`, {}, ...inline(block.text))];
    case "rule":
      return [node("hr")];
    case "quote":
      return [node("blockquote", {}, ...inside(block.blocks))];
    case "list": {
      const items = block.items.map((item) => {
        const tight = item[0]?.kind === "paragraph" ? inline(item[0].text) : null;
        return node("li", {}, ...(tight ? [...tight, ...inside(item.slice(1))] : inside(item)));
      });
      return [block.start === null ? node("ul", {}, ...items) : node("ol", { start: block.start }, ...items)];
    }
    case "table": {
      const row = (name, cells) =>
        node("tr", {}, ...cells.map((cell) => node(name, {}, ...inline(cell))));
      const rows = block.rows.map((cells) => row("td", cells));
      const table = node("table", {}, node("thead", {}, row("th", block.head)), node("tbody", {}, ...rows));
      return [node("div.wide", { tabindex: "0" }, table)];
    }
    default:
      return [node("p", {}, ...inline(block.text))];
  }
}

function inlineNodes(text, places, depth = 0) {
  const nodes = [];
  let from = 0;
  const within = (inner) => (depth < DEEPEST ? inlineNodes(inner, places, depth + 1) : [inner]);
  for (const found of text.matchAll(INLINE)) {
    const made = inlineNode(found[0], found.groups, places, within);
    if (!made.length) continue;
    if (found.index > from) nodes.push(text.slice(from, found.index));
    nodes.push(...made);
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

/** What a match becomes; nothing when it stays as it is. */
function inlineNode(whole, groups, places, within) {
  const is = (name) => groups[name] !== undefined;
  if (is("escaped")) return [groups.escaped];
  if (is("code")) return [node("code", {}, unmarked(groups.code.trim()))];
  if (is("href")) return [link(groups.href, unmarked(groups.label))];
  if (is("address")) return [link(whole, whole)];
  if (is("cited")) {
    const made = groups.cited.split(",").map((n) => places.cite(Number(n)));
    return made.every(Boolean) ? made : [];
  }
  if (is("br")) return [node("br")];
  if (is("mark")) return [places.mark(Number(groups.mark)) ?? ""];
  if (is("struck")) return [node("del", {}, ...within(groups.struck))];
  if (is("strong")) return [node("strong", {}, ...within(groups.strong))];
  return [node("em", {}, ...within(groups.em ?? groups.em2))];
}

/**
 * Keeps an element equal to a Markdown text while the text grows. Blocks that stay the same keep
 * their nodes, and with them the selection and the focus of the reader.
 */
export class GrowingText {
  #shown = [];

  constructor(element) {
    this.element = element;
  }

  show(text, places, { isNew = false } = {}) {
    const blocks = blocksOf(text);
    const keys = blocks.map((block) => JSON.stringify(block));
    let same = 0;
    while (!isNew && same < keys.length && this.#shown[same]?.key === keys[same]) same += 1;
    for (const old of this.#shown.splice(same)) old.nodes.forEach((each) => each.remove());
    blocks.slice(same).forEach((block, index) => {
      const nodes = nodesOf(block, places);
      this.element.append(...nodes);
      this.#shown.push({ key: keys[same + index], nodes });
    });
  }
}
