// Generated from the server's OpenAPI document by `node clients/generate.mjs`. Do not edit.
export interface paths {
    "/api/agent/{page}/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message, approval decisions or tool outputs; 409 `other_agent` in a conversation with another agent */
        post: operations["post_api_agent_page_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/{page}/{agent}/{conversation}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream a running answer */
        get: operations["get_api_agent_page_agent_conversation_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/{page}/{agent}/{conversation}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a running answer */
        post: operations["post_api_agent_page_agent_conversation_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the models of the agents that the caller may use */
        get: operations["get_api_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/invoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invoke an agent with a single question, without tools unless the request names them */
        post: operations["post_api_runs_invoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run an agent with its tools, without a conversation */
        post: operations["post_api_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run with its questions */
        get: operations["get_api_runs_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a question of a run */
        post: operations["post_api_runs_id_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a run */
        post: operations["post_api_runs_id_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's standing approvals */
        get: operations["get_api_grants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a standing approval */
        delete: operations["delete_api_grants_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List conversations */
        get: operations["get_api_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a conversation with its messages */
        get: operations["get_api_conversations_id"];
        put?: never;
        post?: never;
        /** Delete a conversation; it can be restored for five minutes */
        delete: operations["delete_api_conversations_id"];
        options?: never;
        head?: never;
        /** Change the title, folder, pin or archive state of a conversation */
        patch: operations["patch_api_conversations_id"];
        trace?: never;
    };
    "/api/conversations/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the usage of a conversation */
        get: operations["get_api_conversations_id_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change a message of a conversation: switch its branch, delete, restore, rate or copy */
        post: operations["post_api_conversations_id_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of a conversation */
        get: operations["get_api_conversations_id_files"];
        put?: never;
        /** Upload files to a conversation, all or none */
        post: operations["post_api_conversations_id_files"];
        /** Delete a file of a conversation, with all its versions */
        delete: operations["delete_api_conversations_id_files"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/files/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a version of a file */
        get: operations["get_api_conversations_id_files_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search titles and messages */
        get: operations["get_api_search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload a file */
        post: operations["post_api_files"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a file */
        get: operations["get_api_files_id"];
        put?: never;
        post?: never;
        /** Delete a file */
        delete: operations["delete_api_files_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/endpoints/{page}/{endpoint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call an endpoint with a payload */
        post: operations["post_api_endpoints_page_endpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the stored definitions of agents */
        get: operations["get_api_agents_definitions"];
        put?: never;
        /** Store definitions of agents by their names */
        post: operations["post_api_agents_definitions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/definitions/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete the definition of an agent */
        delete: operations["delete_api_agents_definitions_name"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An active run. */
        ActiveRun: {
            /** @description The run's id. */
            runId: string;
            /** @description The assistant message that it writes. */
            messageId: string;
        };
        /** @description The definition of an agent. */
        AgentDefinition: {
            /** @description The name by which it is stored: letters from a to z, digits and hyphens. Upper and lower case make no difference. */
            name: string;
            /** @description The name that users read. Default: `name`. */
            display_name?: string | null;
            /**
             * @description The purpose.
             * @default
             */
            description: string;
            /** @description The instructions. */
            instructions: string;
            /** @description The agent of the config that it is based on. Default: the first of `customAgents.from`. */
            from?: string | null;
            /** @description A model of the section `models`. Default: the models of the base agent. */
            model?: string | null;
            /**
             * @description The tools of the base agent that it has.
             * @default {
             *       "names": []
             *     }
             */
            tools: components["schemas"]["ToolNamesInput"];
            /** @description How it works. Default: as the base agent. */
            workflows?: components["schemas"]["WorkSettings"] | null;
            /**
             * @description Must be empty: what an agent may do is decided by the roles of the user.
             * @default []
             */
            scopes: string[];
            /** @description Whether the `fallbackModels` of the base agent answer when its model fails. Default: as the base agent. */
            allow_frontier_fallback?: boolean | null;
            /**
             * @description Must be `false`: built-in agents are those of the config.
             * @default false
             */
            is_builtin: boolean;
        };
        /** @description One definition, or a list of them. */
        AgentDefinitions: components["schemas"]["AgentDefinition"] | components["schemas"]["AgentDefinition"][];
        /** @description The time limit of an invocation, as the config sets it. */
        AgentTier: "simple" | "complex" | "batch";
        /** @description An approval request for a tool call, and the user's decision. */
        Approval: {
            /** @description A unique id; a decision names it. */
            id: string;
            /** @description The decision, if there is one. */
            approved?: boolean;
            /** @description The user's comment. */
            reason?: string;
            /** @description A signature that binds the request to its arguments, for clients that return it. */
            signature?: string;
            /** @description The terms of the request. Unreadable terms are dropped: the server never trusts a client's. */
            terms?: components["schemas"]["ApprovalTerms"];
            /** @description Whether the request expired without a decision. */
            expired?: boolean;
            /** @description Whether the user sent a new message instead of deciding. */
            passedOver?: boolean;
        };
        /** @description The terms of an approval request. */
        ApprovalTerms: {
            /** @description The fingerprint of the tool when the request was made; absent for a nested call. */
            tool?: string;
            /** @description Whether the user may create a standing approval. */
            mayRemember?: boolean;
            /**
             * Format: int64
             * @description When the request expires; Unix time in milliseconds.
             */
            expiresAt?: number;
            /** @description The arguments that are shown first and that the user may edit; all if absent. */
            visibleParameters?: string[];
            /** @description The data in the conversation because of which a tool that sends data out needs an approval. */
            exposed?: components["schemas"]["Exposure"];
            /** @description Set if the call was interrupted while it ran: the request asks whether to run it again. */
            cutOff?: components["schemas"]["CutOff"];
        };
        /** @description The conversation with which the user continues: the changed one, or the copy. */
        ChangeResult: {
            /** @description Its id. */
            conversationId: string;
        };
        /** @description The parts of a model's context, in estimated tokens. */
        ContextParts: {
            /**
             * Format: uint64
             * @description The instructions.
             */
            instructions: number;
            /**
             * Format: uint64
             * @description The descriptions of the tools.
             */
            tools: number;
            /**
             * Format: uint64
             * @description The summary of earlier messages.
             */
            summary: number;
            /**
             * Format: uint64
             * @description The texts of the user and the agent, with the agent's calls.
             */
            messages: number;
            /**
             * Format: uint64
             * @description The results of tools.
             */
            results: number;
            /**
             * Format: uint64
             * @description Files.
             */
            files: number;
            /**
             * Format: uint64
             * @description The tokens of the newest reply, which are a part of `contextUsed`.
             */
            reply: number;
            /** @description Whether the provider reported the tokens in all, `contextUsed`; otherwise they are estimated, too. */
            measured: boolean;
        };
        /** @description A change to conversations; absent fields stay unchanged. */
        ConversationChange: {
            /** @description A new title, 1 to 200 characters. Hooks no longer change it afterwards. */
            title?: string | null;
            /** @description Pins or unpins. */
            pinned?: boolean | null;
            /** @description Moves into the archive or out of it. */
            archived?: boolean | null;
            /** @description Moves into a folder, or out of any folder with `null`. */
            folderId?: string | null;
            /** @description Marks as unread or read. */
            unread?: boolean | null;
            /** @description Deletes, or restores while that is still possible. */
            deleted?: boolean | null;
            /** @description Makes temporary (deleted for good after a day, unless the config says otherwise) or permanent. */
            temporary?: boolean | null;
        };
        /** @description One page of the conversation list: pinned conversations first, then the others, each newest first. */
        ConversationList: {
            /** @description At most the requested number of entries. */
            items: components["schemas"]["ConversationSummary"][];
            /** @description The opaque cursor of the next page; absent on the last page. */
            next?: string;
        };
        /** @description An entry of the conversation list. */
        ConversationSummary: {
            /** @description The conversation's id. */
            id: string;
            /** @description The title; the first words of the first message until a better one is set. */
            title: string;
            /** @description The page on which the conversation started. */
            pageId: string;
            /** @description The agent that answers. */
            agentId: string;
            /**
             * Format: int64
             * @description Unix time, milliseconds.
             */
            createdAt: number;
            /**
             * Format: int64
             * @description Unix time, milliseconds; the list is sorted by it.
             */
            updatedAt: number;
            /** @description Whether an answer is being generated. */
            running: boolean;
            /** @description Whether the newest answer waits for the user: for a decision on a call or for an answer to a question. */
            waiting: boolean;
            /** @description Whether it is pinned to the top of the list. */
            pinned: boolean;
            /** @description Whether it is archived, and so not in the list. */
            archived: boolean;
            /** @description Whether it has an answer that its owner has not seen. */
            unread: boolean;
            /** @description Whether it will be deleted automatically and for good. */
            temporary: boolean;
            /** @description The folder that contains it. */
            folderId?: string;
        };
        /** @description The usage of a conversation. */
        ConversationUsage: {
            /**
             * Format: uint64
             * @description The number of requests.
             */
            steps: number;
            /** @description The token usage. */
            usage: components["schemas"]["TokenUsage"];
            /**
             * Format: double
             * @description The cost in US dollars, as far as prices are known; absent if no price is known.
             */
            costUsd?: number;
            /**
             * Format: double
             * @description The savings by the caches of providers, in US dollars, as far as prices are known.
             */
            savedUsd?: number;
            /** @description The last model requests, oldest first. */
            requests: components["schemas"]["StepRecord"][];
        };
        /** @description A conversation with the messages of its active branch, oldest first. */
        ConversationView: {
            /** @description The conversation's id. */
            id: string;
            /** @description The title; the first words of the first message until a better one is set. */
            title: string;
            /** @description The page on which the conversation started. */
            pageId: string;
            /** @description The agent that answers. */
            agentId: string;
            /**
             * Format: int64
             * @description Unix time, milliseconds.
             */
            createdAt: number;
            /**
             * Format: int64
             * @description Unix time, milliseconds; the list is sorted by it.
             */
            updatedAt: number;
            /** @description Whether an answer is being generated. */
            running: boolean;
            /** @description Whether the newest answer waits for the user: for a decision on a call or for an answer to a question. */
            waiting: boolean;
            /** @description Whether it is pinned to the top of the list. */
            pinned: boolean;
            /** @description Whether it is archived, and so not in the list. */
            archived: boolean;
            /** @description Whether it has an answer that its owner has not seen. */
            unread: boolean;
            /** @description Whether it will be deleted automatically and for good. */
            temporary: boolean;
            /** @description The folder that contains it. */
            folderId?: string;
            /** @description The active branch, including a message that is still being generated, as far as it exists. */
            messages: components["schemas"]["UiMessage"][];
            /** @description The active run, if any. Its stream, read from the start, contains its whole message. */
            active?: components["schemas"]["ActiveRun"];
            /** @description The id of the model that answers first, until the user chooses another one, if the conversation began with one. */
            firstModel?: string;
            /** @description For each message of the branch that has siblings: all siblings including itself, oldest first. */
            forks?: {
                [key: string]: string[];
            };
            /** @description The user's feedback on answers, by message. */
            feedback?: {
                [key: string]: components["schemas"]["Feedback"];
            };
        };
        /** @description The decision about an interrupted call. */
        CutOff: "open" | "again";
        /** @description A data part, `data-{name}`: application data for the page, for example `data-chat-title`. */
        DataPart: {
            /** @description The whole type, including `data-`. */
            type: string;
            /** @description A later part of the same kind and id replaces this one. */
            id?: string;
            /** @description The content. */
            data: unknown;
        };
        /** @description Why a definition was not stored. */
        DefinitionError: {
            /** @description The field. */
            path: string;
            /** @description The problem of the field. */
            message: string;
        };
        /** @description The stored definitions. */
        DefinitionList: {
            /** @description All of them, in the order in which they were created. */
            items: components["schemas"]["StoredDefinition"][];
        };
        /** @description The result of storing a definition. */
        DefinitionResult: {
            /** @description Its name; empty if it has none. */
            name: string;
            /** @description The outcome. */
            state: components["schemas"]["SyncOutcome"];
            /** @description The id of the agent, and of its page. Absent if it failed. */
            id?: string;
            /**
             * Format: int64
             * @description The version of the agent. Absent if it failed.
             */
            version?: number;
            /** @description Why it failed. */
            error?: components["schemas"]["DefinitionError"];
        };
        /**
         * @description Why a run ended. More values may be added.
         * @enum {string}
         */
        EndReason: "done" | "waiting" | "maxSteps" | "stopOnToolCall" | "time" | "requests" | "totalTokens" | "toolCalls" | "costUsd" | "loop" | "maxOutputTokens" | "contentFilter" | "tooLong" | "stoppedByUser" | "stoppedByAdmin" | "shutdown" | "deleted" | "replaced" | "modelCredentials" | "modelBusy" | "modelRefused" | "modelAway" | "modelTimeout" | "streamBroken" | "unknownPrice" | "invalidCall" | "unfit" | "storage" | "memory" | "panic" | "expired" | "serverGone" | "leaseLost" | "other";
        /** @description The body of an error response. */
        Error: {
            error: components["schemas"]["UserError"];
        };
        /** @description A stable error code with an HTTP status. */
        ErrorCode: "malformed" | "unauthenticated" | "forbidden" | "not_found" | "busy" | "conflict" | "other_agent" | "too_large" | "invalid" | "rate_limited" | "internal" | "unavailable";
        /** @description The specific cause of an error. More values may be added. */
        ErrorReason: "model_credentials" | "model_limit" | "quota_day" | "quota_month" | "model_refused" | "model_away" | "answer_broken" | "not_saved" | "server_busy" | "server_failed" | "other";
        /** @description How often an agent goes on by itself. */
        ExecutionModeName: "run_once" | "run_until_done" | "run_max_iterations";
        /** @description The kinds of data that an agent has read in a conversation. Each field names the tool that first returned such data. */
        Exposure: {
            /** @description The tool that returned private data. */
            private?: string;
            /** @description The tool that returned text from outside, which may contain instructions. */
            untrusted?: string;
        };
        /** @description A user's feedback on an answer. */
        Feedback: {
            /** @description The rating. */
            rating: components["schemas"]["Rating"];
            /** @description The user's comment. */
            reason?: string;
        };
        /** @description A file, by URL or inline as a `data:` URL. */
        FilePart: {
            /** @description The media type, for example `image/png`. */
            mediaType: string;
            /** @description An `https:` or `data:` URL. */
            url: string;
            /** @description The name that the user gave it. */
            filename?: string;
            /** @description See `ProviderMetadata`. */
            providerMetadata?: {
                [key: string]: unknown;
            };
        };
        /** @description Why a turn or a step ended. */
        FinishReason: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
        /** @description An invocation with its result. */
        Invocation: {
            /** @description The id of the run. */
            run_id: string;
            /** @description The agent. */
            agent_name: string;
            /** @description The status. */
            status: components["schemas"]["InvocationStatus"];
            /** @description The answer: a text, or the requested JSON; `null` if there is none. */
            output: unknown;
            /** @description The error message, if it failed. */
            error: string | null;
            /** @description Why the run ended; absent while it runs. */
            reason?: components["schemas"]["EndReason"];
            /** @description The tool calls that wait for an answer. */
            questions?: components["schemas"]["RunQuestion"][];
            /**
             * Format: int64
             * @description Unix time, milliseconds.
             */
            created_at: number;
        };
        /** @description The status of an invocation. */
        InvocationStatus: "pending" | "running" | "waiting" | "succeeded" | "failed" | "timeout" | "stopped";
        /** @description The input of an invocation. */
        InvokeInput: {
            /** @description The prompt. */
            prompt: string;
        };
        /** @description The limits of an invocation. Sub-agents and all attempts count. */
        InvokeLimits: {
            /**
             * Format: uint32
             * @description The most requests to models, at least 1.
             * @default null
             */
            request_limit: number | null;
            /**
             * Format: uint64
             * @description The most tokens, at least 1.
             * @default null
             */
            total_tokens_limit: number | null;
            /**
             * Format: uint32
             * @description The most tool calls.
             * @default null
             */
            tool_calls_limit: number | null;
            /**
             * Format: double
             * @description The highest cost in US dollars.
             * @default null
             */
            max_cost_dollars: number | null;
            /**
             * Format: uint32
             * @description The longest duration in seconds, at least 1.
             * @default null
             */
            timeout_seconds: number | null;
        };
        /** @description A request to invoke an agent. */
        InvokeRequest: {
            /** @description The agent's id. */
            agent_name: string;
            /** @description The input. */
            input: components["schemas"]["InvokeInput"];
            /**
             * @description The schema of the answer; if absent, the answer is text.
             * @default null
             */
            response_schema: components["schemas"]["ResponseSchema"] | null;
            /**
             * @description The time limit.
             * @default simple
             */
            agent_tier: components["schemas"]["AgentTier"];
            /**
             * @description The tools that the agent may use: `true` for all that run on the server, or their names. Default: none.
             * @default false
             */
            tools: components["schemas"]["InvokeTools"];
            /**
             * @description The tools whose calls are approved in advance. Other calls that need an approval are denied, because nobody can be asked. A policy that asks is not satisfied by this.
             * @default []
             */
            approved_tools: string[];
            /**
             * @description Limits for this run beside those of the agent; the stricter ones apply.
             * @default {
             *       "request_limit": null,
             *       "total_tokens_limit": null,
             *       "tool_calls_limit": null,
             *       "max_cost_dollars": null,
             *       "timeout_seconds": null
             *     }
             */
            limits: components["schemas"]["InvokeLimits"];
        };
        /** @description The tools of an invocation. */
        InvokeTools: boolean | string[];
        /** @description A model with its features. */
        ListedModel: {
            /** @description The id by which requests choose the model. Absent if it is an agent's only one, which the config does not list under `models`. */
            id?: string;
            /** @description The name for users. */
            title: string;
            /** @description The provider's name for the model. */
            model: string;
            /** @description The type of its connection, such as `Anthropic`. */
            provider: string;
            /** @description Whether requests can switch its thinking on. */
            thinking: boolean;
            /** @description Whether it reads images; absent if the config does not say. */
            vision?: boolean;
            /** @description Whether it reads other files, such as PDF; absent if the config does not say. */
            files?: boolean;
            /**
             * Format: uint64
             * @description The size of its context window in tokens, if known.
             */
            contextTokens?: number;
            /** @description Its price in US dollars per million tokens, if known. */
            price?: components["schemas"]["Price"];
            /** @description The agents that have it. */
            agents: components["schemas"]["ModelAgent"][];
        };
        /** @description A change to a conversation; each names one of its messages. */
        MessageChange: {
            /** @constant */
            kind: "switch";
            /** @description The message. */
            messageId: string;
        } | {
            /** @constant */
            kind: "delete";
            /** @description The message. */
            messageId: string;
        } | {
            /** @constant */
            kind: "restore";
            /** @description The deleted message. */
            messageId: string;
        } | {
            /** @constant */
            kind: "rate";
            /** @description The answer. */
            messageId: string;
            /** @description The feedback; absent to remove it. */
            feedback?: components["schemas"]["Feedback"] | null;
        } | {
            /** @constant */
            kind: "copy";
            /** @description The message. */
            messageId: string;
        };
        /** @description The server's metadata on a message (its `metadata` field). */
        MessageMetadata: {
            /**
             * Format: int64
             * @description Unix time in milliseconds.
             */
            createdAt?: number;
            /** @description How the newest run of this message ended; absent while it runs and on user messages. */
            outcome?: components["schemas"]["Outcome"];
            /** @description The error that the user reads, with `Outcome::Failed`. */
            error?: components["schemas"]["UserError"];
            /** @description Why the newest run of this message ended; more specific than `outcome`. */
            reason?: components["schemas"]["EndReason"];
            /** @description The limit that was reached, with `Outcome::Limit`; equal to `reason`. */
            limit?: components["schemas"]["EndReason"];
            /** @description Why the model ended its newest reply; absent if the run was stopped or interrupted. */
            finishReason?: components["schemas"]["FinishReason"];
            /** @description The token usage of all runs of this message so far. */
            usage?: components["schemas"]["TokenUsage"];
            /**
             * Format: double
             * @description The cost in US dollars, as far as prices are known.
             */
            costUsd?: number;
            /** @description The model that answered. */
            model?: string;
            /** @description The id of the model that the user chose for the answer, where the agent allows a choice. */
            modelId?: string;
            /** @description Whether that model thought before it answered. */
            thinking?: boolean;
            /** @description Whether the agent could hand tasks to a copy of itself, where the user chooses that. */
            delegate?: boolean;
            /**
             * Format: uint64
             * @description Tokens of the context window that the newest request and its reply used.
             */
            contextUsed?: number;
            /**
             * Format: uint64
             * @description The size of the model's context window in tokens, if known.
             */
            contextSize?: number;
            /** @description The parts of these tokens, as `ContextParts`. Few pages need them, so they are decoded where they are shown. */
            contextParts?: components["schemas"]["ContextParts"];
        };
        /** @description An agent that has a model. */
        ModelAgent: {
            /** @description The agent's id. */
            id: string;
            /** @description Whether the model answers if the request names none. */
            default: boolean;
        };
        /** @description The models of the agents that a caller may use. */
        ModelList: {
            models: components["schemas"]["ListedModel"][];
        };
        /** @description How a run ended; `EndReason` says why. */
        Outcome: "done" | "waiting" | "stopped" | "limit" | "failed" | "interrupted";
        /** @description The price of a model in US dollars per million tokens. */
        Price: {
            /**
             * Format: double
             * @description The price of input tokens.
             */
            input: number;
            /**
             * Format: double
             * @description Output, reasoning included.
             */
            output: number;
            /**
             * Format: double
             * @description The price of input tokens that are read from the provider's cache. Default: `input`.
             */
            cacheRead?: number;
            /**
             * Format: double
             * @description The price of input tokens that are written to the provider's cache. Default: `input`.
             */
            cacheWrite?: number;
        };
        /** @description A rating of an answer. */
        Rating: "up" | "down";
        /** @description The required format of an answer. */
        ResponseSchema: {
            /** @description The name of the schema. */
            name: string;
            /**
             * @description Whether the provider should enforce it, if it can.
             * @default false
             */
            strict: boolean;
            /** @description A JSON Schema. */
            schema: unknown;
        };
        /** @description The author of a message. */
        Role: "system" | "user" | "assistant";
        /** @description The answer to a question of a run. */
        RunAnswer: {
            /** @description The call. */
            call_id: string;
            /** @description Whether it runs. */
            approved: boolean;
            /**
             * @description Why not, for the model; at most 2,000 characters.
             * @default null
             */
            reason: string | null;
        };
        /** @description How the result of a run is returned. */
        RunMode: "sync" | "stream" | "queued";
        /** @description A tool call that waits for an answer. */
        RunQuestion: {
            /** @description The id of the call, for the answer. */
            call_id: string;
            /** @description The tool. */
            tool_name: string;
            /** @description The arguments. */
            input: unknown;
            /**
             * @description Whether the server died while the call ran, so that it may have had its effect: approving it runs it again.
             * @default false
             */
            cut_off: boolean;
            /**
             * Format: int64
             * @description When it is denied unless it is answered; Unix time, milliseconds.
             */
            expires_at?: number;
        };
        /** @description A request to run an agent with its tools, without a conversation: `POST /api/runs`. */
        RunRequest: {
            /** @description The agent's id. */
            agent_name: string;
            /** @description The input. */
            input: components["schemas"]["InvokeInput"];
            /** @description How the result is returned. */
            mode?: components["schemas"]["RunMode"];
            /**
             * @description The schema of the answer; if absent, the answer is text.
             * @default null
             */
            response_schema: components["schemas"]["ResponseSchema"] | null;
            /**
             * @description The limits of time and memory.
             * @default simple
             */
            agent_tier: components["schemas"]["AgentTier"];
            /**
             * @description The tools that the agent may use: `true` for all that run on the server (the default), or their names.
             * @default true
             */
            tools: components["schemas"]["InvokeTools"];
            /**
             * @description The tools whose calls are approved in advance. Other calls that need an approval wait for an answer (`POST /api/runs/{id}/answer`). A policy that asks is not satisfied by this.
             * @default []
             */
            approved_tools: string[];
            /**
             * @description Limits for this run beside those of the agent; the stricter ones apply. Those of an administrator replace the agent's.
             * @default {
             *       "request_limit": null,
             *       "total_tokens_limit": null,
             *       "tool_calls_limit": null,
             *       "max_cost_dollars": null,
             *       "timeout_seconds": null
             *     }
             */
            limits: components["schemas"]["InvokeLimits"];
            /**
             * @description The roles whose users decide on calls that need an approval, instead of the caller; at most 20. If the agent's config names some, those apply, and the request may only narrow them.
             * @default []
             */
            approvers: string[];
        };
        /** @description A search hit: a conversation. */
        SearchHit: {
            /** @description Its entry in the conversation list. */
            conversation: components["schemas"]["ConversationSummary"];
            /** @description The newest matching message; absent if only the title matches. */
            messageId?: string;
            /** @description The outcome of that message, if it is an incomplete answer. */
            outcome?: components["schemas"]["Outcome"];
            /** @description The text around the match, as alternating segments: every second one is a match. */
            passage: string[];
        };
        /** @description One page of search results, newest first. */
        SearchHitList: {
            /** @description At most the requested number of hits. */
            items: components["schemas"]["SearchHit"][];
            /** @description The opaque cursor of the next page; absent on the last page. */
            next?: string;
        };
        /** @description The body of the AI SDK's `DefaultChatTransport`; unknown keys belong to the application. */
        SendBody: {
            /** @description The client's id of the chat. */
            id?: string | null;
            /** @description The conversation, as in the query, which comes first. */
            conversationId?: string | null;
            /** @description The client's transcript. Only the newest message counts. A new conversation begins with the earlier ones, at most 500: they keep their ids (1 to 128 letters, digits, `-` or `_`) and their parts. The model is told that nobody has checked the results of their tool calls. */
            messages: components["schemas"]["UiMessageInput"][];
            /**
             * @description `submit-message` (the default) or `regenerate-message`.
             * @enum {string|null}
             */
            trigger?: "submit-message" | "regenerate-message" | null;
            /** @description The message to edit or to regenerate. */
            messageId?: string | null;
            /** @description The id of the chat block, if the page has several with this agent, or if the client shows what running tools ask (`data-tool-question`). */
            blockId?: string | null;
            /**
             * @description The query string of the page.
             * @default {}
             */
            urlQuery: {
                [key: string]: unknown;
            };
            /**
             * @description The shared state of the page.
             * @default {}
             */
            sharedState: {
                [key: string]: unknown;
            };
            /**
             * @description The states of the composer's switches (`true` or `false`).
             * @default {}
             */
            switches: {
                [key: string]: unknown;
            };
            /** @description Whether the agent writes a plan, for agents whose users may choose (`planMode: optional`). */
            planMode?: boolean | null;
            /** @description Whether the agent searches documents, for agents whose users may choose (`documents` in `knowledge`). */
            documents?: boolean | null;
            /** @description The ids of the libraries that the agent searches, at most 20, for agents whose users may choose (`choose` in `knowledge`). `GET /api/libraries?agentId=` lists them. */
            libraries?: string[] | null;
            /** @description Whether the agent uses the web, for agents whose users may choose (`web`). */
            web?: boolean | null;
            /** @description The id of the model that answers, for agents whose users may choose (`models`). It holds for the conversation until another is chosen. */
            model?: string | null;
            /** @description Whether the model thinks before it answers, for models whose users may choose (`thinking`). It holds for the conversation, too. */
            thinking?: boolean | null;
            /** @description Whether the agent may hand tasks to a copy of itself in this answer, for agents whose users may choose (`delegate: optional`). */
            delegate?: boolean | null;
        };
        /** @description A document that the model used. */
        SourceDocument: {
            /** @description Unique within the message. */
            sourceId: string;
            /** @description The media type, for example `application/pdf`. */
            mediaType: string;
            /** @description Its title. */
            title: string;
            /** @description Its file name. */
            filename?: string;
            /** @description See `ProviderMetadata`. */
            providerMetadata?: {
                [key: string]: unknown;
            };
        };
        /** @description A web page that the model used. */
        SourceUrl: {
            /** @description Unique within the message. */
            sourceId: string;
            /** @description The URL. */
            url: string;
            /** @description Its title. */
            title?: string;
            /** @description See `ProviderMetadata`. */
            providerMetadata?: {
                [key: string]: unknown;
            };
        };
        /** @description A standing approval: it covers further calls of this tool by this agent, as long as the tool's declaration does not change. */
        StandingApproval: {
            /** @description The id by which it is revoked. */
            id: string;
            /** @description The agent. */
            agentId: string;
            /** @description The tool. */
            toolName: string;
            /** @description The conversation to which it is limited; absent if it covers all conversations. */
            conversationId?: string;
            /** @description That conversation's title. */
            conversationTitle?: string;
            /**
             * Format: int64
             * @description Unix time, milliseconds.
             */
            createdAt: number;
        };
        /** @description The user's standing approvals. */
        StandingApprovals: {
            /** @description Newest first. */
            items: components["schemas"]["StandingApproval"][];
        };
        /** @description A completed request to a model. */
        StepRecord: {
            /**
             * Format: int64
             * @description When the reply ended; Unix time, milliseconds.
             */
            at: number;
            /** @description The assistant message that the reply is part of. */
            messageId: string | null;
            /** @description The run, or the invocation. */
            runId: string;
            /** @description The agent. */
            agentId: string;
            /** @description For a sub-agent: the call that started it; for a nested one, the ids of all calls on the path, separated by `/`. `generateTitle` for the title of the conversation. */
            callId?: string;
            /**
             * Format: uint32
             * @description The step's number within the run of its agent; counts from 1.
             */
            number: number;
            /** @description The provider of the model. */
            provider: string;
            /** @description The model. */
            model: string;
            /** @description The reason why the reply ended. */
            finishReason: string;
            /** @description The token usage. */
            usage: components["schemas"]["TokenUsage"];
            /**
             * Format: double
             * @description The cost in US dollars; absent if the price is unknown.
             */
            costUsd?: number;
            /**
             * Format: double
             * @description The savings by the provider's cache, in US dollars: the cost without it, less the cost. Below zero if writing to the cache cost more than reading saved; absent if the price is unknown.
             */
            savedUsd?: number;
            /**
             * Format: int64
             * @description The time from the request to the first part of the reply, in milliseconds.
             */
            firstPartMs: number;
            /**
             * Format: int64
             * @description The time from the request to the end of the reply, in milliseconds.
             */
            wholeMs: number;
        };
        /** @description A stored definition. */
        StoredDefinition: {
            /** @description The name by which it is stored: letters from a to z, digits and hyphens. Upper and lower case make no difference. */
            name: string;
            /** @description The name that users read. Default: `name`. */
            display_name?: string;
            /**
             * @description The purpose.
             * @default
             */
            description: string;
            /** @description The instructions. */
            instructions: string;
            /** @description The agent of the config that it is based on. Default: the first of `customAgents.from`. */
            from?: string;
            /** @description A model of the section `models`. Default: the models of the base agent. */
            model?: string;
            /**
             * @description The tools of the base agent that it has.
             * @default {
             *       "names": []
             *     }
             */
            tools: components["schemas"]["ToolNames"];
            /** @description How it works. Default: as the base agent. */
            workflows?: components["schemas"]["WorkSettings"];
            /**
             * @description Must be empty: what an agent may do is decided by the roles of the user.
             * @default []
             */
            scopes: string[];
            /** @description Whether the `fallbackModels` of the base agent answer when its model fails. Default: as the base agent. */
            allow_frontier_fallback?: boolean;
            /**
             * @description Must be `false`: built-in agents are those of the config.
             * @default false
             */
            is_builtin: boolean;
            /** @description The id of the agent, and of its page. */
            id: string;
            /**
             * Format: int64
             * @description Its version; counts from 1.
             */
            version: number;
            /** @description Whether the running config has the agent. It has not if its base is gone, or no longer has a model or a library that the agent uses. */
            available: boolean;
            /**
             * Format: int64
             * @description Unix time in milliseconds.
             */
            created_at: number;
            /**
             * Format: int64
             * @description Unix time in milliseconds.
             */
            updated_at: number;
        };
        /** @description A file that the server stores for its owner. */
        StoredFile: {
            /** @description The id by which it is read and deleted. */
            id: string;
            /** @description Its URL, as in a `file` part of a message. */
            url: string;
            /** @description The media type detected from its bytes, for example `image/png`. */
            mediaType: string;
            /** @description The name that its owner gave it. */
            filename: string;
            /**
             * Format: uint64
             * @description The size in bytes.
             */
            size: number;
        };
        /** @description The outcome of storing a definition. */
        SyncOutcome: "created" | "updated" | "unchanged" | "failed";
        /** @description The result of storing definitions. */
        SyncResult: {
            /** @description `synced` if all are stored, `partial` if some are, `failed` if none is. */
            state: components["schemas"]["SyncState"];
            /**
             * Format: uint
             * @description How many agents are new.
             */
            created: number;
            /**
             * Format: uint
             * @description How many have a new version.
             */
            updated: number;
            /**
             * Format: uint
             * @description How many were already like this.
             */
            unchanged: number;
            /**
             * Format: uint
             * @description How many could not be stored.
             */
            failed: number;
            /** @description Each definition, in the order of the request. */
            results: components["schemas"]["DefinitionResult"][];
        };
        /** @description Whether the definitions of a request are stored. */
        SyncState: "synced" | "partial" | "failed";
        /** @description Text or reasoning. */
        TextPart: {
            /** @description The stream's id of a reasoning part; absent on text. */
            id?: string;
            /** @description The text so far. */
            text: string;
            /** @description Whether the part is still growing. */
            state?: components["schemas"]["TextState"];
            /** @description See `ProviderMetadata`. */
            providerMetadata?: {
                [key: string]: unknown;
            };
            /** @description The citations of a text: `{source, startIndex?, endIndex?, citedText?}`, in the order of the text. */
            citations?: unknown[];
        };
        /** @description The state of a text part. */
        TextState: "streaming" | "done";
        /** @description Token usage, summed over the steps. */
        TokenUsage: {
            /**
             * Format: uint64
             * @description All input tokens, including cached ones.
             */
            inputTokens: number;
            /**
             * Format: uint64
             * @description All output tokens, including reasoning.
             */
            outputTokens: number;
            /**
             * Format: uint64
             * @description The part of the input that was read from a cache.
             */
            cacheReadTokens: number;
            /**
             * Format: uint64
             * @description The part of the input that was written to a cache.
             */
            cacheWriteTokens: number;
            /**
             * Format: uint64
             * @description The part of the output that was reasoning.
             */
            reasoningTokens: number;
        };
        /** @description The tools of an agent. */
        ToolNames: {
            /**
             * @description Names of tools, and `knowledge:LIBRARY`, `skills:SKILL`, `mcp:SERVER` and so on, as in the console.
             * @default []
             */
            names: string[];
        };
        /** @description The tools of an agent. */
        ToolNamesInput: {
            /**
             * @description Names of tools, and `knowledge:LIBRARY`, `skills:SKILL`, `mcp:SERVER` and so on, as in the console.
             * @default []
             */
            names: string[];
        };
        /** @description A tool call and its result. Which fields are present depends on `state`. */
        ToolPart: {
            /** @description Unique within the conversation. */
            toolCallId: string;
            /** @description The state of the call. */
            state: components["schemas"]["ToolState"];
            /** @description A human-readable name. */
            title?: string;
            /** @description Whether the provider itself runs the tool. */
            providerExecuted?: boolean;
            /** @description The arguments; incomplete while `input-streaming`. */
            input?: unknown;
            /** @description Unusable arguments, as received. */
            rawInput?: unknown;
            /** @description The result. */
            output?: unknown;
            /** @description The error message, if the call failed. */
            errorText?: string;
            /** @description Whether a later output will replace this one. */
            preliminary?: boolean;
            /** @description The approval request and its decision. */
            approval?: components["schemas"]["Approval"];
            /** @description The provider's metadata of the call; see `ProviderMetadata`. */
            callProviderMetadata?: {
                [key: string]: unknown;
            };
            /** @description The provider's metadata of the result; see `ProviderMetadata`. */
            resultProviderMetadata?: {
                [key: string]: unknown;
            };
            /** @description Metadata of the tool call. */
            toolMetadata?: unknown;
        };
        /** @description The state of a tool call. */
        ToolState: "input-streaming" | "input-available" | "approval-requested" | "approval-responded" | "output-available" | "output-error" | "output-denied";
        /** @description In which way an agent uses its tools. */
        ToolStrategyName: "llm_driven" | "sequential" | "parallel" | "predefined_pipeline";
        /** @description One message of a conversation. */
        UiMessage: {
            /** @description Unique within the conversation. */
            id: string;
            /** @description The author. */
            role: components["schemas"]["Role"];
            /** @description Metadata of the message; the server writes `MessageMetadata`. */
            metadata?: components["schemas"]["MessageMetadata"];
            /**
             * @description The content, in order.
             * @default []
             */
            parts: components["schemas"]["UiPart"][];
        };
        /** @description One message of a conversation. */
        UiMessageInput: {
            /** @description Unique within the conversation. */
            id: string;
            /** @description The author. */
            role: components["schemas"]["Role"];
            /** @description Metadata of the message; the server writes `MessageMetadata`. */
            metadata?: components["schemas"]["MessageMetadata"] | null;
            /**
             * @description The content, in order.
             * @default []
             */
            parts: components["schemas"]["UiPart"][];
        };
        /** @description A part of a message. More types may be added. */
        UiPart: ({
            /** @constant */
            type: "text";
        } & components["schemas"]["TextPart"]) | ({
            /** @constant */
            type: "reasoning";
        } & components["schemas"]["TextPart"]) | ({
            /** @constant */
            type: "file";
        } & components["schemas"]["FilePart"]) | ({
            /** @constant */
            type: "source-url";
        } & components["schemas"]["SourceUrl"]) | ({
            /** @constant */
            type: "source-document";
        } & components["schemas"]["SourceDocument"]) | {
            /** @constant */
            type: "step-start";
        } | ({
            type: string;
        } & WithRequired<components["schemas"]["DataPart"], "type">) | ({
            type: string;
        } & components["schemas"]["ToolPart"]) | ({
            /** @constant */
            type: "dynamic-tool";
            toolName: string;
        } & components["schemas"]["ToolPart"]) | {
            type: string;
        };
        /** @description An error for the caller, as `{"code", "message"}`; HTTP responses wrap it as `{"error": {…}}`. */
        UserError: {
            /** @description The code, for programs. */
            code: components["schemas"]["ErrorCode"];
            /** @description The specific cause behind the code, for which a localized UI has its own text. */
            reason?: components["schemas"]["ErrorReason"];
            /** @description The message for people: what happened and what to do next. It never contains a secret, a provider's response body or a path. */
            message: string;
            /** @description The invalid field, for example `/messages/0/parts`, with `ErrorCode::Invalid`. */
            path?: string;
            /**
             * Format: uint32
             * @description Seconds to wait before trying again, with `ErrorCode::RateLimited` and `ErrorCode::Unavailable`.
             */
            retryAfter?: number;
            /** @description The trace id, by which an operator finds the request in logs and traces. */
            traceId?: string;
        };
        /** @description How an agent works. */
        WorkSettings: {
            /** @description How often it goes on by itself. */
            execution_mode?: components["schemas"]["ExecutionModeName"];
            /** @description In which way it uses its tools. */
            tool_strategy?: components["schemas"]["ToolStrategyName"];
            /**
             * Format: uint32
             * @description The most steps with tool calls, with `run_max_iterations`.
             */
            max_iterations?: number;
        };
        /** @description A file, or a version of one. */
        WorkspaceFile: {
            /** @description The path, for example `/outputs/report.md`. */
            path: string;
            /**
             * Format: int64
             * @description The number of the version, which is unique in the conversation. Files that are attached to messages have none.
             */
            version?: number;
            /** @description The URL of the content. It always refers to this version. */
            url: string;
            /** @description The media type that was detected from the content and the name. */
            mediaType: string;
            /**
             * Format: uint64
             * @description The size in bytes.
             */
            size: number;
            /**
             * Format: int64
             * @description When it was written; Unix time, milliseconds.
             */
            changedAt: number;
        };
        /** @description Files, or versions of one. */
        WorkspaceFiles: {
            items: components["schemas"]["WorkspaceFile"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    post_api_agent_page_agent: {
        parameters: {
            query?: {
                /** @description The conversation; without it, the `conversationId` of the body, the one of its `id`, or a new one. */
                conversationId?: string;
            };
            header?: never;
            path: {
                page: string;
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendBody"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_agent_page_agent_conversation_stream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                page: string;
                agent: string;
                conversation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_agent_page_agent_conversation_stop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                page: string;
                agent: string;
                conversation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_runs_invoke: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvokeRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invocation"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_runs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invocation"];
                    "text/event-stream": string;
                };
            };
            /** @description Success. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invocation"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_runs_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invocation"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_runs_id_answer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunAnswer"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invocation"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_runs_id_stop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_grants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StandingApprovals"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_grants_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_conversations: {
        parameters: {
            query?: {
                /** @description Items per page. */
                limit?: number;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description `true` for archived conversations. */
                archived?: boolean;
                /** @description Only conversations in this folder. */
                folder?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationList"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_conversations_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationView"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_conversations_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_api_conversations_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationChange"];
            };
        };
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_conversations_id_usage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationUsage"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_conversations_id_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageChange"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeResult"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_conversations_id_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFiles"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_conversations_id_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @description The files. They are stored in `/uploads` under their names; one with the name of a stored file becomes its next version. */
                    file: string[];
                };
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFiles"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_conversations_id_files: {
        parameters: {
            query: {
                /** @description Its path, for example `/outputs/report.md`. */
                path: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_conversations_id_files_version: {
        parameters: {
            query?: {
                /** @description Whether a browser saves the file instead of showing it. */
                download?: boolean;
            };
            header?: never;
            path: {
                id: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_search: {
        parameters: {
            query: {
                /** @description The text to search for. */
                q: string;
                /** @description Items per page. */
                limit?: number;
                /** @description `next` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchHitList"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_files: {
        parameters: {
            query?: {
                /** @description The file name. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredFile"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_files_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_files_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_endpoints_page_endpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                page: string;
                endpoint: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_agents_definitions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionList"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_agents_definitions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentDefinitions"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncResult"];
                };
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_api_agents_definitions_name: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed; `error.message` says what to do next. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
type WithRequired<T, K extends keyof T> = T & {
    [P in K]-?: T[P];
};
