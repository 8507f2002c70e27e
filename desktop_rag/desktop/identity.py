"""The names by which a desktop knows the app. Any thread.

Windows, desktop file, icon, portals, autostart and the bundle of macOS all use the one id. GNOME
binds hotkeys only for an id of several parts with dots, and macOS allows no underscore in one.
"""

APP_ID = "app.desktoprag.desktoprag"
APP_NAME = "desktop-rag"
URL_SCHEME = "desktop-rag"
ASK_ABOUT = f"Ask {APP_NAME} about this"
SUMMARY = "Ask questions about the documents on your own computer"
