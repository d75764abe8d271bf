"use client";

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { type ChatOptions, type Choices, newId } from "./chat.ts";
import type { Chatwright } from "./client.ts";
import { type ChatCallbacks, ChatSession, type ChatState } from "./session.ts";
import type { Message } from "./types.ts";

export type { ChatCallbacks, ChatState, ChatStatus, FinishEvent } from "./session.ts";

export interface UseChatOptions extends ChatOptions, ChatCallbacks {
  /** Another client takes effect with another agent, page or conversation. */
  client: Chatwright;
  agent: string;
  /** The messages until the conversation is loaded; a new conversation begins with them. */
  messages?: Message[];
  /**
   * Whether the conversation is loaded, and an answer in progress read, when the component is mounted. The default is
   * `true`; it takes effect with `conversation`.
   */
  resume?: boolean;
  /** The least milliseconds between two renderings while an answer is written; 16 by default. */
  throttle?: number;
}

export interface UseChatHelpers
  extends ChatState,
    Pick<
      ChatSession,
      | "sendMessage"
      | "regenerate"
      | "stop"
      | "resumeStream"
      | "addToolOutput"
      | "addToolApprovalResponse"
      | "setMessages"
      | "clearError"
    > {
  /** The id of the conversation. */
  id: string;
  /** The same as `addToolOutput`. */
  addToolResult: ChatSession["addToolOutput"];
}

/**
 * A chat with an agent, with the names of the AI SDK's `useChat`. Differences: the server keeps the conversation, so
 * that unmounting stops nothing; `stop` stops the answer on the server; answers to calls are sent without
 * `sendAutomaticallyWhen`.
 */
export function useChat(options: UseChatOptions): UseChatHelpers {
  const { client, agent, page, conversation, resume = true } = options;
  const [ownId] = useState(newId);
  const latest = useRef(options);
  const session = useMemo(() => {
    const { block, messages = [], throttle = 16 } = options;
    const chat = client.chat(agent, {
      ...(page === undefined ? {} : { page }),
      ...(block === undefined ? {} : { block }),
      conversation: conversation ?? ownId,
      sharedState: () => stateOf(latest.current),
    });
    return new ChatSession({ chat, isKnown: conversation !== undefined, messages, throttle });
    // `block`, `messages` and `throttle` count when the session is created; callbacks and choices are read when they are used.
    // `client` is no dependency: one that is created in each rendering would restart the session.
  }, [agent, page, conversation, ownId]);
  useEffect(() => {
    latest.current = options;
    session.callbacks = options;
    session.choices = choicesOf(options);
  });
  useEffect(() => session.attach(resume), [session, resume]);
  const state = useSyncExternalStore(session.subscribe, session.getState, session.getState);
  return useMemo(() => {
    const { sendMessage, regenerate, stop, resumeStream, addToolOutput, addToolApprovalResponse } = session;
    const { setMessages, clearError } = session;
    return {
      ...state,
      id: session.chat.conversation,
      sendMessage,
      regenerate,
      stop,
      resumeStream,
      addToolOutput,
      addToolResult: addToolOutput,
      addToolApprovalResponse,
      setMessages,
      clearError,
    };
  }, [state, session]);
}

function stateOf({ sharedState = {} }: UseChatOptions): Record<string, unknown> {
  return typeof sharedState === "function" ? sharedState() : sharedState;
}

function choicesOf(options: UseChatOptions): Choices {
  const { urlQuery, switches, model, thinking, planMode, documents, libraries, web, delegate } = options;
  const given = { urlQuery, switches, model, thinking, planMode, documents, libraries, web, delegate };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Choices;
}
