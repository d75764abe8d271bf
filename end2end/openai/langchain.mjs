// The package `@langchain/openai` as published. Run by the tests of the server, with its address and an API key.
import { ChatOpenAI } from "@langchain/openai";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";

const [baseURL, apiKey] = process.argv.slice(2);
const show = (name, value) => console.log(`${name}: ${JSON.stringify(value)}`);

for (const useResponsesApi of [false, true]) {
  const name = useResponsesApi ? "responses" : "chat";
  const chat = new ChatOpenAI({ model: "helper", apiKey, configuration: { baseURL }, useResponsesApi, maxRetries: 0 });
  const plain = await chat.invoke([new SystemMessage("Be brief."), new HumanMessage("say hello")]);
  show(`${name} plain`, [plain.text, plain.usage_metadata.total_tokens > 0]);
  let text = "";
  for await (const chunk of await chat.stream("say streamed")) text += chunk.text;
  show(`${name} stream`, text);
  const weather = tool(({ city }) => `${city} is cold`, { name: "weather", description: "The weather.", schema: z.object({ city: z.string() }) });
  const able = chat.bindTools([weather]);
  const messages = [new HumanMessage('weather {"city":"Oslo"}')];
  const asks = await able.invoke(messages);
  messages.push(asks, await weather.invoke(asks.tool_calls[0]));
  show(`${name} tool`, [asks.tool_calls[0].args, (await able.invoke(messages)).text]);
  const typed = chat.withStructuredOutput(z.object({ answer: z.number() }), { method: "jsonSchema" });
  show(`${name} structured`, await typed.invoke('say {"answer": 42}'));
}
