"""The packages `openai` and `langchain-openai` as published. Prints a line for each check.

Arguments: the address of the server's API, and an API key.
"""

import json
import sys

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

base_url, api_key = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
MODEL = "helper"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Answer(BaseModel):
    answer: int


def say(text):
    return [{"role": "user", "content": text}]


def show(name, value):
    print(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")


def failure(call):
    try:
        call()
        return "no error"
    except openai.APIStatusError as error:
        return f"{type(error).__name__} {error.status_code} {error.code} {error.param}"


show("models", [model.id for model in client.models.list()])
plain = client.chat.completions.create(model=MODEL, messages=say("say hello"))
show("plain", [plain.choices[0].message.content, plain.choices[0].finish_reason, plain.usage.prompt_tokens_details.cached_tokens])

text, usage = "", None
chunks = client.chat.completions.create(
    model=MODEL, messages=say("say hello"), stream=True, stream_options={"include_usage": True}
)
for chunk in chunks:
    text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    usage = chunk.usage or usage
show("stream", [text, usage.total_tokens > 0])

tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
messages = say('weather {"city":"Paris"}')
asks = client.chat.completions.create(model=MODEL, messages=messages, tools=tools, tool_choice="required")
call = asks.choices[0].message.tool_calls[0]
show("tool call", [asks.choices[0].finish_reason, call.function.name, call.function.arguments])
messages += [asks.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
show("tool result", client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0].message.content)

parsed = client.chat.completions.parse(model=MODEL, messages=say('say {"answer": 42}'), response_format=Answer)
show("parse", parsed.choices[0].message.parsed.answer)

wrong = openai.OpenAI(base_url=base_url, api_key="cw_wrong", max_retries=0)
show("wrong key", failure(lambda: wrong.models.list()))
show("unknown model", failure(lambda: client.chat.completions.create(model="gpt", messages=say("say x"))))
show("unsupported", failure(lambda: client.chat.completions.create(model=MODEL, messages=say("say x"), n=2)))

first = client.responses.create(model=MODEL, input="say one")
second = client.responses.create(model=MODEL, input="say two", previous_response_id=first.id)
show("responses", [first.output_text, second.output_text, second.previous_response_id == first.id])
with client.responses.stream(model=MODEL, input="say three", previous_response_id=second.id) as stream:
    kinds = [event.type for event in stream]
    third = stream.get_final_response()
show("stream of a response", [kinds[0], kinds[-1], third.output_text])
show("retrieve", client.responses.retrieve(third.id).output_text)
client.responses.delete(third.id)
show("deleted", failure(lambda: client.responses.retrieve(third.id)))
typed = client.responses.parse(model=MODEL, input='say {"answer": 42}', text_format=Answer)
show("parse of a response", typed.output_parsed.answer)


@tool
def weather(city: str) -> str:
    """The weather."""
    return f"{city} is fine"


for use_responses_api in [False, True]:
    name = "LangChain responses" if use_responses_api else "LangChain chat"
    chat = ChatOpenAI(
        model=MODEL, base_url=base_url, api_key=api_key, max_retries=0, use_responses_api=use_responses_api, stream_usage=True
    )
    reply = chat.invoke("say hello")
    show(f"{name} plain", [reply.text, reply.usage_metadata["total_tokens"] > 0])
    show(f"{name} stream", "".join(chunk.text for chunk in chat.stream("say streamed")))
    able = chat.bind_tools([weather])
    asked = [HumanMessage('weather {"city":"Lima"}')]
    asks = able.invoke(asked)
    call = asks.tool_calls[0]
    result = able.invoke([*asked, asks, ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])])
    show(f"{name} tool", result.text)
    show(f"{name} structured", chat.with_structured_output(Answer, method="json_schema").invoke('say {"answer": 42}').answer)
