//! The routes for programs and pages.

use crate::fact::{Category, Fact, Topic, single_line};
use crate::page;
use crate::prompt::is_kept;
use crate::section::MemorySettings;
use crate::service::{Memory, Switches, failed, not_a_fact, signed_in};
use crate::store::{self, FactChange, Update};
use auth::password::KeyScope;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, NoContent, Response};
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::openapi::{Access, ApiRouter, Description, RouteOutput, Tag};
use web::times::now_millis;
use web::{HttpError, json_error, valid_query};
use wire::UserError;

/// The group in the OpenAPI document.
const MEMORY: Tag = Tag {
    name: "memory",
    description: "What agents remember about the caller. Only for signed-in users. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes.
pub(crate) fn routes(memory: Memory) -> ApiRouter {
    ApiRouter::new(&MEMORY)
        .get("/api/memory", show, "Get what is known about the caller")
        .delete("/api/memory", delete_all, "Delete everything that is known about the caller")
        .post("/api/memory/reload", reload, "Tell all conversations at their next message what is known now")
        .get("/api/memory/config", config, "Get the settings of memory")
        .get("/api/memory/status", status, "Get the settings of memory and what is known")
        .put("/api/memory/enabled", switch, "Switch memory on or off for the caller")
        .get("/api/memory/export", export, "Download what is known about the caller")
        .patch("/api/memory/facts/{id}", change, "Change a fact")
        .delete("/api/memory/facts/{id}", delete, "Delete a fact")
        .get("/api/memory/updates", updates, "List what a conversation has changed in the last day")
        .post("/api/memory/updates/{id}/undo", undo, "Undo what a conversation has changed")
        .with_pages(page::routes())
        .map(|router| router.with_state(memory))
}

/// What is known about a user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryView {
    /// The version of this form.
    version: &'static str,
    /// When the newest fact was stored or changed; Unix time in milliseconds, 0 if there is none.
    last_updated: i64,
    /// Whether facts are stored and read at the moment.
    active: bool,
    /// Whether the user has left memory on.
    enabled: bool,
    /// What is so now.
    user: UserSections,
    /// What has been.
    history: HistorySections,
    /// All facts, the most certain ones first.
    facts: Vec<FactItem>,
}

/// What is so now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UserSections {
    /// Their work.
    work_context: SectionText,
    /// Their life.
    personal_context: SectionText,
    /// What they are busy with.
    top_of_mind: SectionText,
}

/// What has been.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HistorySections {
    /// What has happened lately.
    recent_months: SectionText,
    /// What has happened before.
    earlier_context: SectionText,
    /// What has been so for long.
    long_term_background: SectionText,
}

/// A section: what its facts say.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SectionText {
    /// The facts, one after the other.
    summary: String,
    /// When the newest of them was stored or changed; Unix time in milliseconds, 0 if there is none.
    updated_at: i64,
}

/// A fact.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FactItem {
    /// Its id.
    id: String,
    /// One sentence.
    content: String,
    /// What it is about.
    category: Category,
    /// The section to which it belongs.
    section: &'static str,
    /// How certain it is, from 0 to 1.
    confidence: f64,
    /// The only agent that knows it; absent if all agents that remember do.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// Where it comes from.
    source: SourceItem,
    /// Whether the user has changed it.
    edited: bool,
    /// When it was stored; Unix time in milliseconds.
    created_at: i64,
    /// When it was last changed or stated again; Unix time in milliseconds.
    updated_at: i64,
}

/// The message of the user that a fact comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SourceItem {
    /// The conversation.
    conversation_id: String,
    /// The message.
    message_id: String,
    /// The title of the conversation.
    title: String,
    /// The page of the conversation.
    page_id: String,
}

/// The settings of memory.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConfigView {
    /// Whether the config and the administrators have memory on.
    enabled: bool,
    /// The most facts.
    max_facts: u32,
    /// How certain a fact must be to be stored.
    threshold: f64,
    /// About how many tokens the facts may take that an agent is told.
    max_tokens: u64,
    /// The most facts that an agent is told.
    max_told: u32,
    /// How long a conversation must rest until it is read, in seconds.
    rest_seconds: u64,
}

/// The settings, and what is known.
#[derive(Serialize, JsonSchema)]
struct StatusView {
    /// The settings.
    config: ConfigView,
    /// What is known.
    data: MemoryView,
}

/// Whether memory is on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EnabledBody {
    /// Whether facts about the caller may be stored and read.
    enabled: bool,
}

/// The body that changes a fact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactBody {
    /// One sentence, at most 300 characters.
    content: String,
    /// What it is about.
    category: Category,
}

/// The query of the updates.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UpdatesQuery {
    /// The conversation.
    conversation_id: String,
}

/// What a conversation has changed, newest first.
#[derive(Serialize, JsonSchema)]
struct UpdateItems {
    items: Vec<UpdateItem>,
}

/// What a conversation has changed at one time.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateItem {
    /// Its id.
    id: String,
    /// The facts that were added and are still known.
    added: Vec<String>,
    /// How many facts they have replaced.
    replaced: i64,
    /// Whether it was undone.
    undone: bool,
    /// When it was stored; Unix time in milliseconds.
    created_at: i64,
}

impl From<Update> for UpdateItem {
    fn from(update: Update) -> Self {
        let Update { id, created_at, added, replaced, is_undone } = update;
        Self { id, added, replaced, undone: is_undone, created_at }
    }
}

