"""The grammar of the language of flows, and its words for people. Any thread.

What follows `user`, `bot` or `flow` is free text in any language. The lexer is contextual, so
that a keyword within such a text is a word like any other.
"""

GRAMMAR = r"""
start: _NL? definition*

?definition: user_form | bot_form | flow

_define: "define" | "def"

user_form: _define "user" form _NL (_INDENT (text _NL)+ _DEDENT)?
bot_form: _define "bot" form _NL _INDENT (text _NL)+ _DEDENT
flow: _define modifier* flow_kind form? _NL _INDENT statement+ _DEDENT
!modifier: "extension" | "parallel" | "test" | "sample" | "continuous"
!flow_kind: "flow" | "subflow"
form: FORM

?statement: user | bot | event | create | execute | assign | change | generate | do
  | if | when | while | stop | return | break | continue | pass | goto | label | priority | meta
  | comment

user: "user" said _NL examples?
bot: "bot" said _NL examples?
?said: any | form form_text? | variable | text
any: ANY
form_text: STRING
text: STRING | LONG_STRING
examples: _INDENT (text _NL)+ _DEDENT

event: "event" named_event _NL
create: "create" "event" named_event _NL
named_event: DOTTED_NAME arguments?

execute: ("set"? VARIABLE "=")? call _NL
call: "execute" DOTTED_NAME arguments?
arguments: "(" [argument ("," argument)* ","?] ")"
argument: NAME "=" expression

assign: "set"? VARIABLE "=" expression _NL
change: "set"? VARIABLE SIGNED expression _NL
generate: "set"? VARIABLE "=" ANY _NL

do: "do" (FLOW_NAME | variable) arguments? _NL

if: "if" expression ":"? _NL block else_if* else_part?
else_if: ("else" "if" | "elif") expression ":"? _NL block
else_part: "else" ":"? _NL block
when: "when" case _NL block else_when* else_part?
else_when: ("else" | "or") "when" case _NL block
?case: user_case | bot_case | event_case
user_case: "user" said
bot_case: "bot" said
event_case: "event" named_event
while: "while" expression ":"? _NL block
block: _INDENT statement+ _DEDENT

stop: ("stop" | "abort") _NL
return: ("return" | "done") _NL
break: "break" _NL
continue: "continue" _NL
pass: ("pass" | ANY) _NL
goto: ("goto" | "go" "to") FORM _NL
label: ("label" | "checkpoint") FORM _NL
priority: "priority" NUMBER _NL
meta: "meta" _NL _INDENT (META _NL)+ _DEDENT
comment: LONG_STRING _NL

?expression: disjunction | disjunction "if" disjunction "else" expression -> choice
?disjunction: conjunction | conjunction ("or" conjunction)+ -> or_
?conjunction: negation | negation ("and" negation)+ -> and_
?negation: comparison | "not" negation -> not_
?comparison: sum | sum (comparator sum)+ -> compare
!comparator: "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in" | "is" | "is" "not"
?sum: product | sum (PLUS | MINUS) product -> binary
?product: sign | product (STAR | SLASH | DOUBLE_SLASH | PERCENT) sign -> binary
?sign: value | MINUS sign -> negative
?value: atom
  | value "." NAME -> attribute
  | value "." NAME "(" [expression ("," expression)*] ")" -> method
  | value "[" expression "]" -> index
?atom: variable | NUMBER -> number | STRING -> string | LONG_STRING -> string
  | _YES -> true | _NO -> false | _NOTHING -> none
  | NAME "(" [expression ("," expression)*] ")" -> function
  | "[" [expression ("," expression)* ","?] "]" -> list_
  | "{" [pair ("," pair)* ","?] "}" -> dict_
  | "(" expression ")"
pair: expression ":" expression
variable: VARIABLE

FORM: /(?!\.\.\.)[^\s"'#$](?:[^\n"#]*[^\s"#])?/
FLOW_NAME: /[^\W\d](?:[^\n"#()$]*[^\s"#()$])?/
ANY: "..."
LONG_STRING: /"{3}(?:[^"\\]|\\.|"(?!""))*"{3}/s
STRING: /"(?!"")(?:[^"\\\n]|\\.)*"|""(?!")|'(?:[^'\\\n]|\\.)*'/
VARIABLE: /\$[^\W\d]\w*/
NAME: /[^\W\d]\w*/
DOTTED_NAME: /[^\W\d]\w*(?:\.[^\W\d]\w*)*/
NUMBER: /\d+(?:\.\d+)?|\.\d+/
META: /[^\n#"]+/
_YES.2: /[Tt]rue\b/
_NO.2: /[Ff]alse\b/
_NOTHING.2: /(?:[Nn]one|null)\b/
SIGNED: /[-+]=/
PLUS: "+"
MINUS: "-"
STAR: "*"
SLASH: "/"
DOUBLE_SLASH: "//"
PERCENT: "%"
_NL: /(?:\r?\n[\t ]*(?:#[^\n]*)?)+/

%ignore /[ \t\f]+/
%ignore /#[^\n]*/
%declare _INDENT _DEDENT
"""

# What the parser expects, in words for people.
WORDS = {
    "FORM": "a few words",
    "FLOW_NAME": "the name of a subflow",
    "NAME": "a name",
    "DOTTED_NAME": "a name",
    "VARIABLE": "a variable such as $name",
    "STRING": "a text in quotation marks",
    "NUMBER": "a number",
    "META": "a line such as `key: value`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "RBRACE": "`}`",
    "EQUAL": "`=`",
    "_INDENT": "lines that are indented further",
    "_NL": "the end of the line",
    "_DEDENT": "the end of the indented lines",
    "$END": "the end of the file",
    "_USER": "`user`",
    "_BOT": "`bot`",
    "_EXECUTE": "`execute`",
    "_IF": "`if`",
    "_WHEN": "`when`",
    "_DO": "`do`",
    "_STOP": "`stop`",
    "_YES": "`True`",
    "_NO": "`False`",
    "_NOTHING": "`None`",
    "ANY": "`...`",
    "LONG_STRING": 'a text in """three quotation marks"""',
}
