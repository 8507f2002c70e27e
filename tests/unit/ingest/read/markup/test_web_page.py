import pytest

from tests.unit.ingest.read.samples import parse


def text_of(body: str, head: str = "") -> str:
    return parse("a.html", f"<html><head>{head}</head><body>{body}</body></html>".encode()).text


@pytest.mark.slow
def test_headings_paragraphs_and_lists_become_markdown() -> None:
    body = """<h1>Fees <em>2024</em></h1><p>All   pay
      <b>ten</b> euros.</p><ul><li>adults<ul><li>members</li></ul></li><li>children</li></ul>
      <ol start="3"><li>three</li><li>four</li></ol><p>end<br>of it</p>"""
    assert text_of(body) == (
        "# Fees 2024\n\nAll pay ten euros.\n\n- adults\n  - members\n- children\n\n"
        "3. three\n4. four\n\nend\nof it"
    )


def test_anchors_are_heading_paths() -> None:
    page = b"<html><body>top<h1>One</h1>a<h2>Two</h2>b<h1></h1><h1>Three</h1>c</body></html>"
    document = parse("a.html", page)
    assert [(h.level, h.title) for h in document.headings] == [(1, "One"), (2, "Two"), (1, "Three")]
    paths = [mark.anchor.heading for mark in document.marks]
    assert paths == ["One", "One › Two", "Three"]
    for heading, mark in zip(document.headings, document.marks, strict=True):
        assert heading.offset == mark.offset
        assert document.text[mark.offset :].startswith("#" * heading.level + f" {heading.title}")


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<nav><ul><li>SECRET</li></ul></nav>",
        "<template><p>SECRET</p></template>",
        "<div hidden>SECRET <br> <img src=x> <p>SECRET</p></div>",
        "<p style='color:red; Display : none'>SECRET</p>",
        "<a aria-hidden='true'>SECRET</a>",
        "<!-- SECRET -->",
        "<svg><text>SECRET</text></svg>",
        "<select multiple><option>SECRET</option></select>",
    ],
)
def test_what_a_browser_does_not_show_is_dropped(hidden: str) -> None:
    assert text_of(f"<p>before</p>{hidden}<p>after</p>") == "before\n\nafter"


def test_of_a_list_to_choose_from_the_choice_is_read() -> None:
    colours = "<select><option>red</option><option selected>blue</option></select>"
    assert text_of(f"<p>Colour: {colours}of the hull</p>") == "Colour: blue of the hull"


def test_a_page_hidden_until_its_script_runs_is_read_nevertheless() -> None:
    assert text_of("<div style='display:none'><p>the text</p></div>") == "the text"


def test_rows_of_a_table_are_lines() -> None:
    table = """<table><tr><th>Name</th><th>Fee</th><th>Note</th></tr>
      <tr><td><p>Ann</p><p>Lee</p></td><td>10</td><td></td></tr>
      <tr><td></td><td>20</td><td>late</td></tr></table><p>after</p>"""
    assert text_of(table) == "Name | Fee | Note\nAnn Lee | 10\n| 20 | late\n\nafter"


def test_a_table_made_for_layout_is_no_table() -> None:
    page = "<table><tr><td><h1>Title</h1><p>text</p></td><td>{}</td></tr></table>"
    table = "<table><tr><td>a</td><td>b</td></tr></table>"
    assert text_of(page.format(table)) == "# Title\n\ntext\n\na | b"


def test_preformatted_text_keeps_its_lines() -> None:
    assert text_of("<p>See:</p><pre>if x:\n    y = 1\n</pre><p>done</p>") == (
        "See:\n\n```\nif x:\n    y = 1\n\n```\n\ndone"
    )


def test_the_title_of_the_page_and_the_words_for_its_pictures_are_kept() -> None:
    page = b"<title> My\n page </title><body><h1>Other</h1><img alt='a duck'> <a href='x'>link</a>"
    document = parse("a.html", page)
    assert document.title == "My page"
    assert document.text == "# Other\n\na duck link"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_declared_encoding_counts(encoding: str) -> None:
    page = f"<html><head><meta charset='{encoding}'></head><body>déjà vu</body></html>"
    assert parse("a.html", page.encode(encoding)).text == "déjà vu"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "deep text" + "</div>" * 100_000,
        "<b><i><p>" * 20_000 + "deep text",
        "<table><tr><td>" * 20_000 + "deep text",
        "<ul><li>" * 20_000 + "deep text",
    ],
)
def test_deep_nesting_loses_nothing(page: str) -> None:
    assert parse("a.html", page.encode()).text.endswith("deep text")


def test_unclosed_markup_is_read() -> None:
    page = b"<p><b>one <i>two <table><tr><td>cell <p>three &nbsp;&#x110000; <script>var h='SECRET'"
    text = parse("a.html", page).text
    assert "one two" in text
    assert "three" in text
    assert "SECRET" not in text


@pytest.mark.parametrize(
    ("table", "header", "rows"),
    [
        ("<tr><th>Name<th>Fee</tr><tr><td>Ann<td>ten</tr>", "Name | Fee", "Ann | ten"),
        ("<tr><td>Name<td>Fee</tr><tr><td>Ann<td>10</tr>", "Name | Fee", "Ann | 10"),
        (
            "<tr><th>2025<th>2026</tr><tr><th>high<th>low</tr><tr><td>5.40<td>6.20</tr>",
            "2025 | 2026 / high | low",
            "5.40 | 6.20",
        ),
    ],
)  # fmt: skip
def test_rows_know_the_header_they_stand_under(table: str, header: str, rows: str) -> None:
    document = parse("a.html", f"<p>Fees</p><table>{table}</table><p>after</p>".encode())
    [found] = document.table_headers
    assert found.text == header
    assert document.text[found.start : found.end].strip() == rows


