"""The package `a2a-sdk` as published. Prints a line for each check.

Arguments: the address of the server, an API key, and the binding.
"""

import asyncio
import json
import re
import sys

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest, SubscribeToTaskRequest, TaskState
from google.protobuf.json_format import ParseDict

origin, api_key, binding = sys.argv[1:]
sent = 0


def show(name, value):
    text = value if isinstance(value, str) else json.dumps(value)
    print(f"{name}: {text.replace(origin, 'ORIGIN')}")


def request(content, **message):
    global sent
    sent += 1
    parts = [{"text": content}] if isinstance(content, str) else content
    message = {"messageId": f"p-{sent}", "role": "ROLE_USER", "parts": parts, **message}
    return ParseDict({"message": message}, SendMessageRequest())


def state(status):
    return TaskState.Name(status.state).removeprefix("TASK_STATE_")


def text(task):
    return ["".join(part.text for part in artifact.parts) for artifact in task.artifacts]


async def events(stream):
    found = []
    async for event in stream:
        match event.WhichOneof("payload"):
            case "task":
                found.append(f"task {state(event.task.status)} {text(event.task)}")
            case "status_update":
                found.append(f"status {state(event.status_update.status)}")
            case "artifact_update":
                update = event.artifact_update
                found.append(f"{update.artifact.artifact_id} {update.append} {update.last_chunk} {[part.text for part in update.artifact.parts]}")
    return found


async def last(client, *asked, **message):
    task = None
    async for event in client.send_message(request(*asked, **message)):
        task = event.task
    return task


async def failure(call):
    try:
        await call
        return "no error"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def main():
    headers = {"authorization": f"Bearer {api_key}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, f"{origin}/a2a/helper").get_agent_card()
        show("card", [card.name, card.supported_interfaces[0].url, card.supported_interfaces[0].protocol_version])
        streaming = ClientFactory(ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])).create(card)
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=[binding])).create(card)
        task = await last(client, "say hello")
        show("task", [state(task.status), text(task)])
        show("streamed", await events(streaming.send_message(request("say streamed", contextId=task.context_id))))
        show("a tool", await events(streaming.send_message(request("find {}"))))
        held = await last(client, 'send {"to":"Ada"}')
        show("approval", [state(held.status), held.status.message.parts[0].text])
        show("subscribed", await events(streaming.subscribe(SubscribeToTaskRequest(id=held.id))))
        show("approved", text(await last(client, "yes", taskId=held.id)))
        listed = await client.list_tasks(ListTasksRequest(context_id=task.context_id, include_artifacts=True))
        show("listed", [text(one) for one in listed.tasks])
        got = await client.get_task(GetTaskRequest(id=task.id, history_length=1))
        show("got", [state(got.status), len(got.history)])
        waiting = await last(client, 'send {"to":"Ada"}')
        show("canceled", state((await client.cancel_task(CancelTaskRequest(id=waiting.id))).status))
        show("unknown", await failure(client.get_task(GetTaskRequest(id="nothing"))))
        show("ended", await failure(client.cancel_task(CancelTaskRequest(id=task.id))))
        show("ended stream", await failure(events(streaming.subscribe(SubscribeToTaskRequest(id=task.id)))))
        show("message to ended", await failure(last(client, "say x", taskId=task.id)))


asyncio.run(main())
