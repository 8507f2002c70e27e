"""The words and codes in the body of an error, the kind of a refusal, and its limit. Pure.

{"error": {…}}   {"error": "…"}   {"detail": [{"msg": …}]}   [{"error": {…}}]   {"errors": […]}
{"base_resp": {"status_code": 1004, "status_msg": …}}   {"error": {"metadata": {"raw": "{…}"}}}
"""

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from desktop_rag.models.endpoints.client.endpoint_faults import Fault

# In the order in which their texts are shown.
_MESSAGES = (
    "message", "msg", "detail", "error_description", "error_message", "errorMessage", "error_msg",
    "status_msg", "Message", "description", "title",
)  # fmt: skip
_INSIDE = (
    "error", "errors", "err", "fault", "base_resp", "response", "metadata", "raw", "innererror",
    "inner_error", "cause", "output", "choices",
)  # fmt: skip
_CODES = (
    "code", "type", "status", "reason", "__type", "error_code", "errorCode", "error_type",
    "status_code", "Code",
)  # fmt: skip
_MOST_ITEMS = 5
_DEEPEST_BODY = 8
_ENDS = (".", "!", "?", "。", ":")
_LONGEST_CODE_CHARS = 80
# Values of `code` and the like that report success.
_FINE = (None, "", 0, "0", 200, "200", "success", "Success", "ok", "OK")


def server_message(body: object) -> tuple[str, str]:
    """The messages of an error, joined, and its codes, separated by spaces."""
    said: list[str] = []
    codes: list[str] = []
    _collect(body, said, codes, 0)
    texts = list(dict.fromkeys(text.strip() for text in said if text.strip()))
    whole = [text for text in texts if not any(text in other for other in texts if other != text)]
    return _joined(whole), " ".join(dict.fromkeys(codes))


def parsed_body(content: bytes) -> object:
    """The JSON of a body, whatever its type, also if it is sent as events; else its text."""
    text = content.decode("utf-8", "replace").lstrip("\ufeff")
    parsed = _parsed(text)
    return text.strip() if parsed is None else parsed


def is_error(body: object) -> bool:
    """True when the body of a successful response, or an event of its stream, reports an error."""
    if isinstance(body, list):
        items = cast("list[object]", body)
        return bool(items) and is_error(items[0])
    if not isinstance(body, dict):
        return False
    fields = cast("dict[str, Any]", body)
    if any(fields.get(name) for name in ("error", "errors")):
        return True
    if _code_of(fields.get("base_resp")) not in _FINE:
        return True
    if choices := fields.get("choices"):
        first = cast("list[Any]", choices)[0] if isinstance(choices, list) else None
        return isinstance(first, dict) and bool(cast("dict[str, Any]", first).get("error"))
    if "error" in (fields.get("object"), fields.get("type")) or fields.get("success") is False:
        return True
    has_words = any(
        isinstance(fields.get(name), str | list) for name in ("message", "msg", "detail")
    )
    is_failure = any(fields.get(name) not in _FINE for name in ("code", "status_code", "status"))
    return "choices" not in fields and has_words and (is_failure or "detail" in fields)


def _code_of(value: object) -> object:
    return cast("dict[str, Any]", value).get("status_code") if isinstance(value, dict) else None


def _collect(value: object, said: list[str], codes: list[str], depth: int) -> None:
    if depth > _DEEPEST_BODY:
        return
    match value:
        case str():
            inner = _parsed(value)
            if inner is None:
                said.append(value)
            else:
                _collect(inner, said, codes, depth + 1)
        case list():
            for item in cast("list[object]", value)[:_MOST_ITEMS]:
                _collect(item, said, codes, depth + 1)
        case dict():
            fields = cast("dict[str, Any]", value)
            codes += _codes_in(fields)
            for name in (*_MESSAGES, *_INSIDE):
                if isinstance(inner := fields.get(name), str | list | dict):
                    _collect(cast("object", inner), said, codes, depth + 1)
        case _:
            return


