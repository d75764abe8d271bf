"""The client with a real server."""

from __future__ import annotations

import ast
import asyncio
import io
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from contextlib import redirect_stdout
from pathlib import Path
from unittest import IsolatedAsyncioTestCase, mock

from chatwright import (
    AnswerError,
    Chatwright,
    ChatwrightError,
    NotPendingError,
    RequestError,
    TextDelta,
    events,
)

from .support import ROOT, Line, Server

server: Server
key: str


def setUpModule() -> None:
    global server, key
    server = Server()
    key = server.key("agents", "conversations", "admin", "endpoints")


def tearDownModule() -> None:
    server.close()


def counted(end: int) -> str:
    """Returns what the demo model answers to "Count to …"."""
    rows = [", ".join(map(str, range(at, min(at + 9, end) + 1))) for at in range(1, end + 1, 10)]
    return ",\n\n".join(rows) + "\n\nThat was all."


class ClientTest(IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = Chatwright(server.url, key=key)
        self.addAsyncCleanup(self.client.aclose)

    async def test_an_answer_is_events_and_a_message(self) -> None:
        reply = self.client.send("helper", "Count to 3", page="support")
        received = [event async for event in reply]
        text = "".join(event.delta for event in received if isinstance(event, TextDelta))
        message = await reply
        self.assertEqual([text, message.text, message.outcome], [counted(3), counted(3), "done"])
        self.assertIsInstance(received[0], events.Start)
        self.assertIsInstance(received[-1], events.Finish)
        self.assertEqual((await self.client.conversations.get(reply.conversation)).messages[1], message)
        chat = self.client.chat("helper", page="support", conversation=reply.conversation)
        self.assertEqual("".join([text async for text in chat.send("Count to 2").texts()]), counted(2))
        self.assertEqual(len((await chat.load()).messages), 4)

    async def test_a_cut_in_the_middle_loses_nothing_and_doubles_nothing(self) -> None:
        async with Line(server.url) as line, Chatwright(line.url) as client:
            reply = client.send("helper", "Count to 120", page="support")
            text, cuts = "", 0
            async for event in reply:
                if not isinstance(event, TextDelta):
                    continue
                text += event.delta
                if len(text) > (cuts + 1) * 100 and cuts < 3:
                    cuts += 1
                    line.cut()
                    asyncio.get_running_loop().call_later(0.25, line.mend)
            self.assertEqual([cuts, text], [3, counted(120)])
            self.assertEqual(await reply, (await client.conversations.get(reply.conversation)).messages[1])

    async def test_an_answer_that_ends_during_a_cut_is_completed(self) -> None:
        async with Line(server.url) as line, Chatwright(line.url) as client:
            reply = client.send("helper", "Count to 30", page="support")
            text, kinds = "", []
            async for event in reply:
                kinds.append(type(event))
                if not isinstance(event, TextDelta):
                    continue
                if not text:
                    line.cut()
                    while (await self.client.conversations.get(reply.conversation)).running:
                        await asyncio.sleep(0.05)
                    line.mend()
                text += event.delta
            self.assertEqual(text, counted(30))
            self.assertEqual(kinds[-3:], [events.TextEnd, events.MessageMetadata, events.Finish])
            self.assertEqual(await reply, (await client.conversations.get(reply.conversation)).messages[1])

    async def test_a_lost_request_is_sent_once(self) -> None:
        async with Line(server.url) as line, Chatwright(line.url) as client:
            line.cut()
            asyncio.get_running_loop().call_later(0.3, line.mend)
            reply = client.send("helper", "Count to 2", page="support")
            self.assertEqual((await reply).text, counted(2))
            self.assertEqual(len((await client.conversations.get(reply.conversation)).messages), 2)

    async def test_a_call_waits_for_a_decision(self) -> None:
        chat = self.client.chat("helper", page="support")
        asked = await chat.send("Delete the article about Refunds")
        [call] = asked.pending_calls
        self.assertEqual([asked.outcome, call.name, call.input], ["waiting", "delete_article", {"title": "Refunds"}])
        denied = await chat.deny(call.id, reason="Not today.")
        self.assertEqual(denied.id, asked.id)
        self.assertIn("Nothing was deleted", denied.text)
        self.assertEqual((await chat.load()).messages[1], denied)
        again = await chat.send("Delete the article about Refunds")
        received = [type(event) async for event in chat.approve(again.pending_calls[0].id)]
        self.assertIn(events.ToolOutputAvailable, received)
        with self.assertRaises(NotPendingError):
            await chat.approve(call.id)

    async def test_questions_and_client_tools_are_answered(self) -> None:
        chat = self.client.chat("helper", page="support", shared_state=lambda: {"legal_name": ""})
        [question] = (await chat.send("Ask me something")).pending_calls
        output = {"option": "In one sentence"}
        answered = await chat.answer([{"tool_call_id": question.id, "output": output}])
        self.assertIn("You chose *In one sentence*", answered.text)
        [call] = (await chat.send("Fill in the form for Ada Lovelace")).pending_calls
        self.assertEqual([call.name, call.input], ["update-page-state", {"updates": {"legal_name": "Ada Lovelace"}}])
        done = await chat.answer([{"tool_call_id": call.id, "output": {"ok": True, "written": ["legal_name"]}}])
        self.assertIn("Done. I wrote", done.text)

    async def test_stop_ends_the_answer(self) -> None:
        reply = self.client.send("helper", "Count to 2000", page="support")
        is_stopped = False
        async for event in reply:
            if isinstance(event, TextDelta) and not is_stopped:
                is_stopped = True
                await reply.stop()
        self.assertEqual((await reply).outcome, "stopped")
        self.assertFalse((await self.client.conversations.get(reply.conversation)).running)

    async def test_the_answer_goes_on_when_the_reading_ends(self) -> None:
        chat = self.client.chat("helper", page="support")
        async with chat.send("Count to 100") as reply:
            async for event in reply:
                if isinstance(event, TextDelta):
                    break
        with self.assertRaises(ChatwrightError):
            await reply
        self.assertEqual("".join([text async for text in chat.resume().texts()]), counted(100))
        nothing = chat.resume()
        self.assertEqual([event async for event in nothing], [])
        self.assertEqual((await nothing).text, counted(100))

    async def test_a_failed_answer_is_an_error(self) -> None:
        with self.assertRaises(AnswerError) as raised:
            await self.client.send("helper", "Simulate a failure", page="support")
        self.assertEqual([raised.exception.outcome, raised.exception.partial.role], ["failed", "assistant"])

    async def test_messages_are_regenerated_and_edited(self) -> None:
        chat = self.client.chat("helper", page="support")
        first = await chat.send("Count to 2")
        second = await chat.regenerate()
        view = await chat.load()
        self.assertEqual(view.raw["forks"][second.id], [first.id, second.id])
        self.assertEqual((await chat.edit(view.messages[0].id, "Count to 4")).text, counted(4))
        await self.client.conversations.switch_branch(chat.conversation, first.id)
        self.assertEqual((await chat.load()).messages[1].id, first.id)

    async def test_refusals_are_typed(self) -> None:
        async def check(work: Callable[[], Awaitable[Any]], *expected: Any) -> None:
            with self.assertRaises(RequestError) as raised:
                await work()
            error = raised.exception
            self.assertEqual((error.status, error.code, error.path), expected)

        async def sent(*args: Any, **options: Any) -> None:
            await self.client.send(*args, **options)

        await check(lambda: self.client.conversations.get("unknown"), 404, "not_found", None)
        await check(lambda: sent("nobody", "Hello", page="support"), 404, "not_found", None)
        await check(lambda: self.client.files.upload(b"x"), 403, "forbidden", None)
        async with Chatwright(server.url, key=lambda: "cw_wrong") as wrong:
            await check(wrong.models, 401, "unauthenticated", None)
        with self.assertRaises(ValueError):
            Chatwright("chat.example.com")

    async def test_conversations(self) -> None:
        reply = self.client.send("helper", "Count to 2", page="support")
        answer = await reply
        conversations, id = self.client.conversations, reply.conversation
        await conversations.rename(id, "Numbers")
        await conversations.rate(id, answer.id, "up", "Right")
        view = await conversations.get(id)
        self.assertEqual([view.title, view.raw["feedback"][answer.id]["rating"]], ["Numbers", "up"])
        copy = await conversations.copy(id, answer.id)
        listed = [item["id"] async for item in conversations.all(limit=2)]
        self.assertTrue({id, copy} <= set(listed))
        self.assertEqual(len(set(listed)), len(listed))
        self.assertTrue((await conversations.search("Numbers"))["items"])
        await conversations.delete(id)
        with self.assertRaises(RequestError):
            await conversations.get(id)
        await conversations.restore(id)
        self.assertEqual((await conversations.get(id)).title, "Numbers")

    async def test_files_are_sent_with_messages(self) -> None:
        # In the mode `local` a request without a key is the owner's.
        async with Chatwright(server.url) as owner:
            stored = await owner.files.upload(b"name,amount\nAda,7\n", name="list.csv")
            reply = owner.send("helper", "Count to 2", files=[owner.files.to_part(stored)], page="support")
            await reply
            message = (await owner.conversations.get(reply.conversation)).messages[0]
            self.assertEqual([part["filename"] for part in message.parts if part["type"] == "file"], ["list.csv"])
            self.assertEqual(await owner.files.download(stored["id"]), b"name,amount\nAda,7\n")

    async def test_agents_endpoints_and_runs(self) -> None:
        agents = await self.client.agents()
        self.assertIn(("helper", "quick"), [(agent["id"], agent["models"][0]["id"]) for agent in agents])
        self.assertEqual(await self.client.call_endpoint("support", "delete_article", {"title": "x"}), {"deleted": 1})
        invocation = await self.client.runs.invoke("helper", "Count to 2")
        self.assertEqual([invocation["status"], invocation["output"]], ["succeeded", counted(2)])
        waiting = await self.client.runs.start("helper", "Delete the article about Refunds")
        await self.client.runs.answer(waiting["run_id"], waiting["questions"][0]["call_id"], False)
        await self.client.runs.stop(waiting["run_id"])

    async def test_definitions_are_synchronised(self) -> None:
        good = {"name": "order-helper", "instructions": "Help.", "tools": {"names": ["search_knowledge_base"]}}
        bad = {"name": "other", "instructions": "Help.", "tools": {"names": ["unknown_tool"]}}
        first = await self.client.sync_agent_definitions([good, bad])
        self.assertEqual([first["state"], first["created"], first["failed"]], ["partial", 1, 1])
        second = await self.client.sync_agent_definitions([good])
        self.assertEqual([second["state"], second["unchanged"]], ["synced", 1])
        self.assertEqual([one["name"] for one in await self.client.agent_definitions()], ["order-helper"])
        # An agent that was made at run time has a page of its own.
        self.assertEqual((await self.client.send(first["results"][0]["id"], "Count to 2")).text, counted(2))
        await self.client.delete_agent_definition("order-helper")
        self.assertEqual(await self.client.agent_definitions(), [])


class ReadmeTest(IsolatedAsyncioTestCase):
    async def test_the_example_of_the_readme_runs(self) -> None:
        readme = (Path(__file__).parents[1] / "README.md").read_text()
        [example] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        environment = {**os.environ, "CHATWRIGHT_URL": server.url, "CHATWRIGHT_KEY": key}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", example, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        printed, errors = await process.communicate()
        self.assertEqual(errors.decode(), "")
        self.assertTrue(printed.decode().startswith(f"{counted(3)}\n"))
        self.assertTrue(printed.decode().endswith("Nothing was deleted: you said no. Your reason: “Not today.”\n"))

    async def test_the_examples_of_the_manual_run(self) -> None:
        manual = (ROOT / "docs/clients.md").read_text()
        examples = re.findall(r"```python\n(.*?)```", manual, re.DOTALL)
        self.assertEqual(len(examples), 2)
        async with Chatwright(server.url, key=key) as client:
            names = {"os": os, "chat": client.chat("helper", page="support")}
            with redirect_stdout(io.StringIO()) as printed, mock.patch.dict(os.environ, CHATWRIGHT_KEY=key):
                for example in examples:
                    code = example.replace("https://chat.example.com", server.url)
                    await eval(compile(code, "clients.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {**names})
        self.assertTrue(printed.getvalue().startswith(counted(3) + counted(5)), printed.getvalue())
        self.assertTrue(printed.getvalue().endswith("delete_article {'title': 'Refunds'}\n"), printed.getvalue())
