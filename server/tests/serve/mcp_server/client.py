"""The package `mcp` as published, with both forms of the protocol. Prints a line for each check.

Arguments: the address of the MCP server, and an API key.
"""

import asyncio
import json
import re
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

url, api_key = sys.argv[1:]


def show(name, value):
    text = value if isinstance(value, str) else json.dumps(value)
    # Ids differ from run to run.
    print(f"{name}: {re.sub(r'[0-9a-f]{32}', 'ID', text)}")


def content(result):
    return [result.is_error, [block.text for block in result.content]]


def connect(http_client, mode):
    return Client(streamable_http_client(url, http_client=http_client), mode=mode)


async def check(mode):
    headers = {"authorization": f"Bearer {api_key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http_client, connect(http_client, mode) as client:
        tools = (await client.list_tools()).tools
        show("tools", [tool.name for tool in tools])
        result = await client.call_tool("helper", {"message": "say hello"})
        show("agent", content(result))
        show("structured", result.structured_content)
        conversation = result.structured_content["conversationId"]
        arguments = {"message": "say again", "conversationId": conversation}
        again = await client.call_tool("helper", arguments)
        same = again.structured_content["conversationId"] == conversation
        show("continued", [again.structured_content["answer"], same])
        unknown = await client.call_tool("helper", {"message": "say x", "conversationId": "unknown"})
        show("unknown conversation", content(unknown))
        show("waiting", content(await client.call_tool("helper", {"message": "send {}"})))
        show("endpoint", content(await client.call_tool("find", {"query": "x"})))
        show("rejected", content(await client.call_tool("fail", {})))
        show("invalid", content(await client.call_tool("find", {"query": 1})))
        try:
            await client.call_tool("nothing", {})
        except MCPError as error:
            show("unknown tool", [error.code, error.message])
        seen = []

        async def progress(done, total, message):
            seen.append([done, total, message])

        await client.call_tool("helper", {"message": 'find {"query":"y"}'}, progress_callback=progress)
        show("progress", [message for _, _, message in seen])
        show("increases", all(a[0] < b[0] for a, b in zip(seen, seen[1:])))


async def main():
    for mode in ["auto", "legacy"]:
        print(f"--- {mode}")
        await check(mode)


asyncio.run(main())
