//! The form in which a definition is written, with the errors of the checker at their lines.

use super::page::{Shown, render};
use super::{DefinitionList, NEW_PATH, page_path};
use crate::stored;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use config::Diagnostic;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::list::List;
use web::admin::{Admin, PageError, page};
use web::html::{error_message, text_area_content};
use web::see_other;
use wire::{ErrorCode, UserError};

/// The content of the form for a new definition.
const EXAMPLE: &str = "id: greet
title: Greets
input:
  type: object
  properties:
    name: { type: string }
  required: [name]
steps:
  - id: pause
    type: wait
    seconds: 1
output:
  _template: \"Hello {{ input.name }}\"
";

/// A definition that was sent.
#[derive(Clone, Deserialize)]
pub(super) struct Sent {
    definition: String,
    published: Option<String>,
    version: Option<i64>,
}

/// The content of the form, and the problems in it.
#[derive(Default)]
pub(super) struct Entered {
    pub(super) definition: String,
    pub(super) is_published: bool,
    pub(super) version: Option<i64>,
    pub(super) problems: Vec<Diagnostic>,
    pub(super) refused: Option<String>,
}

impl Entered {
    fn new(sent: Sent) -> Self {
        Self {
            definition: sent.definition,
            is_published: sent.published.is_some(),
            version: sent.version,
            ..Self::default()
        }
    }
}

/// `GET /admin/new-workflow-definition`
pub(super) async fn new(admin: Admin) -> Response {
    let entered = Entered { definition: EXAMPLE.to_owned(), is_published: true, ..Entered::default() };
    new_page(&admin, StatusCode::OK, &entered)
}

/// `POST /admin/new-workflow-definition`
pub(super) async fn add(
    admin: Admin,
    State(context): State<Context>,
    Form(sent): Form<Sent>,
) -> Result<Response, PageError> {
    match save(&context, &admin, None, sent).await? {
        Ok(id) => Ok(see_other(&format!("{}?done=1", page_path(&id)), None)),
        Err(entered) => Ok(new_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &entered)),
    }
}

/// `POST /admin/workflow-definitions/{id}`
pub(super) async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(sent): Form<Sent>,
) -> Result<Response, PageError> {
    let Some(version) = sent.version else {
        return Err(UserError::invalid("/version", "Send the version that the change is based on.").into());
    };
    match save(&context, &admin, Some((id.clone(), version)), sent).await? {
        Ok(id) => Ok(see_other(&format!("{}?done=1", page_path(&id)), None)),
        Err(entered) => render(&admin, &context, &id, Shown { entered: Some(entered), is_done: false }).await,
    }
}

/// Saves what was sent and returns the id; the inner error is the form with what is wrong.
async fn save(
    context: &Context,
    admin: &Admin,
    after: Option<(String, i64)>,
    sent: Sent,
) -> Result<Result<String, Entered>, UserError> {
    // Browsers send `\r\n`.
    let sent = Sent { definition: sent.definition.replace("\r\n", "\n"), ..sent };
    let mut entered = Entered::new(sent.clone());
    match stored::read_definition(context, &admin.caller, &sent.definition).await {
        Err(problems) => entered.problems = problems,
        Ok(definition) => match stored::save(context, &admin.caller, after, definition, entered.is_published).await {
            Ok(saved) => return Ok(Ok(saved.id)),
            Err(error) if error.code == ErrorCode::NotFound => return Err(error),
            Err(error) => entered.refused = Some(error.message),
        },
    }
    Ok(Err(entered))
}

fn new_page(admin: &Admin, status: StatusCode, entered: &Entered) -> Response {
    let content = view! {
        <section class="cw-account-part" aria-label="New definition">{form(NEW_PATH.to_owned(), entered)}</section>
    };
    page(admin, DefinitionList::PATH, status, "New workflow definition", content)
}

/// Renders the form.
pub(super) fn form(action: String, entered: &Entered) -> AnyView {
    let has_problems = !entered.problems.is_empty();
    let (invalid, described_by) = (has_problems.then_some("true"), has_problems.then_some("problems"));
    // Without one, the field is left out: an empty one would not be a number.
    let version = entered.version.map(|version| {
        view! { <input type="hidden" name="version" value=version.to_string() /> }
    });
    view! {
        {error_message(entered.refused.clone())}
        {problems_view(&entered.problems)}
        <form class="cw-account-form" method="post" action=action>
            {version}
            <label class="cw-account-field">
                <span>"Definition (YAML)"</span>
                <textarea
                    class="cw-admin-code"
                    name="definition"
                    rows="24"
                    required
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    aria-invalid=invalid
                    aria-describedby=described_by
                    inner_html=text_area_content(&entered.definition)
                ></textarea>
            </label>
            <label class="cw-admin-check">
                <input type="checkbox" name="published" value="1" checked=entered.is_published />
                "Published: runs can be started, and triggers work"
            </label>
            <button class="cw-button cw-primary">"Save"</button>
        </form>
    }
    .into_any()
}

/// Renders each error with its line.
fn problems_view(problems: &[Diagnostic]) -> Option<AnyView> {
    let one = |problem: &Diagnostic| {
        let place = match problem.line {
            0 => "Everywhere".to_owned(),
            line => format!("Line {line}, column {}", problem.column),
        };
        let help = problem.help.clone().map(|help| format!(" – {help}"));
        let excerpt = problem.excerpt.as_ref().map(|excerpt| {
            let marker = format!("{}{}", " ".repeat(excerpt.offset), "^".repeat(excerpt.width));
            view! { <pre class="cw-admin-exact" aria-hidden="true">{format!("{}\n{marker}", excerpt.text)}</pre> }
        });
        view! { <li><strong>{place}</strong>": "{problem.message.clone()}{help}{excerpt}</li> }
    };
    (!problems.is_empty()).then(|| {
        view! {
            <div class="cw-account-problem" role="alert" id="problems">
                <p>"The definition was not saved:"</p>
                <ul class="cw-admin-problems">{problems.iter().map(one).collect_view()}</ul>
            </div>
        }
        .into_any()
    })
}
