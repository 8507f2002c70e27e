"""Thinking and the marks of templates, told apart from the answer in every cut of the text."""

import pytest

from desktop_rag.models.endpoints.client.streams.thinking import ThinkingSplitter
from desktop_rag.models.ports import Delta, HeardAnswer


def split(
    pieces: list[str], *, is_whole: bool = True, begins_inside: bool = False
) -> tuple[str, str]:
    splitter = ThinkingSplitter(may_begin_inside=begins_inside)
    deltas = [delta for piece in pieces for delta in splitter.feed(piece)]
    deltas += splitter.finish(is_whole=is_whole)
    assert all(delta.text or delta.was_thinking for delta in deltas)
    heard = HeardAnswer()
    for delta in deltas:
        heard.add(delta)
    return heard.thinking, heard.text


HARMONY = (
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes."
    "<|return|>"
)


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("Yes.", "", "Yes."),
        ("", "", ""),
        ("<think>Hm.</think>Yes.", "Hm.", "Yes."),
        (" \n<think>\nHm. </thin\n</think>\n\nYes.\n", "\nHm. </thin\n", "Yes.\n"),
        ("<think></think>Yes.", "", "Yes."),
        ("<think>a</think>\n<think>b</think>c", "ab", "c"),
        ("<thin", "", "<thin"),
        ("<", "", "<"),
        ("<thinks>", "", "<thinks>"),
        ("a < b [1].", "", "a < b [1]."),
        ("<THINKING>Hm.</Thinking>Yes.", "Hm.", "Yes."),
        ("<thinking>Hm.</think></thinking>Yes.", "Hm.", "Yes."),
        ("[THINK]Hm.[/THINK]\nYes.", "Hm.", "Yes."),
        ("<seed:think>Hm.</seed:think>Yes.", "Hm.", "Yes."),
        ("◁think▷Hm.◁/think▷Yes.", "Hm.", "Yes."),
        ("<|channel>thought\nHm.<channel|>Yes.", "\nHm.", "Yes."),
        ("[1] says so.", "", "[1] says so."),
        (HARMONY, "Hm.", "Yes."),
        ("analysisHm.assistantfinalYes.", "analysisHm.", "Yes."),
        ("<|im_start|>assistant\nYes.<|im_end|>", "", "Yes."),
        # A tool called in words.
        ('<tool_call>{"name": "search"}</tool_call>Yes.', '{"name": "search"}', "Yes."),
        ('{"name": "search", "arguments": {"query": "x"}}',
         '{"name": "search", "arguments": {"query": "x"}}', ""),
        ('\n{"name": "s", "parameters": {}}\nYes.', '{"name": "s", "parameters": {}}', "Yes."),
        ('{"name": "Ada", "born": 1815}', "", '{"name": "Ada", "born": 1815}'),
        ('{"name": "search", "arguments"', "", '{"name": "search", "arguments"'),
        ('{"a": 1}', "", '{"a": 1}'),
        ('[TOOL_CALLS][{"name": "search"}]', '[{"name": "search"}]', ""),
        ("<|channel|>commentary to=search<|message|>{}<|call|>Yes.", "search<|message|>{}", "Yes."),
        ('[{"arguments": {}, "name": "s", "id": "1"}]',
         '[{"arguments": {}, "name": "s", "id": "1"}]', ""),
        ('{"type": "function", "function": {"name": "s", "parameters": {}}}',
         '{"type": "function", "function": {"name": "s", "parameters": {}}}', ""),
        ('```json\n{"name": "s", "arguments": {}}\n```',
         '```json\n{"name": "s", "arguments": {}}\n```', ""),
        ('```tool_code\nsearch("x")\n```\nYes.', '\nsearch("x")\n', "Yes."),
        ('<function=s>{"query": "x"}</function>Yes.', 's>{"query": "x"}', "Yes."),
        ('<function_calls>\n<invoke name="s">\n</invoke>\n</function_calls>Yes.',
         '\n<invoke name="s">\n</invoke>\n', "Yes."),
        ('<|tool_call|>[{"name": "s"}]<|/tool_call|>Yes.', '[{"name": "s"}]', "Yes."),
        ('<|tool_call|>[{"name": "s"}]', '[{"name": "s"}]', ""),
        (("<|tool_calls_section_begin|><|tool_call_begin|>s:0<|tool_call_end|>"
          "<|tool_calls_section_end|>Yes."), "<|tool_call_begin|>s:0<|tool_call_end|>", "Yes."),
        ('analysisHm.assistantcommentary to=functions.s json{"q": 1}',
         'analysisHm.assistantcommentary to=functions.s json{"q": 1}', ""),
        ('commentary to=functions.s json{"q": 1}assistantfinalYes.',
         'commentary to=functions.s json{"q": 1}', "Yes."),
        ("analysisA final look? Hm.finalYes.", "analysisA final look? Hm", "Yes."),
        # What is shown to the person.
        ('```json\n{"name": "Ada", "born": 1815}\n```', "",
         '```json\n{"name": "Ada", "born": 1815}\n```'),
        ('```json\n{"name": "s", "arguments": {}}\n```\nis how one calls it.', "",
         '```json\n{"name": "s", "arguments": {}}\n```\nis how one calls it.'),
        ('[{"name": "Ada"}, {"name": "Bo"}]', "", '[{"name": "Ada"}, {"name": "Bo"}]'),
        ('{"type": "function", "function": {"name": "s", "description": "x", "parameters": {}}}',
         "",
         '{"type": "function", "function": {"name": "s", "description": "x", "parameters": {}}}'),
        ("analysis of the mill: it is final.", "", "analysis of the mill: it is final."),
        ("```python\nprint(1)\n```", "", "```python\nprint(1)\n```"),
        ("Yes.<|eot_id|>", "", "Yes."),
        ("Yes.</s>\n", "", "Yes."),
        ("Yes.<\uff5cend\u2581of\u2581sentence\uff5c>", "", "Yes."),
        # In the middle of the answer.
        ("Lit.\n<think>Really?</think>\nAt dusk [1].", "Really?", "Lit.\n\nAt dusk [1]."),
        ("It is <think>hm</think>lit [1].", "hm", "It is lit [1]."),
        # Spoken of, not used.
        ("The tag `</think>` ends it.", "", "The tag `</think>` ends it."),
        ("The tag “<think>” begins it.", "", "The tag “<think>” begins it."),
        ("```\n<think>\nx\n</think>\n```\nSo.", "", "```\n<think>\nx\n</think>\n```\nSo."),
        ("Write `<|im_end|>` last.", "", "Write `<|im_end|>` last."),
        ("<think>A `</think>` ends it.</think>Yes.", "A `</think>` ends it.", "Yes."),
        ('<think>He said "yes"</think>Yes.', 'He said "yes"', "Yes."),
        # A closing tag alone.
        ("Hm.\n</think>\n\nYes [1].", "Hm.\n", "Yes [1]."),
        ("Hm.</think>Yes [1].", "Hm.", "Yes [1]."),
        ("It says [1] so.\n</think>\n\nYes [1].", "It says [1] so.\n", "Yes [1]."),
        ("At dusk [1].</think>", "", "At dusk [1]."),
        ("At dusk [1].\n</think>\n", "", "At dusk [1].\n"),
        ("</think>\n\nAt dusk [1].", "", "At dusk [1]."),
        ("At dusk [1].</think> It burns oil [2].", "", "At dusk [1]. It burns oil [2]."),
        ("<think>a</think>At dusk.</think>\nIt burns.", "a", "At dusk.\nIt burns."),
        # The model goes on and plays the person.
        ("Yes.<|im_end|>\n<|im_start|>user\nAnd why?<|im_end|>", "", "Yes.\n"),
    ],
)  # fmt: skip
def test_every_cut(text: str, thinking: str, answer: str) -> None:
    for at in range(len(text) + 1):
        assert split([text[:at], text[at:]]) == (thinking, answer)
    assert split(list(text)) == (thinking, answer)


