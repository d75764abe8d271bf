//! The pages of the import.

use super::{ImportLine, read};
use crate::state::ConsoleState;
use crate::users::{UserAdmin, sent_field};
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Form, Router};
use leptos::prelude::*;
use web::admin::{Admin, PageError, page};
use web::html::{Heading, error_message, number, success_message, table, text, text_area_content, text_with_code};
use web::{Origin, read_rest, status_of};
use wire::UserError;

const PATH: &str = "/admin/users/import";
/// The entry of the console's menu under which the pages are.
const TAB: &str = "/admin/users";
const TITLE: &str = "Import users";
const EXAMPLE: &str = "name,roles,groups\nada@example.com,editor,Support; Sales\n";

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new().route(PATH, get(show).post(preview)).route("/admin/users/import/apply", post(apply))
}

/// `GET /admin/users/import`
async fn show(admin: Admin, State(state): State<ConsoleState>) -> Result<Response, PageError> {
    UserAdmin::new(&state, &admin)?.check_passwords()?;
    Ok(page(&admin, TAB, StatusCode::OK, TITLE, form_view("", None)))
}

/// `POST /admin/users/import`: shows what would be done.
async fn preview(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(&state, &admin)?;
    let invalid = |problem: &str| UserError::invalid("/csv", problem);
    let csv = match sent {
        Ok(mut sent) => read_text(&mut sent).await,
        Err(_) => Err(invalid("Choose a file, or enter the text.")),
    };
    let planned = match &csv {
        Ok(csv) => users.plan_import(csv).await,
        Err(error) => Err(error.clone()),
    };
    let csv = csv.unwrap_or_default();
    Ok(match planned {
        Ok(items) => preview_page(&admin, StatusCode::OK, &csv, &items),
        Err(error) => page(&admin, TAB, status_of(&error), TITLE, form_view(&csv, Some(error.message))),
    })
}

/// `POST /admin/users/import/apply`. The response is the only page that shows the links.
async fn apply(
    admin: Admin,
    State(state): State<ConsoleState>,
    origin: Option<Extension<Origin>>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(&state, &admin)?;
    let csv = sent_field(&form, "csv").unwrap_or_default();
    let mut items = match users.plan_import(csv).await {
        Ok(items) => items,
        Err(error) => return Ok(page(&admin, TAB, status_of(&error), TITLE, form_view(csv, Some(error.message)))),
    };
    // Something may have changed since the preview.
    if items.iter().any(|item| item.problem.is_some()) {
        return Ok(preview_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, csv, &items));
    }
    match users.apply_import(&mut items, origin.as_deref()).await {
        Ok(()) => Ok(page(&admin, TAB, StatusCode::OK, TITLE, links_view(&items))),
        Err(error) => Ok(page(&admin, TAB, status_of(&error), TITLE, form_view(csv, Some(error.message)))),
    }
}

/// Returns the text of the file if there is one, otherwise that of the field.
async fn read_text(sent: &mut Multipart) -> Result<String, UserError> {
    let (mut file, mut field_text) = (String::new(), String::new());
    loop {
        let malformed = || UserError::invalid("/csv", "The file could not be read. Is it UTF-8, and not too large?");
        let Some(field) = sent.next_field().await.map_err(|_| malformed())? else { break };
        let is_file = field.name() == Some("file");
        if !is_file && field.name() != Some("csv") {
            continue;
        }
        let Ok(text) = field.text().await else {
            read_rest(sent).await;
            return Err(malformed());
        };
        if is_file { file = text } else { field_text = text }
    }
    let text = if file.trim().is_empty() { field_text } else { file };
    if text.contains('\u{fffd}') {
        Err(UserError::invalid("/csv", "The text is not UTF-8. Save it as “CSV UTF-8”."))
    } else {
        Ok(text)
    }
}

fn form_view(csv: &str, refused: Option<String>) -> impl IntoView + use<> {
    let note = format!(
        "The first line names the columns: name, and perhaps roles and groups. Roles are separated by spaces, groups by semicolons. \
         Up to {} users are invited at once; nothing happens before you have seen what would be done.",
        number(read::MAX_LINES as f64)
    );
    view! {
        <p class="cw-admin-links"><a href=TAB>"Users"</a></p>
        <section class="cw-account-part" aria-labelledby="import">
            <h2 id="import">"Invite users from CSV"</h2>
            <p class="cw-account-note">{note}</p>
            {error_message(refused)}
            <form class="cw-account-form" method="post" action=PATH enctype="multipart/form-data">
                <label class="cw-account-field">
                    <span>"CSV file"</span>
                    <input type="file" name="file" accept=".csv,text/csv" />
                </label>
                <label class="cw-account-field">
                    <span>"Or its text"</span>
                    <textarea name="csv" rows="8" placeholder=EXAMPLE spellcheck="false" inner_html=text_area_content(csv)></textarea>
                </label>
                <button class="cw-button">"Preview"</button>
            </form>
        </section>
    }
}

fn preview_page(admin: &Admin, status: StatusCode, sent: &str, items: &[ImportLine]) -> Response {
    let problems = items.iter().filter(|item| item.problem.is_some()).count();
    let refused = match problems {
        0 => None,
        1 => Some("One line cannot be imported. Correct it, and look at the preview again.".to_owned()),
        count => Some(format!("{count} lines cannot be imported. Correct them, and look at the preview again.")),
    };
    let button = match items.len() {
        1 => "Invite one user".to_owned(),
        count => format!("Invite {count} users"),
    };
    let next = match problems {
        0 => view! {
            <form class="cw-admin-acts" method="post" action="/admin/users/import/apply">
                <input type="hidden" name="csv" value=sent.to_owned() />
                <button class="cw-button">{button}</button>
                <a href=PATH>"Cancel"</a>
            </form>
        }
        .into_any(),
        _ => form_view(sent, None).into_any(),
    };
    let line = |item: &ImportLine| {
        [
            text(item.line.to_string()),
            text(&item.name),
            text(item.roles.join(", ")),
            text(item.groups.join("; ")),
            text_with_code(item.problem.as_deref().unwrap_or("Invite")),
        ]
    };
    let columns = ["Line", "Name", "Roles", "Groups", "Outcome"].map(Heading::Text);
    let content = view! {
        {error_message(refused)}
        <section class="cw-account-part" aria-label="Preview">{table(columns, items.iter().map(line), "")}</section>
        {next}
    };
    page(admin, TAB, status, TITLE, content)
}

fn links_view(items: &[ImportLine]) -> impl IntoView + use<> {
    let mut file = String::from("name,link\n");
    for item in items {
        let name = if item.name.contains([',', '"']) {
            format!("\"{}\"", item.name.replace('"', "\"\""))
        } else {
            item.name.clone()
        };
        file.push_str(&format!("{name},{}\n", item.link.as_deref().unwrap_or_default()));
    }
    let rows = items.len().clamp(3, 20) + 1;
    view! {
        {success_message(Some("The users are invited. Give each of them their link now: they will not be shown again."))}
        <p class="cw-admin-links"><a href=TAB>"Users"</a><a href="/admin/invitations">"Invitations"</a></p>
        <section class="cw-account-part" aria-labelledby="links">
            <h2 id="links">"Links"</h2>
            <label class="cw-account-field">
                <span>"Names and links, as CSV"</span>
                <textarea readonly rows=rows.to_string() spellcheck="false" inner_html=text_area_content(&file)></textarea>
            </label>
        </section>
    }
}