@pytest.mark.parametrize(
    "table",
    [
        "<tr><th>Name</th><td>Ann</td></tr><tr><th>Place</th><td>Wick</td></tr>",
        "<tr><th>Ann Lee</th></tr><tr><td>born</td><td>in Wick</td></tr>",
        "<tr><th>Name</th><th>Fee</th></tr>",
    ],
)
def test_a_table_without_a_header_row_has_none(table: str) -> None:
    assert not parse("a.html", f"<table>{table}</table><p>after</p>".encode()).table_headers


def test_the_words_on_the_button_of_a_heading_and_no_link_to_itself_are_read() -> None:
    page = b"<h2><button>Opening hours</button></h2><h3>Fees<a href='#f'>\xc2\xb6</a></h3>ten"
    assert [h.title for h in parse("a.html", page).headings] == ["Opening hours", "Fees"]


def test_an_empty_block_of_code_leaves_no_fence() -> None:
    assert text_of("<pre></pre><p>after</p>") == "after"


def test_elements_closed_as_in_xml_swallow_nothing() -> None:
    page = b"<html><head><title/><script src='a'/></head><body><a id='x'/><p>one</p><div/>two"
    assert parse("a.html", page).text == "one\n\ntwo"


def test_a_merged_cell_says_its_text_wherever_it_reaches() -> None:
    rows = (
        '<tr><th rowspan="2">Mill</th><th colspan="2">2031</th></tr>'
        "<tr><th>Rye</th><th>Oats</th></tr>"
        '<tr><td>Ostby</td><td>7</td><td rowspan="2">9</td></tr><tr><td>Vik</td><td>8</td></tr>'
    )
    document = parse("a.html", f"<table>{rows}</table>".encode())
    assert document.text == "Mill | 2031 | 2031\nMill | Rye | Oats\nOstby | 7 | 9\nVik | 8 | 9"
    assert [h.text for h in document.table_headers] == ["Mill | 2031 | 2031 / Mill | Rye | Oats"]


def test_what_a_saved_page_keeps_in_templates_frames_and_fields_is_read() -> None:
    body = (
        '<div><template shadowrootmode="open"><p>Mooring fee 12.</p></template></div>'
        "<template><p>Not shown.</p></template>"
        '<iframe srcdoc="&lt;p&gt;Tide at &lt;b&gt;six&lt;/b&gt;.&lt;/p&gt;"></iframe>'
        '<p>Name <input value="Ida Holm"> <input type="hidden" value="x9"></p>'
        '<ol type="a"><li>rope</li><li>anchor</li></ol>'
    )
    assert text_of(body) == (
        "Mooring fee 12.\n\nTide at six.\n\nName Ida Holm\n\na. rope\nb. anchor"
    )


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ('<ol><li>a<li value="7">b<li>c</ol>', "1. a\n7. b\n8. c"),
        ('<ol style="list-style: lower-roman inside"><li>a<li>b</ol>', "i. a\nii. b"),
        ('<style>.z {list-style-type: upper-alpha}</style><ol class="z"><li>a</ol>', "A. a"),
        ("<ul><li>x</ul><ol reversed><li>a<li>b<ul><li>c</ul></ol>", "- x\n\n2. a\n1. b\n  - c"),
        ('<ol reversed start="9"><li>a<li>b</ol>', "9. a\n8. b"),
        ("<nav><ul><li>x</ul></nav><ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ('<ol style="list-style-type:none"><li>a</ol>', "- a"),
    ],
)
def test_items_have_the_numbers_that_the_page_shows(markup: str, said: str) -> None:
    assert text_of(markup) == said


def test_boxes_say_whether_they_are_ticked() -> None:
    radios = 'Smoker: <label><input type="radio" checked>yes</label> <input type="RADIO">no'
    boxes = '<p><input type="checkbox"> Latvia <input type="checkbox" checked="checked"> Norway'
    assert text_of(radios + boxes) == "Smoker: ☒ yes ☐ no\n\n☐ Latvia ☒ Norway"


def test_frames_within_frames_end() -> None:
    page = "<p>end</p>"
    for _ in range(8):
        page = f'<iframe srcdoc="{page.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>'
    assert "end" not in text_of(f"<p>top</p>{page}")


def test_a_list_to_choose_from_shows_its_first_entry_until_another_is_chosen() -> None:
    page = (
        "<p>Pay in <select><option>USD<option>EUR</select> for size <select><option>S"
        "<option selected>M</select> to <select><option value=''>Choose<option>Oslo</select> now."
    )
    assert parse("a.html", page.encode()).text == "Pay in USD for size M to now."


def test_items_of_lists_in_cells_keep_their_numbers() -> None:
    page = (
        "<table><tr><th>Duck<th>Care<tr><td>Teal<td><ol><li>Feed<li>Wait</ol>"
        "<tr><td>Smew<td><ul><li>Rest</ul></table>"
    )
    assert parse("a.html", page.encode()).text == (
        "Duck | Care\nTeal | 1. Feed 2. Wait\nSmew | Rest"
    )