def _codes_in(fields: dict[str, Any]) -> Iterator[str]:
    for name in _CODES:
        code = fields.get(name)
        if isinstance(code, str | int) and not isinstance(code, bool) and code not in _FINE:
            yield str(code)[:_LONGEST_CODE_CHARS]


def _parsed(text: str) -> object:
    """The JSON in a text, also if it is sent as events; None for any other text."""
    lines = text.lstrip("\ufeff \r\n\t").splitlines()
    data = [line.partition(":")[2] for line in lines if line.startswith(("data:", "error:"))]
    sent = data[0].strip() if data else text.lstrip("\ufeff \r\n\t")
    if not sent.startswith(("{", "[")):
        return None
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return None


def _joined(texts: list[str]) -> str:
    """The texts as sentences."""
    ended = [text if text.endswith(_ENDS) else f"{text}." for text in texts[:-1]]
    return " ".join([*ended, *texts[-1:]])


# 4096, 128,000, 128 000, 131'072, 128_000, 128k, 1M
_NUMBER = r"(\d{1,3}(?:[,.'_\u00a0\u202f\u2009 ]\d{3})+(?!\d)|\d+(?:\.\d+)?\s?[kKmM]\b|\d{2,9})"
_GAP = r"[^\d.;]{0,45}?"
# Every server has its own words; the comments name the sources of each pattern.
_COMPARED = (
    # Anthropic: "prompt is too long: 208310 tokens > 200000 maximum",
    # "`max_tokens` exceed context limit: 198000 + 8192 > 200000"
    rf"\d\s*(?:tokens?\s*)?(?:>=?|≥)\s*{_NUMBER}",
    # DashScope: "Range of input length should be [1, 30720]"
    rf"[\[(]\s*\d+\s*,\s*{_NUMBER}\s*[\])]",
    # TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096"
    rf"(?:<=?|≤)\s*{_NUMBER}",
)
_CONTEXT = (
    r"context[_ -]?(?:length|size|window|limit)s?\b"
    r"(?:\s*(?:of|is|was|:|=|\(|limit|only|the|model|tokens?|[\w./-]+'s))*"
)
_MOST_WORDS = (
    r"(?:max(?:imum)?|limit(?:ed)?|at most|up to|no more than|less than|fewer than|not exceed"
    r"|allow(?:s|ed)?|supports?|only|n_ctx|max_model_len|must be under|shorter than)"
)
_STATED = (
    # OpenAI, vLLM: "maximum context length is 8192 tokens"; llama.cpp: "context size (4096 tokens)"
    rf"{_CONTEXT}\W{{0,4}}{_NUMBER}",
    # Gemini: "maximum number of tokens allowed (1048576)"; Cohere: "cannot exceed 4081"
    rf"{_MOST_WORDS}{_GAP}{_NUMBER}",
    # SGLang: "is longer than the model's context length (4096 tokens)"; "exceeds 8192"
    rf"(?:exceed(?:s|ed|ing)?|longer|larger|greater|more|bigger|over|beyond|above){_GAP}{_NUMBER}",
    # Mistral: "too large for model with 32768 maximum context"; "the 8192 token limit"
    rf"{_NUMBER}[- ]?(?:tokens?)?\s*(?:maximum|max\b|limit|context|window|is the (?:max|limit))",
    # Chinese servers
    rf"(?:最大|最多|上限|不超过|限制)[^\d。]{{0,20}}{_NUMBER}",
)
# A number after one of these is what was sent, whatever stands before it.
_SENT = re.compile(
    r"(?:\bby|requested|resulted in|given|got|received|sent|contains?|has|have|had|your (?:prompt"
    r"|input|messages?|request)[^\d]{0,20}|n_prompt_tokens|used|count(?: is| of|:)?|actual)\W{0,12}"
    r"(?:about |approximately |at least |a total of |of |is )?$",
    re.IGNORECASE,
)
_SENT_AFTER = re.compile(
    r"\s*(?:tokens?\s*)?(?:(?:\(?in|from|of|for) (?:the |your )?(?:messages?|prompt|completion"
    r"|input|output|functions?|text)|were? (?:requested|given|sent|used))",
    re.IGNORECASE,
)
_CHARS = re.compile(r"\s*(?:char|字符|letters)", re.IGNORECASE)
_TOKEN_CHARS = 4
_FIELDS = frozenset({
    "n_ctx", "max_model_len", "max_context_length", "context_length", "max_input_tokens",
    "max_tokens_allowed", "context_window", "max_total_tokens", "limit_tokens",
})  # fmt: skip
_LEAST, _MOST = 64, 100_000_000
_DEEPEST = 6
# The words of a hostile server must not take long to match.
_LONGEST_TEXT_CHARS = 1_000


