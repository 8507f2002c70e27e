"""The page that asks for an admin token. Pure."""

from desktop_rag.serve.admin.page_parts import button, field, framed, note
from desktop_rag.serve.html_writer import Html, joined, tag


def login_page(fault: str = "") -> Html:
    """The form, with what was wrong with the last try."""
    said = tag("p", fault, class_="said bad", role="alert") if fault else None
    asked = tag(
        "form",
        field("Admin token", "token", kind="password", autocomplete="off", required=True,
              maxlength=200),
        tag("p", button("Log in")),
        method="post", action="/admin/login", class_="login",
    )  # fmt: skip
    hint = note(
        "A token that allows everything. Make one under Settings → Other programs, or with ",
        tag("code", "desktop-rag token add NAME --allow admin"),
        ".",
    )
    return framed("Log in", joined(said, asked, hint), None)
