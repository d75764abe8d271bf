// A run that the package `@ag-ui/client` aborts while the model writes. Run by the tests of the server, with its address
// and an API key.
import { HttpAgent } from "@ag-ui/client";

const [origin, key] = process.argv.slice(2);
const options = { url: `${origin}/ag-ui/helper`, headers: { authorization: `Bearer ${key}` } };
const agent = new HttpAgent(options);
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "Hi" });
let finished = false;
await agent.runAgent({}, {
  onTextMessageContentEvent: () => agent.abortRun(),
  onRunFinishedEvent: () => void (finished = true),
});
console.log(`aborted: ${JSON.stringify([finished, agent.messages.at(-1).content])}`);

// Another frontend follows the answer, which ends because the first one has gone.
const other = new HttpAgent({ ...options, threadId: agent.threadId });
let end;
await other.runAgent({}, { onRunFinishedEvent: (params) => void (end = params) });
console.log(`stopped: ${JSON.stringify([end.outcome, end.result, other.messages.map((message) => message.content)])}`);
