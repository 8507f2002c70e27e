"""How servers refuse: for key, credit, model, length, policy and rate, in every form."""

import json

from tests.dialects.row import EVENTS, JSON, KEY, OK, Reply, Row, delta, event, refused, whole

_ADDRESS = ("Check the address", "check its address", "API: check it")
_RAW = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "600s"}
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_CREDIT = "Your credit balance is too low to access the API."
_TPM = (
    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9012,"
    " please reduce your message size and try again."
)
_MASKED = f"{KEY[:7]}**************{KEY[-4:]}"


def _error(said: str, **more: object) -> dict[str, object]:
    return {"error": {"message": said, **more}}


ROWS = (
    # --- the key
    Row("OpenAI: a wrong key, partly starred",
        (refused(401, _error(f"Incorrect API key provided: {_MASKED}.", code="invalid_api_key")),),
        told="key was not accepted", says="Incorrect API key", never=(KEY[:7], KEY[-4:])),
    Row("Gemini: a wrong key with 400 and a list as body",
        (refused(400, [_error("API key not valid. Please pass a valid API key.", code=400,
                              status="INVALID_ARGUMENT")]),),
        told="key was not accepted", says="Please pass a valid API key", never=_ADDRESS),
    Row("xAI: a wrong key with 400",
        (refused(400, {"code": "Client specified an invalid argument",
                       "error": f"Incorrect API key provided: {KEY}."}),),
        told="key was not accepted", says="Incorrect API key"),
    Row("MiniMax: a wrong key inside a 200",
        (refused(200, {"base_resp": {"status_code": 1004, "status_msg": "login fail: no key"}}),),
        told="key was not accepted", says="login fail"),
    Row("one-api: a wrong key in Chinese", (refused(401, _error("无效的令牌")),),
        told="key was not accepted", says="无效的令牌"),
    Row("a proxy: a wrong key with 403", (refused(403, {"detail": "API key has expired"}),),
        told="key was not accepted", says="expired"),
    Row("a wrong key as the first event", (Reply((event(_error("Invalid API key", code=401)),)),),
        told="key was not accepted", says="Invalid API key"),
    # --- credit
    Row("OpenAI: no quota", (refused(429, _error(_QUOTA, type="insufficient_quota")),),
        told="no credit", says="exceeded your current quota"),
    Row("Anthropic: no credit with 400",
        (refused(400, {"type": "error", **_error(_CREDIT, type="invalid_request_error")}),),
        told="no credit", says=_CREDIT, never=_ADDRESS),
    Row("Zhipu: no credit with 429",
        (refused(429, _error("您的账户已欠费,请充值后重试", code="1113")),),
        told="no credit", says="欠费"),
    Row("MiniMax: no credit inside a 200",
        (Reply((json.dumps({"base_resp": {"status_code": 1008,
                                          "status_msg": "insufficient balance"}}).encode(),)),),
        told="no credit", says="insufficient balance"),
    # --- the model
    Row("Cloudflare: no such model in errors[]",
        (refused(400, {"success": False, "result": None,
                       "errors": [{"code": 5007, "message": "No such model @cf/x or task"}]}),),
        told="know the model", says="No such model", advice="Pick one of its models"),
    Row("OpenRouter: no endpoints for the model",
        (refused(404, _error("No endpoints found for x/y.", code=404)),),
        told="know the model", says="No endpoints found", never=_ADDRESS),
    Row("LM Studio: the model cannot be loaded",
        (refused(404, {"error": 'Failed to load model "x". Error: insufficient memory'}),),
        told="know the model", says="Failed to load model"),
    # --- the length
    Row("vLLM: too long", (refused(400, {"object": "error", "code": 400, "message":
        "This model's maximum context length is 4096 tokens. You requested 9000 tokens."}),),
        told="too long", says="maximum context length", never=_ADDRESS),
    Row("Anthropic: too long", (refused(400, _error("prompt is too long: 208310 tokens > 200000 max"
        "imum")),), told="too long", says="prompt is too long"),
    Row("DashScope: too long", (refused(400, _error("Range of input length should be [1, 30720]",
        code="InvalidParameter")),), told="too long", says="[1, 30720]"),
    Row("Mistral: too long, in a list in detail",
        (refused(422, {"object": "error", "message": {"detail": [
            {"type": "too_long", "msg": "The prompt exceeds the context window."}]}}),),
        told="too long", says="exceeds the context window"),
    Row("Groq: more than a minute's tokens",
        (refused(413, _error(_TPM, code="rate_limit_exceeded")),),
        told="more than the endpoint takes in a minute", says="Limit 6000"),
    Row("nginx: too many bytes",
        (Reply((b"<html><h1>413 Request Entity Too Large</h1></html>",), 413, "text/html"),),
        told="too large for the endpoint", never=("too long", "context")),
    # --- the policy
    Row("Azure: the content filter", (refused(400, _error("The response was filtered due to the"
        " prompt triggering the content management policy.", code="content_filter")),),
        told="withheld", says="content management policy", never=_ADDRESS),
    Row("OpenRouter: flagged with 403", (refused(403, _error("x requires moderation. Your input was"
        " flagged for violence.", code=403)),), told="withheld", says="flagged"),
    Row("the content filter within the stream",
        (Reply((delta("The lamp"), event(_error("Output blocked by content filtering policy")))),),
        told="withheld", says="content filtering policy", text="The lamp"),
    Row("a country that is not served", (refused(403, _error("Country, region, or territory not"
        " supported", code="unsupported_country_region_territory")),),
        told="did not allow", says="Country"),
    # --- the rate and the load
    Row("Gemini: the rate, with its wait in the body",
        (refused(429, [_error(_QUOTA, status="RESOURCE_EXHAUSTED", details=[_RETRY])]),),
        told="limit of requests", advice="Wait 10 minutes", says="current quota"),
    Row("the rate inside a 200",
        (refused(200, _error("Too many tokens per minute. Try again in 15m.")),),
        told="limit of requests", advice="Wait 15 minutes", never=("too long",)),
    Row("OpenRouter: overloaded, in metadata.raw",
        (refused(502, _error("Provider returned error", code=502, metadata={"raw": _RAW}),
                 retry_after="900"),),
        told="overloaded", says="Overloaded", advice="Wait 15 minutes"),
    Row("Anthropic: 529", (refused(529, {"type": "error", **_error("Overloaded",
        type="overloaded_error")}, retry_after="900"),), told="overloaded", says="Overloaded"),
    Row("overloaded, after the first words",
        (Reply((delta("The lamp"), event(_error("Overloaded", type="overloaded_error")))),),
        told="overloaded", says="Overloaded", text="The lamp"),
    # --- anything else
    Row("a parameter that is not liked",
        (refused(400, _error("Unknown parameter: foo.", code="unknown_parameter")),),
        told="did not accept the request", says="Unknown parameter", never=_ADDRESS),
    Row("nothing at this address", (refused(404, {"detail": "Not Found"}),),
        told="nothing at this address", advice="Check the address"),
    # --- typed as something else
    Row("JSON that is typed as events", (Reply((whole(),)),)),
    Row("JSON without a type", (Reply((whole(),), 200, "text/plain"),)),
    Row("events that are typed as JSON", (Reply(OK.parts, 200, JSON),)),
    Row("events that are typed as a page", (Reply(OK.parts, 200, "text/html"),)),
    Row("a bare error that is typed as events",
        (Reply((json.dumps(_error("Invalid API key")).encode(),)),),
        told="key was not accepted", says="Invalid API key"),
    Row("a bare error between the events",
        (Reply((delta("The lamp"), json.dumps(_error("Out of memory")).encode() + b"\n")),),
        told="failed", says="Out of memory", text="The lamp"),
    Row("an error as a field of its own",
        (Reply((delta("The lamp"), b'error: {"code": 500, "message": "Out of memory"}\n\n')),),
        told="failed", says="Out of memory", text="The lamp"),
    Row("an error as a named event",
        (Reply((delta("The lamp"), b'event: error\ndata: {"detail": "Out of memory"}\n\n')),),
        told="failed", says="Out of memory", text="The lamp"),
    Row("an error as events with a status",
        (Reply((event(_error(_CREDIT)),), 400, EVENTS),), told="no credit", says=_CREDIT),
    Row("an error as plain text", (Reply((b"Out of memory",), 500, "text/plain",
        {"Retry-After": "900"}),), told="failed", says="Out of memory"),
    Row("JSON without choices", (refused(200, {"message": "Say please", "status": 400}),),
        told="did not accept", says="Say please"),
    Row("garbage after the first words", (Reply((delta("The lamp"), b"data: {oops\n\n")),),
        told="became unreadable", text="The lamp", never=_ADDRESS),
    Row("a web page", (Reply((b"<!doctype html><h1>Hello</h1>",), 200, "text/html"),),
        told="web page", advice="check it in Settings"),
)  # fmt: skip
