//! The routes for programs and pages.

use crate::page;
use crate::service::{MAX_CONTENT, Profiles};
use auth::password::KeyScope;
use axum::extract::State;
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::openapi::{Access, ApiRouter, JsonFile, Tag};
use web::{HttpError, SentJson, signed_in, valid_json};
use wire::UserError;

/// The group in the OpenAPI document.
const PROFILE: Tag = Tag {
    name: "profile",
    description: "How the caller wants to be answered. Only for signed-in users. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes.
pub(crate) fn routes(profiles: Profiles) -> ApiRouter {
    ApiRouter::new(&PROFILE)
        .get("/api/profile", show, "Get the caller's profile: how they want to be answered")
        .put("/api/profile", save, "Set the caller's profile, for conversations that begin later")
        .delete("/api/profile", delete, "Delete the caller's profile, also from all conversations")
        .get("/api/profile/export", export, "Download the caller's profile")
        .with_pages(page::routes())
        .map(|router| router.with_state(profiles))
}

/// The profile of a user: how they want to be answered.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProfileView {
    /// The text; empty if there is none.
    content: String,
    /// When it was last changed; Unix time in milliseconds, 0 if there is none.
    updated_at: i64,
    /// The longest text, in characters.
    max_characters: usize,
    /// Whether an agent of the config reads it.
    is_read: bool,
}

/// The body that sets the text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProfileBody {
    /// The text, up to 4,000 characters. An empty one deletes it.
    content: String,
}

async fn view(profiles: &Profiles, caller: &Caller) -> Result<ProfileView, UserError> {
    let profile = profiles.profile(signed_in(caller)?).await?;
    let (content, updated_at) = profile.map(|profile| (profile.content, profile.updated_at)).unwrap_or_default();
    Ok(ProfileView { content, updated_at, max_characters: MAX_CONTENT, is_read: profiles.is_used() })
}

async fn show(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ProfileView>, HttpError> {
    Ok(Json(view(&profiles, &caller).await?))
}

async fn save(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
    body: SentJson<ProfileBody>,
) -> Result<NoContent, HttpError> {
    let user_id = signed_in(&caller)?;
    let ProfileBody { content } = valid_json(body)?;
    profiles.save(user_id, &content).await?;
    Ok(NoContent)
}

async fn delete(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
) -> Result<NoContent, HttpError> {
    profiles.delete(signed_in(&caller)?).await?;
    Ok(NoContent)
}

async fn export(
    State(profiles): State<Profiles>,
    Extension(caller): Extension<Caller>,
) -> Result<JsonFile<ProfileView>, HttpError> {
    Ok(JsonFile("profile.json", view(&profiles, &caller).await?))
}