def limit_in(said: str, body: object = None) -> int:
    """The context length stated in a field of the error's body or in its words; else 0.

    Refusals name several numbers: the limit, the size of the request, the room for the answer. A
    comparison ("A > B") is believed first, then a number beside words for a limit.
    """
    if found := _in_fields(body, 0):
        return found
    said = said[:_LONGEST_TEXT_CHARS]
    for patterns in (_COMPARED, _STATED):
        stated = [limit for pattern in patterns for limit in _limits(pattern, said)]
        if stated:
            return min(stated)
    return 0


def tokens_in(number: str) -> int:
    """The value of a number with thousands separators, or with k or M."""
    plain = number.strip()
    factor = {"k": 1_000, "m": 1_000_000}.get(plain[-1:].lower())
    if factor:
        return math.floor(float(plain[:-1]) * factor)
    return int(re.sub(r"\D", "", plain))


def _limits(pattern: str, said: str) -> Iterator[int]:
    for found in re.finditer(pattern, said, re.IGNORECASE):
        before, after = said[max(0, found.start(1) - 60) : found.start(1)], said[found.end(1) :]
        if _SENT.search(before) or _SENT_AFTER.match(after):
            continue
        limit = tokens_in(found[1])
        limit = limit // _TOKEN_CHARS if _CHARS.match(after) else limit
        if _LEAST <= limit <= _MOST:
            yield limit


def _in_fields(body: object, depth: int) -> int:
    if depth > _DEEPEST:
        return 0
    inner: list[object] = []
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        for name in sorted(_FIELDS & fields.keys()):
            value = fields[name]
            if type(value) is int and _LEAST <= value <= _MOST:
                return value
        inner = list(fields.values())
    elif isinstance(body, list):
        inner = cast("list[object]", body)
    return next((found for value in inner if (found := _in_fields(value, depth + 1))), 0)


def _rows(fault: Fault, *patterns: str) -> tuple[tuple[Fault, str], ...]:
    return tuple((fault, pattern) for pattern in patterns)


# What is too long, and the words for being so, in either order.
_LONG = (
    r"(?:prompt|input|context|tokens?\b|messages?|sequence|conversation|history|text|length|上下文)"
)
_TOO = (
    r"(?:too (?:long|large|big|many)|exceed\w*|over(?:flow\w*|\s?long| the (?:limit|max))|surpass"
    r"|(?:longer|larger|greater) than|more than (?:\d{3}|the|max)|out of range|beyond|(?:not"
    r"|n't) fit|shorten|reduce|truncat|limit reached|r[au]n out of|at most \d{2}"
    r"|超过|超出|超长|过长|太长"
    r"|(?:must|should) (?:be|have) (?:<|less|no more|shorter|fewer|under|between|\[))"
)
# A span within a sentence; a point inside a name doesn't end it.
_WITHIN = r"(?:[^.]|\.(?=\S))"
_MODEL = rf"\b(?:model|deployment|engine)s?\b{_WITHIN}{{0,90}}?"
_KEY = r"\b(?:key|credentials?|(?:bearer|access|auth\w*) token)s?\b[^.]{0,60}?"

