"""Asks `evalreport mcp` as a client does, with the SDK of the protocol, and prints the answers as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(program, folder, calls):
    server = StdioServerParameters(command=program, args=["mcp"], cwd=folder)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        told = await session.initialize()
        tools = await session.list_tools()
        answers = []
        for name, arguments in calls:
            answer = await session.call_tool(name, arguments)
            dumped = answer.model_dump(by_alias=True)
            answers.append({"text": dumped["content"][0]["text"], "failed": bool(dumped.get("isError"))})
        print(json.dumps({
            "server": told.model_dump(by_alias=True)["serverInfo"]["name"],
            "tools": [tool.model_dump(by_alias=True) for tool in tools.tools],
            "answers": answers,
        }))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
