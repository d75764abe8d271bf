// A chat in React by the package `chatwright`: conversations, text as it arrives, approval of calls, a tool that runs here.
import { Chatwright, getToolName, isToolPart, newId } from "chatwright";
import { useChat } from "chatwright/react";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const client = new Chatwright();

/** The conversation is in the address, so that a reload goes on with it. */
function App() {
  const [conversation, setConversation] = useState(location.hash.slice(1) || newId());
  const [conversations, setConversations] = useState([]);
  const reload = async () => setConversations((await client.conversations.list({ limit: 20 })).items);
  useEffect(() => {
    location.hash = conversation;
    void reload();
  }, [conversation]);
  return (
    <>
      <nav aria-label="Conversations">
        <button onClick={() => setConversation(newId())}>New</button>
        {conversations.map(({ id, title }) => (
          <button key={id} aria-current={id === conversation} onClick={() => setConversation(id)}>
            {title}
          </button>
        ))}
      </nav>
      <Chat conversation={conversation} onFinish={reload} />
    </>
  );
}

function Chat({ conversation, onFinish }) {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const chat = useChat({
    client,
    agent: "demo",
    page: "demo",
    conversation,
    sharedState: { legal_name: name },
    onFinish,
    onToolCall({ toolCall }) {
      if (toolCall.toolName !== "update-page-state") return;
      setName(toolCall.input.updates.legal_name ?? name);
      // Not awaited: the answer is still being read.
      void chat.addToolOutput({ toolCallId: toolCall.toolCallId, output: { ok: true, written: ["legal_name"] } });
    },
  });
  const send = (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    void chat.sendMessage({ text });
    setText("");
  };
  const part = (part, index) => {
    if (part.type === "text") return <span key={index}>{part.text}</span>;
    if (!isToolPart(part)) return null;
    if (part.state === "approval-requested") {
      const decide = (approved) => chat.addToolApprovalResponse({ id: part.approval.id, approved });
      return (
        <fieldset key={index}>
          <legend>May the agent call {getToolName(part)}?</legend>
          <pre>{JSON.stringify(part.input, null, 2)}</pre>
          <button onClick={() => decide(true)}>Yes</button> <button onClick={() => decide(false)}>No</button>
        </fieldset>
      );
    }
    return <p key={index}>{`${getToolName(part)}: ${part.state}`}</p>;
  };
  const isBusy = chat.status === "submitted" || chat.status === "streaming";
  return (
    <main>
      <label>
        legal_name <input value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <div role="log">
        {chat.messages.map((message) => (
          <article key={message.id} aria-label={message.role === "user" ? "You" : "Agent"}>
            {message.parts.map(part)}
          </article>
        ))}
        {chat.error && <p role="alert">{chat.error.message}</p>}
      </div>
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {isBusy ? <button type="button" onClick={chat.stop}>Stop</button> : <button>Send</button>}
      </form>
    </main>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