# Statuses and codes differ from server to server, and proxies wrap them, so words decide before the
# status does. The order is the precedence: a limit of tokens a minute is no too short context, and
# missing credit no unknown model. Codes are matched like words, without case and addresses. The
# comments name those whose words a pattern matches.
REFUSALS = (
    # Codes that mean nothing else.
    *_rows(
        Fault.NO_CREDIT,
        r"insufficient[_ ](?:user[_ ])?(?:quota|balance|credits?|funds)",  # OpenAI, DeepSeek
        r"exceeded_current_quota|\barrearage\b",  # Moonshot, DashScope
        r"billing_(?:hard_limit|not_active)",  # OpenAI
    ),
    *_rows(
        Fault.BUSY,
        r"rate[ _-]?limit",  # OpenAI, Groq, Mistral, Together, xAI, litellm
        # OpenAI, Groq, SambaNova
        r"(?:tokens?|requests?|calls?|queries|usage|quota)[^.]{0,25}?[ _]?(?:per|/|\ba"
        r"|\bevery)[ _-]?(?:\d+ ?)?(?:min|sec|hour|day|month|minute|second)s?\b",
        r"\b[TR]P[MDSH](?:\b|_)",  # OpenAI, Cerebras
        # The standard words of status 429
        r"too[_ ]many[_ ](?:\w+[_ ])?(?:requests|calls|connections|concurrent)",
        r"requests? (?:limit|frequency|rate)",  # Moonshot, MiniMax
        r"concurren\w+[^.]{0,20}(?:limit|exceed|reach|many)",  # Moonshot, Perplexity
        r"throttl|slow down",  # AWS Bedrock, Azure
        r"\brate (?:is |was )?(?:increased|exceeded|too)|exceed\w* .{0,30}\brate\b",  # Vertex
        r"resource[_ ]?exhausted|rate_increased",  # Gemini, DashScope
        r"请求(?:数|频率|次数|速率)?(?:过多|过高|过快|超限)",  # Zhipu, SiliconFlow
        r"频率|限流|限速|并发|速率限制|流量限制|限额",  # Zhipu, MiniMax, Volcengine
    ),
    *_rows(
        Fault.NO_CREDIT,
        r"(?:credits?|balance|funds?|quota|allowance)\b[^.]{0,40}(?:too low|insufficient"
        r"|exhaust|deplet|exceeded|used up|r[au]n out|negative|not enough|expired|zero"
        r"|overdue)",  # Anthropic, Hugging Face, Fireworks
        # OpenRouter, xAI, Together
        r"(?:out of|no|not enough|never purchased|more|add|purchase|buy|lack\w*"
        r"|insufficient)[^.]{0,20}\b(?:credits?|balance|funds)\b|top[- ]?up",
        # OpenAI, Hugging Face
        r"exceeded your (?:current |monthly |included )*(?:quota|spend|credit|usage|budget)",
        r"spend\w* (?:limit|cap)|usage limits?",  # Anthropic, xAI
        r"budget[^.]{0,20}exceed|exceed\w* budget",  # litellm
        r"\bbilling\b|payment|past due|in arrears|account[^.]{0,40}suspended",  # Moonshot
        r"free (?:trial|tier)[^.]{0,30}(?:end|expire|over)",  # Cohere, Fireworks
        r"used up[^.]{0,30}(?:allocation|free)",  # Cloudflare
        r"overdue",  # Volcengine
        r"余额|欠费|充值|资源包|额度(?:不足|已用|用完|耗尽)",  # Zhipu, one-api, Baidu
    ),
    *_rows(
        Fault.BAD_KEY,
        rf"{_KEY}(?:invalid|incorrect|not valid|expired|revoked|missing|malformed|disabled"
        rf"|wrong|not found|(?:not|n't) exist|required|not provided|recogni[sz]ed|leaked"
        rf"|inactive|unknown|not authori[sz]ed|blocked|deactivated)",  # Gemini, Groq, Cohere, Azure
        # OpenAI, Mistral, Fireworks, xAI, litellm
        r"(?:invalid|incorrect|wrong|\bno\b|missing|expired|unknown|bad|malformed|inactive"
        r"|revoked|provide|without|not a)[_ ]?(?:\w+[_ ]){0,3}?(?:api|access|auth\w*"
        r"|bearer|secret|virtual)[ _-]?(?:key|token|header|credentials?)\b",
        r"\binvalid[_ ](?:token|key|credentials?)\b|\btoken (?:is "
        r"|has )?(?:been )?(?:invalid|expired|revoked|incorrect)",  # one-api, Hugging Face
        r"unauthori[sz]ed|unauthenticated|authentication|not authenticated",  # DeepSeek, Together
        r"(?:login|certification|signature)\b[^.]{0,12}fail|invalid username",  # MiniMax, Baidu
        r"credentials?[^.]{0,20}(?:not sent|unsupported)",  # Databricks
        r"UnrecognizedClient|account_deactivated",  # Bedrock, OpenAI
        r"令牌|密钥|身份验证|鉴权|认证失败|未授权",  # Zhipu, one-api, Volcengine
    ),
    *_rows(
        Fault.FILTERED,
        # Azure, OpenAI, Mistral
        r"content[ _-]?(?:filter|polic|management|moderation|violation|risk)",
        r"content exists risk",  # DeepSeek
        r"moderat(?:ion|ed)|responsible ?ai|guardrail|\bblockreason\b",  # OpenRouter, Bedrock
        r"safety[ _](?:system|filter|setting|polic|reason|check|violation|guideline)",  # Gemini
        r"violat\w+[^.]{0,60}(?:polic|terms|guideline|rules)|(?:usage|use) polic",  # OpenAI, xAI
        r"flagged|harmful|inappropriate|prohibited|nsfw|jailbreak|unsafe",  # OpenRouter, Groq
        r"data_?inspection|sensitive (?:content|words?|information)",  # DashScope, MiniMax
        r"(?:block|reject|refus)ed[^.]{0,60}(?:safety|polic|filter)",  # Anthropic, Gemini
        r"敏感|不安全|违规|违反|不合规|审核|策略阻止",  # Zhipu, DashScope, Baidu
    ),
    *_rows(
        Fault.TOO_LARGE,
        r"^(?!.*(?:\btokens?\b|context|character|\binput\b)).*\b(?:payload|body|entity"
        r"|request|file|image|attachment|upload|picture"
        r"|photo)\b[^.]{0,40}(?:too[_ ]?(?:large|big)|exceed\w*[^.]{0,40}(?:bytes"
        r"|\b[kmg]i?b\b|size)|[\d.]+ ?(?:bytes|[kmg]i?b)\b)",  # nginx, Gemini, Cloudflare, Azure
        r"request_too_large|PayloadTooLarge",  # Anthropic
    ),
    *_rows(
        Fault.TOO_LONG,
        r"context[_ -]?(?:length|size|window|limit)[_ ]?exceed|context_length",  # OpenAI
        r"prompt_too_long|input_too_long|string_above_max|model_max_(?:prompt|context)",  # GitHub
        r"(?:configured|available|supported|model'?s?|this model)\W{1,3}(?:\w+ ){0,2}"
        r"(?:context|input|prompt)[ _-](?:size|length|window|limit)",  # DS4, OpenCode
        r"exceed_context|context_overflow|max_context|n_ctx",  # llama.cpp
        r"max(?:imum)?[_ ](?:context|prompt|input|model[_ ]len)",  # vLLM, SGLang
        r"context[ _-](?:size|length|window|limit)\W{0,3}(?:of |is )?\d",  # llama.cpp, Ollama
        rf"{_LONG}[^.]{{0,90}}?{_TOO}",  # vLLM, TGI, DashScope, xAI, MiniMax
        rf"{_TOO}[^.]{{0,70}}?{_LONG}",  # Groq, Cohere, Mistral, Ollama
        r"max_new_tokens. must be|too large to process|tokens? > \d",  # TGI, llama.cpp, Anthropic
        r"tokens? (?:to keep|count)[^.]{0,60}(?:context|exceed|larger)",  # LM Studio, Gemini
    ),
    *_rows(
        Fault.NO_MODEL,
        r"\bno (?:\w+ )?models? (?:(?:is|are|currently) )*(?:loaded|running)\b",  # LM Studio
        r"没有加载(?:任何)?模型",  # LM Studio
    ),
    *_rows(
        Fault.LOADING,
        r"^(?!.*(?:fail|\berror|unable|cannot|could ?n[o']t)[^.]{0,20}load).*\b(?:model"
        r"|weights|engine)\b[^.]{0,60}?(?:is|are|still|being"
        r"|currently) (?:\w+ ){0,2}(?:loading|loaded|starting|warming|initiali[sz]ing"
        r"|downloading|booting)\b",  # Hugging Face, KoboldCpp, Baseten
        r"^(?!.*(?:fail|\berror)[^.]{0,20}load).*loading (?:the )?model",  # llama.cpp, TabbyAPI
        r"warming up|cold start|starting up|正在加载|模型加载",  # Cloudflare, ModelScope
    ),
    *_rows(
        Fault.UNKNOWN_MODEL,
        r"model[_ ]?not[_ ]?(?:found|exist|supported|open|available)",  # OpenAI, DeepSeek, Groq
        r"DeploymentNotFound|model_decommissioned|(?:invalid|unknown)_?model",  # Azure, Mistral
        r"(?:not a valid|no such|unknown|invalid|unsupported|unrecogni[sz]ed|nonexistent"
        r"|incorrect) (?:\w+ )?model\b",  # OpenRouter, Perplexity
        rf"{_MODEL}(?:not (?:be )?(?:found|exist|available|loaded|installed|deployed"
        rf"|enabled|served|accessible)|(?:n't|no longer|not) (?:exist|available|supported)"
        rf"|unavailable)",  # OpenAI, vLLM, Fireworks, Ollama
        rf"{_MODEL}(?:decommissioned|retired|deprecated|discontinued|sunset|shut down"
        rf"|not a valid|is invalid|is not supported|unrecogni[sz]ed)",  # Groq, Together, Anthropic
        # LM Studio, LocalAI
        r"(?:could ?n[o']t|cannot|can't|can not|unable to|failed to"
        r"|error)[^.]{0,12}(?:find|load(?:ing)?|locate|access|resolve)[^.]{0,30}model",
        r"\bno (?:\w+ ){0,2}(?:endpoints?|providers?|deployments?|channels?"
        r"|models?) (?:\w+ )?(?:found|available|loaded|for)",  # OpenRouter, litellm, LM Studio
        # Moonshot, NVIDIA
        r"does not (?:exist|match)[^.]{0,25}model|not found (?:the model|for account)",
        r"try pulling it",  # Ollama
        r"模型(?:不存在|未找到|不可用|已下线)|无可用渠道|不存在该模型",  # Zhipu, one-api
    ),
    *_rows(
        Fault.FORBIDDEN,
        r"(?:country|region|territory|location)[^.]{0,40}(?:not|un)[ -]?(?:supported"
        r"|available|allowed)",  # OpenAI, Gemini
        r"permission|access (?:was |is )?denied|not authori[sz]ed|forbidden",  # xAI, Bedrock
        r"(?:not|n't) have access|no access|ip (?:address )?(?:is )?not allowed",  # Cloudflare
    ),
    *_rows(
        Fault.OVERLOADED,
        r"overload|capacity|\bbusy\b|temporar|unavailable",  # Anthropic, Mistral, Groq, Bedrock
        r"(?:high|heavy|too much|peak) (?:demand|load|traffic|usage)",  # Gemini, Moonshot
        r"try again later|right now|at the moment",  # OpenAI, Zhipu
        r"queue[^.]{0,20}(?:full|long|exceed)",  # TGI, vLLM
        # SGLang, Envoy, Cloudflare
        r"\bno (?:\w+ ){0,2}(?:slots?|workers?|instances?|replicas?|centers?|gpus?|upstream)\b",
        r"insufficient_system_resource|过载|繁忙|负载|稍后",  # DeepSeek, one-api
    ),
)


