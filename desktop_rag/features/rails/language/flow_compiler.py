"""Compiles the definitions of flows into instructions. Any thread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from desktop_rag.features.rails.language import flow_syntax as syntax
from desktop_rag.features.rails.language.expression_values import given_text
from desktop_rag.features.rails.language.flow_program import (
    End,
    Flow,
    Halt,
    Instruction,
    Jump,
    Pattern,
    Program,
    Say,
    Test,
    Wait,
)
from desktop_rag.features.rails.language.flow_syntax import FlowSyntaxError

# A flow that begins with one of these waits for the user; all others are reactions.
_FROM_USER = {"user_said", "user_intent"}


def compile_flows(
    library: syntax.FlowFile, files: Sequence[syntax.FlowFile], subflows: Iterable[str] = ()
) -> Program:
    """The program of a configuration, whose flows and texts replace those of the library.

    `subflows` are started by their names only, however they are defined.
    """
    called = frozenset(subflows)
    flows: dict[str, Flow] = {}
    for definition in [*library.flows, *(flow for file in files for flow in file.flows)]:
        if not definition.modifiers & {"test", "sample"}:
            flow = _compiled(definition, called)
            flows.pop(flow.name, None)
            flows[flow.name] = flow
    _check_calls(flows)
    written = [flow.source for file in files for flow in file.flows if not flow.is_subflow]
    return Program(flows, _user_forms(files), _bot_texts(library, files), tuple(written))


def _user_forms(files: Sequence[syntax.FlowFile]) -> Mapping[str, tuple[str, ...]]:
    """The examples of each form, including those that only flows name."""
    found: dict[str, tuple[str, ...]] = {}
    for file in files:
        for form in file.user_forms:
            found[form.form] = (*found.get(form.form, ()), *form.texts)
    for said in _said_in(files, syntax.UserSays):
        form = said.form or "".join(said.texts[:1])
        if form:
            found[form] = (*found.get(form, ()), *said.texts)
    return {form: tuple(dict.fromkeys(examples)) for form, examples in found.items()}


def _bot_texts(
    library: syntax.FlowFile, files: Sequence[syntax.FlowFile]
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for file in files:
        for form in file.bot_forms:
            found[form.form] = (*found.get(form.form, ()), *form.texts)
    for said in _said_in(files, syntax.BotSays):
        form = said.form or "".join(said.texts[:1])
        if form and said.texts:
            found[form] = (*found.get(form, ()), *said.texts)
    given = {form.form: form.texts for form in library.bot_forms}
    return {**given, **{form: tuple(dict.fromkeys(texts)) for form, texts in found.items()}}


def _said_in(
    files: Sequence[syntax.FlowFile], kind: "type[syntax.UserSays] | type[syntax.BotSays]"
) -> list[syntax.Said]:
    found: list[syntax.Said] = []

    def look(block: Iterable[syntax.Statement]) -> None:
        for statement in block:
            if isinstance(statement, kind):
                found.append(statement.said)
            elif isinstance(statement, syntax.If):
                look((*statement.then, *statement.otherwise))
            elif isinstance(statement, syntax.While):
                look(statement.body)
            elif isinstance(statement, syntax.When):
                for head, inner in statement.cases:
                    look((head, *inner))
                look(statement.otherwise or ())

    for file in files:
        for flow in file.flows:
            look(flow.body)
    return found


def _compiled(definition: syntax.FlowDefinition, called: frozenset[str]) -> Flow:
    is_subflow = definition.is_subflow or definition.name in called
    body = definition.body if is_subflow else _opening_first(definition.body)
    writer = _Writer(is_subflow=is_subflow)
    instructions = writer.write(body)
    first = instructions[0]
    kinds = {pattern.kind for pattern, _ in first.cases} if isinstance(first, Wait) else set()
    return Flow(
        definition.name or f"flow at {definition.place}",
        instructions,
        definition.priority,
        is_subflow,
        "extension" in definition.modifiers or not kinds <= _FROM_USER,
        "parallel" in definition.modifiers,
        definition.source,
        definition.place,
    )


def _opening_first(body: syntax.Block) -> syntax.Block:
    """The body with values that are set at its very beginning set after the first event."""
    count = next((n for n, s in enumerate(body) if not isinstance(s, syntax.Assign)), len(body))
    return (*body[count : count + 1], *body[:count], *body[count + 1 :])


def _check_calls(flows: Mapping[str, Flow]) -> None:
    for flow in flows.values():
        calls = (found for found in flow.instructions if isinstance(found, syntax.Do))
        for name in (call.flow for call in calls):
            if name not in flows and not name.startswith("$"):
                problem = f"There is no subflow “{name}”."
                raise FlowSyntaxError(flow.place, problem, ("the name of a subflow",))


class _Writer:
    """Writes the instructions of one flow."""

    def __init__(self, *, is_subflow: bool) -> None:
        self._written: list[Instruction] = []
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, syntax.Word]] = []
        self._loops: list[tuple[int, list[int]]] = []
        self._is_opening = not is_subflow

    def write(self, body: syntax.Block) -> tuple[Instruction, ...]:
        self._block(body)
        for at, word in self._jumps:
            if word.target not in self._labels:
                problem = f"There is no label “{word.target}” in this flow."
                raise FlowSyntaxError(word.place, problem, ("the name of a label",))
            self._written[at] = Jump(self._labels[word.target])
        return (*self._written, End())

    def _block(self, block: syntax.Block) -> None:
        for statement in block:
            self._statement(statement)

    def _statement(self, statement: syntax.Statement) -> None:
        if self._is_opening:
            self._is_opening = False
            if pattern := _opening(statement):
                self._add(Wait(((pattern, 1),)))
                return
        match statement:
            case syntax.BotSays(said, instruction):
                self._add(Say(_form(said), instruction))
            case syntax.UserSays() | syntax.EventSeen():
                self._add(Wait(((_pattern(statement), len(self._written) + 1),)))
            case syntax.Execute() | syntax.Assign() | syntax.CreateEvent() | syntax.Do():
                self._add(statement)
            case syntax.If():
                self._if(statement)
            case syntax.When():
                self._when(statement)
            case syntax.While():
                self._while(statement)
            case syntax.Word():
                self._word(statement)

    def _add(self, instruction: Instruction) -> int:
        self._written.append(instruction)
        return len(self._written) - 1

    def _if(self, statement: syntax.If) -> None:
        test = self._add(Jump(0))
        self._block(statement.then)
        if statement.otherwise:
            over = self._add(Jump(0))
            self._written[test] = Test(statement.condition, len(self._written))
            self._block(statement.otherwise)
            self._written[over] = Jump(len(self._written))
        else:
            self._written[test] = Test(statement.condition, len(self._written))

    def _when(self, statement: syntax.When) -> None:
        wait = self._add(Jump(0))
        cases: list[tuple[Pattern, int]] = []
        overs: list[int] = []
        otherwise: int | None = None
        for head, block in statement.cases:
            cases.append((_pattern(head), len(self._written)))
            self._block(block)
            overs.append(self._add(Jump(0)))
        if statement.otherwise is not None:
            otherwise = len(self._written)
            self._block(statement.otherwise)
        self._written[wait] = Wait(tuple(cases), otherwise)
        for over in overs:
            self._written[over] = Jump(len(self._written))

    def _while(self, statement: syntax.While) -> None:
        test = self._add(Jump(0))
        self._loops.append((test, []))
        self._block(statement.body)
        self._add(Jump(test))
        _, breaks = self._loops.pop()
        self._written[test] = Test(statement.condition, len(self._written))
        for at in breaks:
            self._written[at] = Jump(len(self._written))

    def _word(self, statement: syntax.Word) -> None:
        if statement.word == "stop":
            self._add(Halt())
        elif statement.word == "return":
            self._add(End())
        elif statement.word == "label":
            self._labels[statement.target] = len(self._written)
        elif statement.word == "goto":
            self._jumps.append((self._add(Jump(0)), statement))
        elif statement.word == "break":
            self._loops[-1][1].append(self._add(Jump(0)))
        elif self._loops:
            self._add(Jump(self._loops[-1][0]))


def _opening(statement: syntax.Statement) -> Pattern | None:
    """The pattern that starts a flow with this first statement: what is done elsewhere is seen."""
    if isinstance(statement, syntax.Execute):
        return Pattern(
            "action_finished", arguments=(("action_name", given_text(statement.action)),)
        )
    if isinstance(statement, syntax.UserSays | syntax.BotSays | syntax.EventSeen):
        return _pattern(statement)
    return None


def _pattern(statement: "syntax.UserSays | syntax.BotSays | syntax.EventSeen") -> Pattern:
    if isinstance(statement, syntax.EventSeen):
        return Pattern(statement.name, arguments=statement.arguments)
    kind = "user_intent" if isinstance(statement, syntax.UserSays) else "bot_intent"
    said = statement.said
    return Pattern(kind, _form(replace(said, is_any=False)), said.is_any)


def _form(said: syntax.Said) -> str:
    """The form that an intent is compared with; a given text is a form of its own."""
    if said.variable:
        return f"${said.variable}"
    return "..." if said.is_any else said.form or "".join(said.texts[:1])
