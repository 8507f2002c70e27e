"use strict";

// The chat as a page uses it. The token stays in this page: it is in no address and not stored.
const find = (id) => document.getElementById(id);
let chat;

find("example").textContent = `<script src="${location.origin}/chat.js" defer></script>
<script src="start.js" defer></script>
<div id="chat"></div>

// start.js
DesktopRag.init({
  server: "${location.origin}",
  element: "#chat",
  token: "drag-…",
});`;

find("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  chat?.remove();
  chat = globalThis.DesktopRag.init({
    server: location.href.replace(/\/demo$/, ""),
    element: find("floating").checked ? null : "#chat",
    token: find("token").value.trim(),
    language: find("language").value || navigator.language,
    theme: find("theme").value,
    showAdvanced: find("advanced").checked,
  });
  chat.open();
});