_ADDRESS = re.compile(r"https?://\S+")
# With these words a missing model is only temporarily away.
_FOR_A_MOMENT = re.compile(
    r"(?i)overload|capacity|temporar|busy|high demand|right now|at the moment|try again later"
    r"|繁忙|过载"
)
_FAULT_OF_STATUS = {
    401: Fault.BAD_KEY,
    402: Fault.NO_CREDIT,
    403: Fault.FORBIDDEN,
    404: Fault.NOTHING_THERE,
    405: Fault.NOTHING_THERE,
    408: Fault.FAILED,
    409: Fault.FAILED,
    425: Fault.FAILED,
    413: Fault.TOO_LARGE,
    429: Fault.BUSY,
    529: Fault.OVERLOADED,
}
# Faults in words that override the usually right fault of a status.
_WORDS_FOR_STATUS = {
    401: {Fault.NO_CREDIT, Fault.FILTERED},
    402: {Fault.BUSY},
    405: set[Fault](),
    429: {Fault.NO_CREDIT, Fault.OVERLOADED, Fault.LOADING, Fault.BAD_KEY},
    529: {Fault.LOADING},
}
_SERVER_FAILED = 500
_STATUSES = range(400, 600)
# Groq: "on tokens per minute (TPM): Limit 6000, Used 0, Requested 6530"
_ALLOWANCE = re.compile(r"(?i)limit:? (\d[\d,]*).{0,40}?requested:? (\d[\d,]*)")


