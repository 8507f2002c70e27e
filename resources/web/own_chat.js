"use strict";

// The browser sends the cookie of the login, so the chat needs no token.
globalThis.DesktopRag.init({
  server: location.origin,
  element: "#chat",
  language: navigator.language,
  showAdvanced: true,
}).open();
