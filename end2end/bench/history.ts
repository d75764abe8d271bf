import { type APIRequestContext, expect } from "@playwright/test";

/** Makes a conversation of so many messages; answers with its id. */
export async function import_(request: APIRequestContext, origin: string, count: number): Promise<string> {
  const said = (at: number) =>
    at % 2
      ? `**Answer ${at}** with a list:\n\n- one\n- two \`code\`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`
      : `Question ${at}`;
  const messages = Array.from({ length: count }, (_, at) => ({
    ...(at ? { parentId: `m${at - 1}` } : {}),
    createdAt: 1_700_000_000_000 + at * 1000,
    message: { id: `m${at}`, role: at % 2 ? "assistant" : "user", parts: [{ type: "text", text: said(at) }] },
  }));
  const file = {
    format: "chatwright.conversation.1",
    title: `History of ${count}`,
    pageId: "bench",
    agentId: "bench",
    createdAt: 1_700_000_000_000,
    head: `m${count - 1}`,
    messages,
  };
  const response = await request.post(`${origin}/api/conversations`, { data: file, headers: { origin } });
  expect(response.ok(), await response.text()).toBe(true);
  return ((await response.json()) as { id: string }).id;
}
