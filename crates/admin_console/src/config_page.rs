//! The config page: the config in use, the errors of the current files, and the last reloads.

use crate::state::ConsoleState;
use crate::state::{ConfigState, Reload};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use leptos::prelude::*;
use web::admin::{ADMINISTRATION, Admin, page};
use web::html::Heading::Text;
use web::html::{facts, table, text};
use web::openapi::ApiRouter;
use web::times::minute;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/config", show_api, "Get the state of the config, and its last reloads")
        .with_pages(Router::new().route("/admin/config", get(show)))
}

/// `GET /admin/config`
async fn show(admin: Admin, State(state): State<ConsoleState>) -> Response {
    let seen = state.host.config_state();
    let about = [
        ("Version", view! { <span class="cw-admin-id">{seen.version.clone()}</span> }.into_any()),
        ("In use since (UTC)", text(minute(seen.loaded_at))),
        ("Files", text(seen.files.join(", "))),
        ("Warnings", seen.warnings.len().into_any()),
    ];
    let content = view! {
        {problems(&seen)}
        <section class="cw-account-part" aria-label="About">{facts(about)}</section>
        {warnings(&seen)}
        <section class="cw-account-part" aria-labelledby="reloads">
            <h2 id="reloads">"Last reloads"</h2>
            <p class="cw-account-note">"Since the server started. The config itself is not shown, since it may contain secrets."</p>
            {reloads(seen.reloads)}
        </section>
    };
    page(&admin, "/admin/config", StatusCode::OK, "Config", content)
}

/// `GET /api/admin/config`
async fn show_api(_: Admin, State(state): State<ConsoleState>) -> Json<ConfigState> {
    Json(state.host.config_state())
}

fn problems(seen: &ConfigState) -> impl IntoView + use<> {
    let problems = seen.problems.as_deref().map(str::to_owned);
    problems.map(|problems| {
        view! {
            <section class="cw-account-part" aria-labelledby="problems">
                <h2 id="problems">"Errors in the config"</h2>
                <p class="cw-account-problem" role="alert">"The config was changed and has errors. The previous config stays in use."</p>
                <pre class="cw-admin-pre cw-admin-exact" tabindex="0" aria-label="Problems">{problems}</pre>
            </section>
        }
    })
}

fn warnings(seen: &ConfigState) -> impl IntoView + use<> {
    let warnings = seen.warnings.join("\n\n");
    (!warnings.is_empty()).then(|| {
        view! {
            <section class="cw-account-part" aria-labelledby="warnings">
                <h2 id="warnings">"Warnings"</h2>
                <pre class="cw-admin-pre cw-admin-exact" tabindex="0" aria-label="Warnings">{warnings}</pre>
            </section>
        }
    })
}

fn reloads(reloads: impl IntoIterator<Item = Reload>) -> AnyView {
    let columns = [Text("Time (UTC)"), Text("Version"), Text("Result"), Text("Changes")];
    let line = |reload: Reload| {
        let result = match reload.problems {
            None => text("Applied"),
            Some(problems) => view! {
                <details class="cw-admin-call">
                    <summary>"Rejected"</summary>
                    <pre class="cw-admin-exact" tabindex="0" aria-label="Problems">{problems.to_string()}</pre>
                </details>
            }
            .into_any(),
        };
        let changes = reload.changes.iter().map(|change| format!("{} {}", change.what, change.how));
        let changes = changes.collect::<Vec<_>>().join(", ");
        [
            text(minute(reload.at)),
            view! { <span class="cw-admin-id">{reload.version}</span> }.into_any(),
            result,
            text(changes),
        ]
    };
    table(columns, reloads.into_iter().map(line), "The config has not changed.")
}
