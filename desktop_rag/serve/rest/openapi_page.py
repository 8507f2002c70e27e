"""The page that shows the OpenAPI document: plain HTML of our own, all text escaped. Pure."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
summary { cursor: pointer; padding: .35rem 0; overflow-wrap: anywhere; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code, pre { font-family: ui-monospace, monospace; font-size: .9rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
th { font-weight: 600; } td { overflow-wrap: anywhere; }
.muted { color: GrayText; }
"""
POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


def openapi_page(document: Mapping[str, Any]) -> str:
    """The page."""
    info, schemas = document["info"], document["components"]["schemas"]
    groups: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            [tag] = operation["tags"]
            groups[tag].append(_operation(method, path, operation))
    shown = "".join(
        f"<h2>{escape(tag.capitalize())}</h2>{''.join(found)}" for tag, found in groups.items()
    )
    forms = "".join(_schema(name, schema) for name, schema in sorted(schemas.items()))
    title = f"{escape(info['title'])} {escape(info['version'])}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/api/docs.css"></head><body>'
        f"<h1>{title}</h1><p>{_worded(info['description'])}</p>"
        '<p>For programs: <a href="/api/openapi.json">openapi.json</a></p>'
        f"<main>{shown}<h2>Forms</h2>{forms}</main></body></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<p>{_worded(operation['description'])}</p>"]
    if operation["parameters"]:
        rows = "".join(
            _row(each["name"], each["schema"], each["in"], is_needed=each["required"])
            for each in operation["parameters"]
        )
        parts.append(_table("Parameter", rows))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: {_type(content['schema'])} <code>{escape(kind)}</code></p>")
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            kinds = ", ".join(
                f"{_type(content.get('schema', {}))} <code>{escape(kind)}</code>"
                for kind, content in response["content"].items()
            )
            parts.append(f"<p>{escape(status)} {escape(response['description'])} {kinds}</p>")
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><span class="method">'
        f"{escape(method.upper())}</span> <code>{escape(path)}</code>"
        f' <span class="muted">{_worded(operation["summary"])}</span></summary>'
        f"{''.join(parts)}</details>"
    )


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        _row(field, found, "", is_needed=field in needed)
        for field, found in schema.get("properties", {}).items()
    )
    said = _worded(schema.get("description", ""))
    return (
        f'<details id="form-{escape(name)}"><summary><code>{escape(name)}</code>'
        f' <span class="muted">{said}</span></summary>'
        f"{_table('Field', rows) if rows else ''}</details>"
    )


def _table(first: str, rows: str) -> str:
    return f"<table><tr><th>{first}</th><th>Type</th><th></th></tr>{rows}</table>"


def _row(name: str, schema: Mapping[str, Any], place: str, *, is_needed: bool) -> str:
    said = " ".join(filter(None, (place, "needed" if is_needed else "")))
    told = _worded(schema.get("description", ""))
    return (
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(schema)}</td>"
        f'<td>{told} <span class="muted">{escape(said)}</span></td></tr>'
    )


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words, with a link to a form of its own."""
    if reference := schema.get("$ref", ""):
        name = reference.rpartition("/")[2]
        return f'<a href="#form-{escape(name)}">{escape(name)}</a>'
    if kinds := schema.get("anyOf"):
        return " or ".join(_type(kind) for kind in kinds)
    if choices := schema.get("enum"):
        return ", ".join(f"<code>{escape(json.dumps(each))}</code>" for each in choices)
    kind = escape(str(schema.get("type", "anything")))
    return f"list of {_type(schema['items'])}" if "items" in schema else kind


def _worded(text: str) -> str:
    """A text whose parts in backquotes are code."""
    pieces = escape(" ".join(text.split())).split("`")
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(pieces))
