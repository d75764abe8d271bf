//! `POST /ag-ui/{agent}`

use crate::body::{InputBody, section};
use crate::run;
use auth::password::KeyScope;
use axum::Extension;
use axum::extract::{Path, State};
use capability::Context;
use chat::{Caller, TextOrigin};
use web::openapi::{Access, ApiRouter, Tag};
use web::{EventStream, HttpError, RequestContext};
use wire::UserError;

/// The group in the OpenAPI document.
const AG_UI: Tag = Tag {
    name: "AG-UI",
    description: "Runs of agents for frontends that speak AG-UI. The config switches it on with `agUi`; without that, \
                  the path answers 404. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Returns the routes. Their bodies have whole threads, with files.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&AG_UI)
        .post("/ag-ui/{agent}", answer, "Run an agent in a thread, and stream the events of AG-UI")
        .map(|router| router.with_state(context))
}

/// `POST /ag-ui/{agent}`
async fn answer(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent_with: Option<Extension<RequestContext>>,
    Path(agent_id): Path<String>,
    body: InputBody,
) -> Result<EventStream, HttpError> {
    let config = context.current.config();
    if !section(&config)?.offers(&agent_id) {
        return Err(UserError::not_found().into());
    }
    // A conversation is shown on a page.
    let page_id = context.page_of_agent(&caller, &agent_id)?;
    let input = body.read().await?;
    let origin = sent_with.map_or(TextOrigin::User, |Extension(context)| context.text_origin());
    let frames = run::begin(context, (caller, origin), (agent_id, page_id), input).await?;
    Ok(EventStream::new(frames, config.limits.heartbeat))
}