def fault_of(said: str, codes: str = "", status: int = 0, *, has_wait: bool = False) -> Fault:
    """The fault that a refusal reports; FAILED or REJECTED when neither words nor status tell.

    `status` is 0 for an error inside a stream, whose code may be one. A refusal that `has_wait` is
    temporary, so no missing credit.
    """
    status = status if status >= _STATUSES.start else _status_in(codes)
    words = _by_words(f"{codes} {said}")
    if words is Fault.NO_CREDIT and has_wait:
        words = Fault.BUSY
    if words is Fault.BUSY and allowance_in(said):
        return Fault.OVER_RATE
    expected = _FAULT_OF_STATUS.get(status)
    if words and words in _WORDS_FOR_STATUS.get(status, {words}):
        return words
    if expected:
        return expected
    return Fault.FAILED if status >= _SERVER_FAILED or not status else Fault.REJECTED


def allowance_in(said: str) -> int:
    """The tokens a minute that an endpoint allows, where one request alone exceeds them; else 0."""
    found = _ALLOWANCE.search(said)
    if not found:
        return 0
    limit, requested = tokens_in(found[1]), tokens_in(found[2])
    return limit if requested > limit else 0


def _status_in(codes: str) -> int:
    """The first of the codes that is an HTTP status; 0 for none."""
    numbers = (int(code) for code in codes.split() if code.isdecimal())
    return next((number for number in numbers if number in _STATUSES), 0)


def _by_words(words: str) -> Fault | None:
    plain = " ".join(words[:_LONGEST_TEXT_CHARS].replace("’", "'").split())
    text = _ADDRESS.sub(" ", plain)
    for fault, pattern in _patterns():
        if pattern.search(text):
            is_away = fault is Fault.UNKNOWN_MODEL and _FOR_A_MOMENT.search(text)
            return Fault.OVERLOADED if is_away else fault
    return None


@cache
def _patterns() -> tuple[tuple[Fault, re.Pattern[str]], ...]:
    return tuple((fault, re.compile(pattern, re.IGNORECASE)) for fault, pattern in REFUSALS)