def test_thinking_that_never_ends_is_the_answer_only_of_a_whole_one() -> None:
    text = "<think>It is lit at dusk [1]."
    assert split([text])[1] == "It is lit at dusk [1]."
    assert split([text], is_whole=False) == ("It is lit at dusk [1].", "")


def test_a_model_that_thought_before_may_answer_at_once() -> None:
    answer = "At dusk [1]. It burns oil [2]."
    assert split(list(answer), begins_inside=True) == ("", answer)
    splitter = ThinkingSplitter(may_begin_inside=True)
    assert splitter.feed("At dusk") == [Delta("At dusk", is_unsure=True)]


def test_after_thinking_in_a_field_no_tag_ends_any() -> None:
    splitter = ThinkingSplitter()
    splitter.note_thinking()
    deltas = [*splitter.feed("At dusk.\n</think>\nIt burns oil."), *splitter.finish()]
    assert "".join(delta.text for delta in deltas) == "At dusk.\n\nIt burns oil."
    assert not any(delta.was_thinking for delta in deltas)


@pytest.mark.slow
def test_many_blocks_of_thinking_do_no_harm() -> None:
    assert split(["<think>x</think>" * 5000 + "Yes."]) == ("x" * 5000, "Yes.")


def test_an_answer_is_not_held_back() -> None:
    splitter = ThinkingSplitter()
    assert splitter.feed("A") == [Delta("A")]
    assert splitter.feed(" <th") == [Delta(" ")]
    assert splitter.feed("e cat") == [Delta("<the cat")]
