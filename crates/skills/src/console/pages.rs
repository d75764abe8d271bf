//! The page of an installed skill.

use super::instructions::instructions_view;
use super::{PATH, SkillChange, SkillDetail, SkillFile};
use crate::console;
use crate::folder::SKILL_FILES;
use crate::scan::Finding;
use crate::store;
use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use web::admin::{Admin, PageError, UserNames, delete_section, from_store_error, page};
use web::html::Heading::{Number, Text};
use web::html::{account_part, error_message, facts, name, number, table, text};
use web::times::minute;
use web::{query_encoded, see_other};
use wire::ErrorCode;

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route("/admin/skills/{name}", get(show).post(change))
        .route("/admin/skills/{name}/delete", post(delete))
        .route("/admin/skills/{name}/export", get(super::export::download))
}

/// `GET /admin/skills/{name}`
async fn show(admin: Admin, State(context): State<Context>, Path(name): Path<String>) -> Result<Response, PageError> {
    render(&admin, &context, &name, None).await
}

/// `POST /admin/skills/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<SkillChange>,
) -> Result<Response, PageError> {
    match console::change(&context, &admin, &name, sent).await {
        Ok(()) => Ok(see_other(&format!("{PATH}/{}", query_encoded(&name)), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render(&admin, &context, &name, Some(error.message)).await,
    }
}

/// `POST /admin/skills/{name}/delete`
async fn delete(admin: Admin, State(context): State<Context>, Path(name): Path<String>) -> Result<Response, PageError> {
    console::delete(&context, &admin, &name).await?;
    Ok(see_other(PATH, None))
}

async fn render(admin: &Admin, context: &Context, name: &str, problem: Option<String>) -> Result<Response, PageError> {
    let detail = console::detail(context, name).await?;
    let file = detail.files.iter().find(|file| SKILL_FILES.contains(&file.path.as_str()));
    let instructions = match file {
        Some(file) => {
            store::read_file(&context.store, name, &file.path, &file.sha256).await.map_err(from_store_error)?
        }
        None => None,
    };
    let instructions = instructions.unwrap_or_default();
    let users = [detail.installed_by.as_str(), detail.changed_by.as_str()];
    let names = UserNames::load(&context.store, users.into_iter()).await?;
    let status = if problem.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let title = detail.name.clone();
    Ok(page(admin, PATH, status, &title, content(detail, &instructions, problem, &names)))
}

fn content(detail: SkillDetail, instructions: &[u8], problem: Option<String>, names: &UserNames) -> AnyView {
    let path = format!("{PATH}/{}", detail.name);
    let hash = |hash: String| view! { <code>{hash}</code> }.into_any();
    let about = [
        ("State", text(if detail.enabled { "enabled" } else { "disabled" })),
        ("Description", text(detail.description)),
        ("Installed by", names.view(&detail.installed_by)),
        ("Installed (UTC)", text(minute(detail.installed_at))),
        ("Changed by", names.view(&detail.changed_by)),
        ("Changed (UTC)", text(minute(detail.changed_at))),
    ];
    let hashes =
        [("Hash of all files", hash(detail.digest.clone())), ("Hash of the archive", hash(detail.archive_sha256))];
    let (act, note) = if detail.enabled {
        ("Disable", "Agents that name it, or have all skills, use it.")
    } else {
        (
            "Enable",
            "Enable it once you have read its instructions and files: agents follow a skill like their own instructions.",
        )
    };
    view! {
        {error_message(problem)}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            <p class="cw-account-note">{note}</p>
            <div class="cw-admin-acts">
                <form method="post" action=path.clone()>
                    <input type="hidden" name="digest" value=detail.digest />
                    <input type="hidden" name="enabled" value=(!detail.enabled).to_string() />
                    <button class="cw-button">{act}</button>
                </form>
                <a class="cw-button" href=format!("{path}/export?origin=installed")>"Export"</a>
            </div>
        </section>
        {account_part("findings", "Findings of the scan", findings_table(detail.findings))}
        {instructions_view(instructions)}
        <section class="cw-account-part" aria-labelledby="files">
            <h2 id="files">"Files"</h2>
            {facts(hashes)}
            {files_table(detail.files)}
        </section>
        {delete_section(&path, "Agents no longer have it. Conversations keep what was read of it.", "Delete skill")}
    }
    .into_any()
}

fn findings_table(findings: Vec<Finding>) -> AnyView {
    let line = |finding: Finding| {
        let place = finding.line.map_or_else(|| finding.file.clone(), |line| format!("{}:{line}", finding.file));
        [text(finding.kind.title()), name(&place), text(finding.message)]
    };
    let none = "Nothing. That is no proof that the skill is harmless.";
    table([Text("Kind"), Text("Where"), Text("What")], findings.into_iter().map(line), none)
}

fn files_table(files: Vec<SkillFile>) -> AnyView {
    let line = |file: SkillFile| {
        let short = file.sha256.chars().take(16).collect::<String>();
        let hash = view! { <code title=file.sha256>{short}"…"</code> }.into_any();
        [name(&file.path), number(file.bytes as f64).into_any(), hash]
    };
    table([Text("File"), Number("Bytes"), Text("SHA-256")], files.into_iter().map(line), "There are no files.")
}
