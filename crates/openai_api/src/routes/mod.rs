//! The routes.

mod admit;
mod chat;
mod drive;
mod files;
mod models;
mod references;
mod responses;
mod stored;

use auth::password::KeyScope;
use capability::Context;
use web::openapi::{Access, ApiRouter, Tag};

/// The group in the OpenAPI document.
const OPENAI: Tag = Tag {
    name: "OpenAI",
    description: "The API of OpenAI, in which agents are the models. The config switches it on with `openaiApi`; \
                  without that, these paths answer 404. Errors have OpenAI's form. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The group of stored responses, which are conversations.
const STORED: Tag = Tag {
    name: "OpenAI: stored responses",
    description: "Responses that are stored, in the form of OpenAI's API. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let stored = ApiRouter::new(&STORED)
        .get("/v1/responses/{id}", stored::show, "Get a stored response")
        .delete("/v1/responses/{id}", stored::delete, "Delete a stored response, and its conversation with the last")
        .get("/v1/responses/{id}/input_items", stored::input_items, "List the items of the input of a response")
        .post("/v1/responses/{id}/cancel", stored::cancel, "Stop a response that is being written");
    ApiRouter::new(&OPENAI)
        .get("/v1/models", models::list, "List the agents that the caller may use, as models")
        .get("/v1/models/{id}", models::show, "Get an agent, as a model")
        .merge(stored)
        .map(|router| router.with_state(context))
}

/// Returns the routes whose bodies have images and files.
pub(crate) fn upload_routes(context: Context) -> ApiRouter {
    ApiRouter::new(&OPENAI)
        .post("/v1/chat/completions", chat::create, "Ask an agent, with the history and the tools of the caller")
        .post("/v1/responses", responses::create, "Ask an agent, and store the response unless `store` is false")
        .map(|router| router.with_state(context))
}
