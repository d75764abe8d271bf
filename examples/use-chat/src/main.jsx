// A chat with an agent of a Chatwright server by the AI SDK as it is: text as it comes, a question before a call, a tool that runs here.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { useRef, useState } from "react";
import { createRoot } from "react-dom/client";

/** Page and agent of the config, for the address bar to change: `?page=…&agent=…`. */
const where = new URLSearchParams(location.search);
const api = `/api/agent/${where.get("page") ?? "demo"}/${where.get("agent") ?? "demo"}`;

/** What the agent sees of this page, and may fill in with the platform's tool `update-page-state`. */
const FIELDS = ["legal_name", "company"];

function Chat() {
  const [fields, setFields] = useState(Object.fromEntries(FIELDS.map((key) => [key, ""])));
  const [text, setText] = useState("");
  // The transport is made once, and asks for what is there each time that it sends.
  const shared = useRef(fields);
  shared.current = fields;
  const [transport] = useState(() => new DefaultChatTransport({ api, body: () => ({ sharedState: shared.current }) }));
  const { messages, sendMessage, status, stop, error, addToolOutput, addToolApprovalResponse } = useChat({
    transport,
    // Once every call has its answer, the conversation goes on by itself.
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall({ toolCall }) {
      if (toolCall.toolName !== "update-page-state") return;
      const updates = Object.entries(toolCall.input.updates).filter(([key]) => FIELDS.includes(key));
      setFields((known) => ({ ...known, ...Object.fromEntries(updates) }));
      // Not awaited: the answer is still being read.
      addToolOutput({
        tool: toolCall.toolName,
        toolCallId: toolCall.toolCallId,
        output: { ok: true, written: updates.map(([key]) => key) },
      });
    },
  });
  const send = (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    sendMessage({ text });
    setText("");
  };
  const part = (part, index) => {
    if (part.type === "text") return <span key={index}>{part.text}</span>;
    if (!isToolUIPart(part)) return null;
    if (part.state === "approval-requested") {
      const decide = (approved) => addToolApprovalResponse({ id: part.approval.id, approved });
      return (
        <fieldset key={index}>
          <legend>May the agent call {getToolName(part)}?</legend>
          <pre>{JSON.stringify(part.input, null, 2)}</pre>
          <button type="button" onClick={() => decide(true)}>Yes</button> <button type="button" onClick={() => decide(false)}>No</button>
        </fieldset>
      );
    }
    return <p key={index}>{`${getToolName(part)}: ${part.state}`}</p>;
  };
  const isBusy = status === "submitted" || status === "streaming";
  return (
    <main>
      <div>
        {FIELDS.map((key) => (
          <label key={key}>
            {key} <input value={fields[key]} onChange={(event) => setFields({ ...fields, [key]: event.target.value })} />
          </label>
        ))}
      </div>
      <div role="log">
        {messages.map((message) => (
          <article key={message.id} aria-label={message.role === "user" ? "You" : "Agent"}>
            {message.parts.map(part)}
          </article>
        ))}
        {error && <p role="alert">{error.message}</p>}
      </div>
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {isBusy ? <button type="button" onClick={stop}>Stop</button> : <button>Send</button>}
      </form>
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Chat />);
