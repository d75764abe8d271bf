//! Pages, rendered on the server, and the server functions that they call.

use super::accounts::{ACCOUNT, SIGN_IN, SIGN_OUT, encoded};
use super::site;
use crate::router::AppState;
use app::AccountLink;
use app::chunks::{ChunkFiles, Needs};
use app::context::{AppContext, Reader, Seen};
use app::pictures::Pictures;
use app::uploads::Uploads;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chat::Caller;
use leptos::config::LeptosOptions;
use leptos::prelude::provide_context;
use sha2::{Digest, Sha256};

/// `/ui/{function}`
pub(crate) async fn server_function(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let context = contexts(&state, caller);
    leptos_axum::handle_server_fns_with_context(context, request).await.into_response()
}

/// A file of the public folder, or else a page: whole, so that it can be read before any script has run.
pub(crate) async fn page(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if let Some(file) = site::file(state.site, request.uri().path(), request.headers()) {
        return file;
    }
    let (options, pages, account) = (options(), state.site.pages, account(&state, &caller, request.uri()));
    let contexts = contexts(&state, caller);
    let contexts = move || {
        contexts();
        if let Some(account) = account.clone() {
            provide_context(account);
        }
    };
    let render = leptos_axum::render_app_async_with_context(contexts, move || app::shell(options.clone(), pages));
    let mut response = render(request).await.into_response();
    // A page shows its owner's data: no shared cache may keep it (A37).
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The way to the caller's account, where there are accounts; where users are kept elsewhere, to their API keys.
fn account(state: &AppState, caller: &Caller, asked: &Uri) -> Option<AccountLink> {
    let authentication = state.composition.current.authentication();
    if authentication.accounts().is_none() {
        // The owner of a machine needs no way to himself, and a site's user is at home there.
        let is_kept = authentication.keys().is_some() && !authentication.is_local();
        let is_himself = is_kept && caller.is_authenticated && caller.vouched.is_none();
        let name = caller.name.clone().unwrap_or_else(|| caller.user_id.clone());
        return is_himself.then(|| AccountLink::Account { href: ACCOUNT.to_owned(), name, sign_out: None });
    }
    Some(match &caller.name {
        Some(name) if caller.is_authenticated => {
            AccountLink::Account { href: ACCOUNT.to_owned(), name: name.clone(), sign_out: Some(SIGN_OUT.to_owned()) }
        }
        _ => {
            let next = asked.path_and_query().map_or("/", |asked| asked.as_str());
            AccountLink::SignIn { href: format!("{SIGN_IN}?next={}", encoded(next)) }
        }
    })
}

pub(super) fn contexts(state: &AppState, caller: Caller) -> impl Fn() + Clone + Send + Sync + 'static {
    let (chat, pages) = (state.composition.chat.clone(), state.composition.current.clone());
    let context = AppContext { chat, pages, seen: Seen::default() };
    // Read anew, since the browser's half can be built while the server runs.
    let chunks = (state.site.files)("pkg/chunks.json").map(|file| ChunkFiles::read(&file.data)).unwrap_or_default();
    let needs = Needs::default();
    let reader = Reader(mark(&caller.user_id));
    let texts = state.composition.current.texts();
    let pictures = Pictures(state.composition.current.config().pictures.clone().into());
    let uploads = Uploads(state.composition.current.config().uploads.clone().into());
    move || {
        provide_context(pictures.clone());
        provide_context(uploads.clone());
        if let Some(texts) = texts.clone() {
            provide_context(texts);
        }
        provide_context(chunks.clone());
        provide_context(needs.clone());
        provide_context(context.clone());
        provide_context(caller.clone());
        provide_context(reader.clone());
    }
}

/// The same for each visit of a user; nobody can tell from it who he is.
fn mark(user_id: &str) -> String {
    let digest = Sha256::digest(format!("reader {user_id}"));
    digest.iter().take(9).map(|byte| format!("{byte:02x}")).collect()
}

/// Built in code, so that the binary needs no LEPTOS_* variable.
pub(super) fn options() -> LeptosOptions {
    LeptosOptions::builder().output_name("chatwright").site_root("target/site").site_pkg_dir("pkg").build()
}
