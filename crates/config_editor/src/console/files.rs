//! The page with the files of the config, which are only shown.

use super::access::refusal;
use super::views::{lines_view, problem_list};
use super::{DRAFT_PATH, FILES_PATH, VERSIONS_PATH};
use crate::check;
use crate::section::{ConfigEditor, OverlayState};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use config::{Diagnostic, ShownText};
use leptos::prelude::*;
use std::path::Path;
use std::sync::Arc;
use web::admin::{Admin, PageError, page};
use web::html::{account_part, error_message, facts, link, text};

/// `GET /admin/config/files`
pub(super) async fn show(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    let config = context.current.config();
    let Some(section) = config.section::<ConfigEditor>() else {
        let note = "The files of the config are not shown: the config has no key `configEditor`.";
        let content = view! { <p class="cw-account-note">{note}</p> };
        return Ok(page(&admin, FILES_PATH, StatusCode::OK, "Config files", content));
    };
    let language = context.current.language();
    let files = check::shown(language, &config, section, None).await?;
    // The files alone have no errors: they are in use.
    let warnings = check::read(language, &config, section, "").await?.outcome.map(|(_, warnings)| warnings);
    let problems = warnings.unwrap_or_default();
    let folder = config.folder.as_deref().map_or("inside the program", |folder| folder.to_str().unwrap_or("on disk"));
    let reason = refusal(&context, &admin);
    let used = match section.state.used {
        Some(version) => format!("version {version}, published in the console"),
        None => "none: the files alone".to_owned(),
    };
    let about = [("Folder", text(folder)), ("Changes in use", text(used))];
    let links = reason.is_none().then(|| {
        view! {
            <p class="cw-admin-links">
                <a class="cw-button" href=DRAFT_PATH>"Change"</a>
                <a class="cw-button" href=VERSIONS_PATH>"Published versions"</a>
            </p>
        }
    });
    let content = view! {
        {rejected_view(&section.state)}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            {reason.map(|reason| view! { <p class="cw-account-note">{reason}</p> })}
            {links}
            <p class="cw-account-note">
                "The files are changed where they are. Secrets that are written in them are shown as ***. "
                {link("/admin/config", "Reloads and errors of the files")}
            </p>
        </section>
        {warnings_view(&section.state)}
        {files.iter().enumerate().map(|(index, file)| file_view(index, file, &problems)).collect_view()}
    };
    Ok(page(&admin, FILES_PATH, StatusCode::OK, "Config files", content))
}

/// Renders why the newest published changes are not in use.
pub(super) fn rejected_view(state: &Arc<OverlayState>) -> Option<AnyView> {
    let rejected = state.rejected.clone()?;
    let what = match rejected.version {
        Some(version) => format!("Version {version}, the newest one, cannot be used with the files as they are now."),
        None => "The published changes cannot be used.".to_owned(),
    };
    let instead = match state.used {
        Some(version) => format!("Version {version} is in use in its place."),
        None => "The files alone are in use.".to_owned(),
    };
    Some(
        view! {
            <section class="cw-account-part" aria-labelledby="rejected">
                <h2 id="rejected">"Changes that are not in use"</h2>
                {error_message(Some(format!("{what} {instead}")))}
                <pre class="cw-admin-pre cw-admin-exact" tabindex="0" aria-label="Problems">{rejected.problems}</pre>
            </section>
        }
        .into_any(),
    )
}

fn warnings_view(state: &OverlayState) -> Option<AnyView> {
    let problems = (!state.warnings.is_empty()).then(|| problem_list(&state.warnings))?;
    Some(account_part("warnings", "Warnings about the published changes", problems))
}

fn file_view(index: usize, file: &ShownText, problems: &[Diagnostic]) -> AnyView {
    let here: Vec<_> = problems.iter().filter(|problem| problem.file == *file.name).collect();
    let id = format!("file-{index}");
    let name = file.name.to_string();
    let kind = match Path::new(&name).extension().and_then(|extension| extension.to_str()) {
        Some("yaml" | "yml" | "json") if index == 0 => "The main file.",
        _ => "An included file.",
    };
    view! {
        <section class="cw-account-part" aria-labelledby=id.clone()>
            <h2 id=id.clone()>{name.clone()}</h2>
            <p class="cw-account-note">{kind}</p>
            {lines_view(&name, &file.lines, &here)}
        </section>
    }
    .into_any()
}
