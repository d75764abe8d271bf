//! Server-rendered pages, and the server functions that they call.

mod guide;
mod home;
pub(super) mod rendering;

use super::site;
use crate::compose::WorkflowPages;
use crate::state::AppState;
use accounts::{ACCOUNT_PATH, SIGN_OUT_PATH};
use admin_console::CONSOLE_PATH;
use app::AccountLink;
use app::chunks::{ChunkFiles, UsedChunks};
use app::context::{AppContext, HasHome, ReaderId, RequestCache};
use app::ui::image_origins::ImageOrigins;
use app::upload_origins::UploadOrigins;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chat::Caller;
use leptos::config::LeptosOptions;
use leptos::prelude::provide_context;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use web::admin::is_admin;
use web::{HttpError, SIGN_IN_PATH, query_encoded};
use wire::UserError;

/// `/ui/{function}`
pub(crate) async fn server_function(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let context = context_provider(&state, caller);
    leptos_axum::handle_server_fns_with_context(context, request).await.into_response()
}

/// Serves a file of the public folder, or else a page. The page is complete, so it can be read
/// before any script has run.
pub(crate) async fn page(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    // An unknown path of another service's API is not found, with any method.
    if state.composition.current.capabilities().api_format(request.uri().path()).is_some() {
        return HttpError(UserError::not_found()).into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if let Some(file) = site::file(state.site, request.uri().path(), request.headers()) {
        return file;
    }
    let (options, parts, account) = (options(), state.site.parts(), account_link(&state, &caller, request.uri()));
    if let Some(home) = home::page(&state, &caller, request.uri(), account.clone()).await {
        return home;
    }
    let current = &state.composition.current;
    let guide = guide::links(&current.config(), &**current, &caller, request.uri());
    let contexts = context_provider(&state, caller);
    let contexts = move || {
        contexts();
        if let Some(guide) = guide.clone() {
            provide_context(guide);
        }
        if let Some(account) = account.clone() {
            provide_context(account);
        }
    };
    let render = leptos_axum::render_app_async_with_context(contexts, move || app::shell(options.clone(), parts));
    let mut response = rendering::render(render(request)).await;
    // A page contains its user's data, so no shared cache may store it.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the link to the caller's account; for users of an external identity provider, to their
/// API keys.
fn account_link(state: &AppState, caller: &Caller, asked: &Uri) -> Option<AccountLink> {
    let authentication = state.composition.current.authentication();
    let console = is_admin(caller).then(|| CONSOLE_PATH.to_owned());
    if authentication.accounts().is_none() {
        // The owner of a local server needs no account page, and a user of an embedding site
        // manages the account there.
        let is_kept = authentication.api_keys().is_some() && !authentication.is_local();
        let is_himself = is_kept && caller.is_authenticated && caller.site_claims.is_none();
        let name = caller.name.clone().unwrap_or_else(|| caller.user_id.clone());
        return is_himself.then(|| AccountLink::Account {
            href: ACCOUNT_PATH.to_owned(),
            name,
            console,
            sign_out: None,
        });
    }
    Some(match &caller.name {
        Some(name) if caller.is_authenticated => AccountLink::Account {
            href: ACCOUNT_PATH.to_owned(),
            name: name.clone(),
            console,
            sign_out: Some(SIGN_OUT_PATH.to_owned()),
        },
        _ => {
            let next = asked.path_and_query().map_or("/", |asked| asked.as_str());
            AccountLink::SignIn { href: format!("{SIGN_IN_PATH}?next={}", query_encoded(next)) }
        }
    })
}

/// Returns the services behind the UI, for one request.
pub(super) fn app_context(state: &AppState) -> AppContext {
    let (chat, pages) = (state.composition.chat.clone(), state.composition.current.clone());
    let workflows = Arc::new(WorkflowPages(state.composition.context()));
    AppContext { chat, pages, workflows, cache: RequestCache::default() }
}

pub(super) fn context_provider(state: &AppState, caller: Caller) -> impl Fn() + Clone + Send + Sync + 'static {
    let context = app_context(state);
    let has_home = state.composition.current.config().home.as_ref().map(|_| HasHome);
    // Read for each page, since the browser half can be rebuilt while the server runs.
    let chunks = (state.site.files)("pkg/chunks.json").map(|file| ChunkFiles::read(&file.data)).unwrap_or_default();
    let needs = UsedChunks::default();
    let reader = ReaderId(reader_mark(&caller.user_id));
    let texts = state.composition.current.texts();
    let pictures = ImageOrigins(state.composition.current.config().image_origins.clone().into());
    let uploads = UploadOrigins(state.composition.current.config().upload_origins.clone().into());
    move || {
        provide_context(pictures.clone());
        provide_context(uploads.clone());
        if let Some(texts) = texts.clone() {
            provide_context(texts);
        }
        if let Some(has_home) = has_home {
            provide_context(has_home);
        }
        provide_context(chunks.clone());
        provide_context(needs.clone());
        provide_context(context.clone());
        provide_context(caller.clone());
        provide_context(reader.clone());
    }
}

/// Returns an identifier that is the same for each visit of a user and does not reveal their id.
fn reader_mark(user_id: &str) -> String {
    let digest = Sha256::digest(format!("reader {user_id}"));
    hex::encode(&digest[..9])
}

/// Built in code, so that the binary needs no LEPTOS_* variables.
pub(super) fn options() -> LeptosOptions {
    LeptosOptions::builder().output_name("chatwright").site_root("target/site").site_pkg_dir("pkg").build()
}
