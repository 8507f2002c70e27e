"""Where models put their thinking, and what their templates leave in the text."""

from tests.dialects.row import ANSWER, DONE, Reply, Row, delta, event, streamed

_OPENED = {
    "deepseek, qwen": ("<think>", "</think>"),
    "prompted models": ("<thinking>", "</thinking>"),
    "exaone": ("<thought>", "</thought>"),
    "magistral": ("[THINK]", "[/THINK]"),
    "seed-oss": ("<seed:think>", "</seed:think>"),
    "kimi-vl": ("◁think▷", "◁/think▷"),
    "command a": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "open thoughts": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|>"),
    "gemma": ("<|channel>thought\n", "<channel|>"),
    "in capitals": ("<THINK>", "</THINK>"),
}
_THOUGHT = "The person asks when. Source [1] says so."
_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
_LLAMA_TURN = "<|start_header_id|>assistant<|end_header_id|>"
_TOKENS = (
    "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|return|>", "</s>", "<end_of_turn>", "[/INST]",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)  # fmt: skip


def _pieces(text: str) -> Reply:
    """The text in pieces of three letters, which split every tag."""
    return Reply((
        *(delta(text[at : at + 3]) for at in range(0, len(text), 3)),
        delta(finish_reason="stop"),
        DONE,
    ))  # fmt: skip


def _row(name: str, text: str, kept: str = "") -> Row:
    return Row(name, (_pieces(text),), text=kept)


_TAGS = [
    *(
        _row(f"thinking of {name}", f"{opener}{_THOUGHT}{closer}\n\n{ANSWER}")
        for name, (opener, closer) in _OPENED.items()
    ),
    _row("no opening tag", f"{_THOUGHT}\n</think>\n\n{ANSWER}"),
    _row("no opening tag, no line of its own", f"Let me see.</think>{ANSWER}"),
    _row("no opening tag, magistral", f"{_THOUGHT}\n[/THINK]{ANSWER}"),
    _row("a stray closing tag at the end", f"{ANSWER}</think>"),
    _row("a stray closing tag at the start", f"</think>\n\n{ANSWER}"),
    _row("thinking twice", f"<think>{_THOUGHT}</think><think>{_THOUGHT}</think>{ANSWER}"),
    _row("thinking that is never closed", f"<think>{ANSWER}"),
    _row("empty thinking", f"<think>\n\n</think>\n\n{ANSWER}"),
    _row(
        "thinking between two sentences",
        f"Let us see.\n<think>{_THOUGHT}</think>\n{ANSWER}",
        f"Let us see.\n\n{ANSWER}",
    ),
    _row(
        "tags in code are the answer",
        "Write `<think>` and `</think>` around it [1].",
        "Write `<think>` and `</think>` around it [1].",
    ),
]
_MARKS = [
    *(_row(f"ends with {token}", f"{ANSWER}{token}") for token in _TOKENS),
    _row("begins with its turn", f"<|im_start|>assistant\n{ANSWER}<|im_end|>"),
    _row("begins with its turn, llama 3", f"{_LLAMA_TURN}\n\n{ANSWER}"),
    _row("final channel", f"<|channel|>final<|message|>{ANSWER}<|return|>"),
    _row("plays the person too", f"{ANSWER}<|im_end|><|im_start|>user\nAnd why?<|im_end|>"),
]  # fmt: skip
_FIELDS_ROWS = [
    *(
        Row(
            f"thinking in {name}",
            (Reply((delta(**{name: _THOUGHT}), *streamed().parts)),),
        )
        for name in _FIELDS
    ),
    Row(
        "thinking in reasoning_details",
        (Reply((delta(reasoning_details=[{"text": _THOUGHT}]), *streamed().parts)),),
    ),
    Row(
        "thinking as a part of the content",
        (
            Reply((
                event({"choices": [{"delta": {"content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]},
                ]}}]}),
                *streamed().parts,
            )),
        ),
    ),
    Row(
        "thinking in a field, and a stray tag",
        (Reply((delta(reasoning_content=_THOUGHT), *_pieces(f"</think>\n\n{ANSWER}").parts)),),
    ),
    Row(
        "nothing but thinking",
        (Reply((delta(reasoning_content=_THOUGHT), delta(finish_reason="stop"), DONE)),),
        "gave no answer",
    ),
]  # fmt: skip

ROWS = (*_TAGS, *_MARKS, *_FIELDS_ROWS)
