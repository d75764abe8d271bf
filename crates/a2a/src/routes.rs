//! `POST /a2a/{agent}`, the paths of the binding HTTP+JSON, and the cards.

use crate::body::CallBody;
use crate::error::Refusal;
use crate::methods::{self, Answered};
use crate::request::{self, RequestInfo};
use crate::response::{CallResponse, Envelope};
use crate::rpc::Call;
use crate::{card_routes, rest};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use capability::Context;
use web::EventStream;
use web::openapi::{Access, ApiRouter, Tag};

/// The group of calls in the OpenAPI document.
const CALLS: Tag = Tag {
    name: "A2A",
    description: "Agents for clients of Agent2Agent (A2A) 1.0, by JSON-RPC and HTTP+JSON. The config switches it on with \
                  `a2a`; without that, these paths answer 404. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The group of the server's card in the OpenAPI document.
const DISCOVERY: Tag = Tag {
    name: "A2A: discovery",
    description: "The card of the agent that `a2a.defaultAgent` names, if it is public.",
    access: Access::Anyone,
};

/// Returns the routes of calls, whose bodies may have files, and of the cards of agents.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&CALLS)
        .post("/a2a/{agent}", call, "Call a method of A2A: send messages to an agent, and use its tasks")
        .post("/a2a/{agent}/message:send", rest::send, "Send a message to an agent, and get the task (HTTP+JSON)")
        .post(
            "/a2a/{agent}/message:stream",
            rest::stream,
            "Send a message to an agent, and stream the task (HTTP+JSON)",
        )
        .get("/a2a/{agent}/tasks", rest::list, "List the caller's tasks with an agent (HTTP+JSON)")
        .get("/a2a/{agent}/tasks/{task}", rest::show, "Get a task, or with `:subscribe` its events (HTTP+JSON)")
        .post("/a2a/{agent}/tasks/{task}", rest::act, "`:cancel` a task, or `:subscribe` to it (HTTP+JSON)")
        .post(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
            rest::create_push,
            "Add an address for push notifications of a task",
        )
        .get(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
            rest::list_push,
            "List the addresses for push notifications of a task",
        )
        .get(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}",
            rest::show_push,
            "Get an address for push notifications of a task",
        )
        .delete(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}",
            rest::delete_push,
            "Delete an address for push notifications of a task",
        )
        .get("/a2a/{agent}/extendedAgentCard", rest::extended_card, "There is no extended card (HTTP+JSON)")
        .get("/a2a/{agent}/.well-known/agent-card.json", card_routes::show_card, "Get the card of an agent")
        .map(|router| router.with_state(context))
}

/// Returns the route of the server's card.
pub(crate) fn card_routes(context: Context) -> ApiRouter {
    ApiRouter::new(&DISCOVERY)
        .get("/.well-known/agent-card.json", card_routes::show_default_card, "Get the card of the server's agent")
        .map(|router| router.with_state(context))
}

/// `POST /a2a/{agent}`
async fn call(
    State(context): State<Context>,
    facts: RequestInfo,
    Path(agent_id): Path<String>,
    body: CallBody,
) -> Result<CallResponse, Refusal> {
    let version = facts.check_version();
    let (asked, heartbeat) = request::find_agent(context, facts, agent_id)?;
    let Call { id, method } = match body.read().await {
        Ok(call) => call,
        Err((id, error)) => return Ok(CallResponse::refused(id, error)),
    };
    let answered = match version.and(method) {
        Ok(method) => methods::answer(asked, Envelope::JsonRpc(id.clone()), method).await,
        Err(error) => Err(error),
    };
    Ok(match answered {
        Ok(Answered::Stream(frames)) => CallResponse::Stream(EventStream::new(frames, heartbeat)),
        Ok(Answered::Object(result)) => CallResponse::new(id, Ok(result)),
        Err(error) => CallResponse::new(id, Err(error)),
    })
}
