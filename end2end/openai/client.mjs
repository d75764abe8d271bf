// The package `openai` as published. Run by the tests of the server, with its address and an API key.
// Prints a line for each check.
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "helper";
const say = (text) => [{ role: "user", content: text }];
const show = (name, value) => console.log(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const failure = async (call) => {
  try {
    await call();
    return "no error";
  } catch (error) {
    return `${error.constructor.name} ${error.status} ${error.code} ${error.param}`;
  }
};

show("models", (await client.models.list()).data.map((one) => one.id));
show("model", (await client.models.retrieve(model)).id);

const plain = await client.chat.completions.create({ model, messages: say("say hello") });
show("plain", [plain.object, plain.choices[0].message.content, plain.choices[0].finish_reason, plain.usage.total_tokens > 0]);

const stream = await client.chat.completions.create({
  model,
  messages: [{ role: "system", content: "Be brief." }, ...say("say hello")],
  stream: true,
  stream_options: { include_usage: true },
});
let [text, usage, finish] = ["", null, null];
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta.content ?? "";
  finish = chunk.choices[0]?.finish_reason ?? finish;
  usage = chunk.usage ?? usage;
}
show("stream", [text, finish, usage.total_tokens === usage.prompt_tokens + usage.completion_tokens]);

const tools = [{ type: "function", function: { name: "weather", description: "The weather.", parameters } }];
const messages = say('weather {"city":"Paris"}');
const asks = await client.chat.completions.create({ model, messages, tools });
const call = asks.choices[0].message.tool_calls[0];
show("tool call", [asks.choices[0].finish_reason, asks.choices[0].message.content, call.function]);
messages.push(asks.choices[0].message, { role: "tool", tool_call_id: call.id, content: "sunny" });
const told = await client.chat.completions.create({ model, messages, tools });
show("tool result", told.choices[0].message.content);

const runner = client.chat.completions.runTools({
  model,
  messages: say('weather {"city":"Rome"}'),
  tools: [{ type: "function", function: { name: "weather", parameters, parse: JSON.parse, function: ({ city }) => `${city} is hot` } }],
});
show("runTools", await runner.finalContent());

const own = await client.chat.completions.create({ model, messages: say("find {}") });
show("own tool", [own.choices[0].message.content, own.choices[0].message.tool_calls ?? null]);

const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"], additionalProperties: false };
const format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
const parsed = await client.chat.completions.parse({ model, messages: say('say {"answer": 42}'), response_format: format });
show("json_schema", [parsed.choices[0].message.content, JSON.parse(parsed.choices[0].message.content).answer]);

show("wrong key", await failure(() => new OpenAI({ baseURL, apiKey: "cw_wrong", maxRetries: 0 }).models.list()));
show("unknown model", await failure(() => client.chat.completions.create({ model: "gpt", messages: say("say x") })));
show("unsupported", await failure(() => client.chat.completions.create({ model, messages: say("say x"), logprobs: true })));
show("empty", await failure(() => client.chat.completions.create({ model, messages: [] })));
show("bad schema", await failure(() => client.chat.completions.create({ model, messages: say("say x"), response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "nothing" } } } })));
show("unknown path", await failure(() => client.embeddings.create({ model, input: "x" })));

const first = await client.responses.create({ model, input: "say one", metadata: { of: "test" } });
show("response", [first.status, first.output_text, first.output.map((item) => item.type), first.metadata]);
const second = await client.responses.create({ model, input: 'weather {"city":"Oslo"}', previous_response_id: first.id, tools: [{ type: "function", name: "weather", parameters, strict: false }] });
const asked = second.output.find((item) => item.type === "function_call");
show("function call", [second.status, asked.name, asked.arguments]);
const third = await client.responses.create({
  model,
  input: [{ type: "function_call_output", call_id: asked.call_id, output: "snow" }],
  previous_response_id: second.id,
});
show("function result", third.output_text);
show("no result", await failure(() => client.responses.create({ model, input: "say x", previous_response_id: second.id })));

const events = [];
const streamed = client.responses.stream({ model, input: "say streamed", previous_response_id: third.id });
for await (const event of streamed) events.push(event);
const numbers = events.map((event) => event.sequence_number);
show("events", events.map((event) => event.type.replace("response.", "")));
show("numbered", numbers.every((number, at) => number === at));
const last = await streamed.finalResponse();
show("final", [last.status, last.output_text]);

const kept = await client.responses.retrieve(last.id);
show("retrieve", [kept.id === last.id, kept.output_text ?? kept.output[0].content[0].text, kept.previous_response_id === third.id]);
const items = await client.responses.inputItems.list(last.id);
show("input items", items.data.map((item) => [item.type, item.role, item.content[0].text]));
await client.responses.delete(last.id);
show("deleted", await failure(() => client.responses.retrieve(last.id)));
show("cancel", await failure(() => client.responses.cancel(first.id)));
const referred = await client.responses.create({
  model,
  input: [{ type: "item_reference", id: first.output[0].id }, { role: "user", content: "say after one" }],
});
show("item_reference", referred.output_text);
const unkept = await client.responses.create({ model, input: "say x", store: false });
show("store false", [unkept.output_text, await failure(() => client.responses.retrieve(unkept.id))]);
show("background", await failure(() => client.responses.create({ model, input: "say x", background: true })));