impl MemoryView {
    fn new((switches, facts): (Switches, Vec<Fact>), now: i64) -> Self {
        let section = |topic: Topic| {
            let of_topic: Vec<_> = facts.iter().filter(|fact| fact.topic_at(now) == topic).collect();
            let summary = of_topic.iter().map(|fact| fact.content.as_str()).collect::<Vec<_>>().join(" ");
            SectionText { summary, updated_at: of_topic.iter().map(|fact| fact.updated_at).max().unwrap_or_default() }
        };
        Self {
            version: "1.0",
            last_updated: facts.iter().map(|fact| fact.updated_at).max().unwrap_or_default(),
            active: switches.is_on(),
            enabled: switches.user.is_enabled,
            user: UserSections {
                work_context: section(Topic::WorkContext),
                personal_context: section(Topic::PersonalContext),
                top_of_mind: section(Topic::TopOfMind),
            },
            history: HistorySections {
                recent_months: section(Topic::RecentMonths),
                earlier_context: section(Topic::EarlierContext),
                long_term_background: section(Topic::LongTermBackground),
            },
            facts: facts.into_iter().map(|fact| FactItem::new(fact, now)).collect(),
        }
    }
}

impl FactItem {
    fn new(fact: Fact, now: i64) -> Self {
        let section = fact.topic_at(now).name();
        let source = fact.source;
        Self {
            id: fact.id,
            content: fact.content,
            category: fact.category,
            section,
            confidence: fact.confidence,
            agent_id: Some(fact.agent_id).filter(|id| !id.is_empty()),
            source: SourceItem {
                conversation_id: source.conversation_id,
                message_id: source.message_id,
                title: source.title,
                page_id: source.page_id,
            },
            edited: fact.is_edited,
            created_at: fact.created_at,
            updated_at: fact.updated_at,
        }
    }
}

impl ConfigView {
    fn new(settings: &MemorySettings, switches: Switches) -> Self {
        Self {
            enabled: switches.config && switches.all,
            max_facts: settings.max_facts,
            threshold: settings.threshold,
            max_tokens: settings.max_tokens,
            max_told: settings.max_told,
            rest_seconds: settings.rest.as_secs(),
        }
    }
}

async fn view(memory: &Memory, caller: &Caller) -> Result<MemoryView, UserError> {
    Ok(MemoryView::new(memory.known(signed_in(caller)?).await?, now_millis()))
}

async fn show(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<MemoryView>, HttpError> {
    Ok(Json(view(&memory, &caller).await?))
}

/// What is known, as a file.
struct Export(MemoryView);

impl IntoResponse for Export {
    fn into_response(self) -> Response {
        let disposition = (header::CONTENT_DISPOSITION, "attachment; filename=\"memory.json\"");
        ([disposition], Json(self.0)).into_response()
    }
}

impl RouteOutput for Export {
    fn describe(description: &mut Description<'_>) {
        description.json::<MemoryView>(200);
    }
}

async fn export(State(memory): State<Memory>, Extension(caller): Extension<Caller>) -> Result<Export, HttpError> {
    Ok(Export(view(&memory, &caller).await?))
}

async fn reload(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<MemoryView>, HttpError> {
    memory.reload(signed_in(&caller)?).await?;
    Ok(Json(view(&memory, &caller).await?))
}

async fn config(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ConfigView>, HttpError> {
    let (switches, _) = memory.known(signed_in(&caller)?).await?;
    Ok(Json(ConfigView::new(&memory.settings(), switches)))
}

async fn status(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<StatusView>, HttpError> {
    let known = memory.known(signed_in(&caller)?).await?;
    let config = ConfigView::new(&memory.settings(), known.0);
    Ok(Json(StatusView { config, data: MemoryView::new(known, now_millis()) }))
}

async fn switch(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    body: Result<Json<EnabledBody>, JsonRejection>,
) -> Result<NoContent, HttpError> {
    let user_id = signed_in(&caller)?;
    let Json(EnabledBody { enabled }) = body.map_err(|rejection| json_error(&rejection))?;
    memory.set_enabled(user_id, enabled).await?;
    Ok(NoContent)
}

async fn change(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: Result<Json<FactBody>, JsonRejection>,
) -> Result<NoContent, HttpError> {
    let user_id = signed_in(&caller)?;
    let Json(FactBody { content, category }) = body.map_err(|rejection| json_error(&rejection))?;
    let content = single_line(&content);
    if !is_kept(&content) {
        return Err(not_a_fact("/content").into());
    }
    memory.change(user_id, &id, FactChange { content, category }).await?;
    Ok(NoContent)
}

async fn delete(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    memory.delete(signed_in(&caller)?, &id).await?;
    Ok(NoContent)
}

async fn delete_all(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<NoContent, HttpError> {
    memory.delete_all(signed_in(&caller)?).await?;
    Ok(NoContent)
}

async fn updates(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<UpdatesQuery>, QueryRejection>,
) -> Result<Json<UpdateItems>, HttpError> {
    let user_id = signed_in(&caller)?;
    let UpdatesQuery { conversation_id } = valid_query(query)?;
    let updates = store::updates(memory.store(), user_id, &conversation_id).await.map_err(failed)?;
    Ok(Json(UpdateItems { items: updates.into_iter().map(UpdateItem::from).collect() }))
}

async fn undo(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    memory.undo(signed_in(&caller)?, &id).await?;
    Ok(NoContent)
}
