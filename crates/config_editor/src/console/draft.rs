//! The page on which an administrator writes changes, with what is wrong with them, tries and publishes them.

use super::access::Editor;
use super::files::rejected_view;
use super::views::{button, changes_view, diff_view, lines_view, problems_view};
use super::{DRAFT_PATH, FILES_PATH, VERSIONS_PATH};
use crate::check::{MAX_BYTES, NAME};
use crate::diff::diff;
use crate::service::{self, Current, PREVIEW_MINUTES};
use crate::store::{self, Draft};
use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, UserNames, from_store_error, page};
use web::html::{error_message, success_message, text_area_content};
use web::times::minute;
use web::{see_other, status_of};
use wire::{ErrorCode, UserError};

/// The initial text of the form, if nothing was published.
const EXAMPLE: &str = "# Sections of a config. An entry replaces the one of the files with its id, or is added.
# agents:
#   - id: helper
#     type: Agent
#     …
";

/// The last action, for the notice of the page after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Done {
    Saved,
    Published,
    Trying,
    Ended,
    Discarded,
}

impl Done {
    /// Returns the value in the address, and what the page says.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Saved => ("saved", "Saved. Only you see this draft."),
            Self::Published => ("published", "Published. It is in effect from the next message on."),
            Self::Trying => ("trying", "Your own requests to this server use the draft now."),
            Self::Ended => ("ended", "Your requests use the published config again."),
            Self::Discarded => ("discarded", "The draft is gone."),
        }
    }

    fn redirect(self) -> Response {
        see_other(&format!("{DRAFT_PATH}?done={}", self.texts().0), None)
    }
}

/// The query of the page.
#[derive(Deserialize)]
pub(super) struct DoneQuery {
    done: Option<Done>,
}

/// A draft that was sent.
#[derive(Clone, Deserialize)]
pub(super) struct Sent {
    text: String,
    based_on: i64,
    revision: i64,
}

/// A button that is about a revision of the draft.
#[derive(Deserialize)]
pub(super) struct RevisionForm {
    revision: i64,
}

/// `GET /admin/config/draft`
pub(super) async fn show(
    Editor(admin): Editor,
    State(context): State<Context>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    render(&admin, &context, None, query.done.map(|done| done.texts().1)).await
}

/// `POST /admin/config/draft`
pub(super) async fn save(
    Editor(admin): Editor,
    State(context): State<Context>,
    Form(sent): Form<Sent>,
) -> Result<Response, PageError> {
    // Browsers send `\r\n`.
    let sent = Sent { text: sent.text.replace("\r\n", "\n"), ..sent };
    match service::save(&context, &admin, &sent.text, sent.based_on, sent.revision).await {
        Ok(()) => Ok(Done::Saved.redirect()),
        Err(error) => render(&admin, &context, Some((Some(sent), error)), None).await,
    }
}

/// `POST /admin/config/draft/rebase`
pub(super) async fn rebase(
    Editor(admin): Editor,
    State(context): State<Context>,
    Form(form): Form<RevisionForm>,
) -> Result<Response, PageError> {
    let newest = store::newest(&context.store).await?;
    let rebased = service::rebase(&context, &admin, form.revision, newest).await;
    after(&admin, &context, rebased, Done::Saved.redirect()).await
}

/// `POST /admin/config/draft/discard`
pub(super) async fn discard(Editor(admin): Editor, State(context): State<Context>) -> Result<Response, PageError> {
    service::discard(&context, &admin).await?;
    Ok(Done::Discarded.redirect())
}

/// `POST /admin/config/draft/preview`
pub(super) async fn start_preview(
    Editor(admin): Editor,
    State(context): State<Context>,
    Form(form): Form<RevisionForm>,
) -> Result<Response, PageError> {
    let started = service::start_preview(&context, &admin, form.revision).await;
    after(&admin, &context, started, Done::Trying.redirect()).await
}

/// `POST /admin/config/draft/preview/end`
pub(super) async fn end_preview(Editor(admin): Editor, State(context): State<Context>) -> Response {
    service::end_preview(&context, &admin);
    Done::Ended.redirect()
}

/// `POST /admin/config/draft/publish`
pub(super) async fn publish(
    Editor(admin): Editor,
    State(context): State<Context>,
    Form(form): Form<RevisionForm>,
) -> Result<Response, PageError> {
    let published = service::publish(&context, &admin, form.revision).await;
    after(&admin, &context, published.map(drop), Done::Published.redirect()).await
}

/// Redirects after a success, and shows the page with the error otherwise.
async fn after(
    admin: &Admin,
    context: &Context,
    done: Result<(), UserError>,
    redirect: Response,
) -> Result<Response, PageError> {
    match done {
        Ok(()) => Ok(redirect),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render(admin, context, Some((None, error)), None).await,
    }
}

async fn render(
    admin: &Admin,
    context: &Context,
    refused: Option<(Option<Sent>, UserError)>,
    done: Option<&'static str>,
) -> Result<Response, PageError> {
    let current = Current::load(context).await?;
    let draft = store::draft(&context.store, &admin.caller.user_id).await.map_err(from_store_error)?;
    let status = refused.as_ref().map_or(StatusCode::OK, |(_, error)| status_of(error));
    let (sent, problem) = refused.map_or((None, None), |(sent, error)| (sent, Some(error.message)));
    let revision = draft.as_ref().map_or(0, |draft| draft.revision);
    // A rejected text is shown again, and can be sent again.
    let form = sent.map(|sent| Sent { revision, ..sent }).unwrap_or_else(|| match &draft {
        Some(draft) => Sent { text: draft.text.clone(), based_on: draft.based_on, revision },
        None => Sent { text: start_text(&current), based_on: current.newest, revision },
    });
    let parts = match &draft {
        Some(draft) => draft_parts(admin, context, &current, draft).await?,
        None => ().into_any(),
    };
    let content = view! {
        {success_message(done)}
        {error_message(problem)}
        {rejected_view(&current.section.state)}
        {form_view(&current, &form)}
        {parts}
        <p class="cw-admin-links">
            <a href=FILES_PATH>"The files of the config"</a>
            <a href=VERSIONS_PATH>"Published versions"</a>
        </p>
    };
    Ok(page(admin, FILES_PATH, status, "Change the config", content))
}

fn start_text(current: &Current) -> String {
    if current.published.trim().is_empty() { EXAMPLE.to_owned() } else { current.published.clone() }
}

fn form_view(current: &Current, sent: &Sent) -> AnyView {
    let sections = current.section.sections.join(", ");
    view! {
        <section class="cw-account-part" aria-labelledby="changes">
            <h2 id="changes">"Changes"</h2>
            <p class="cw-account-note">
                {format!("These sections can be changed: {sections}. An entry with an id replaces the one of the files with the same id, or is added; a section without ids is replaced as a whole. ")}
                <code>"_remove: true"</code>" beside its "<code>"id"</code>" takes an entry out. Entries that are not here stay as they are in the files. "
                {format!("At most {} KiB.", MAX_BYTES / 1024)}
            </p>
            <form class="cw-account-form" method="post" action=DRAFT_PATH>
                <input type="hidden" name="based_on" value=sent.based_on.to_string() />
                <input type="hidden" name="revision" value=sent.revision.to_string() />
                <label class="cw-account-field">
                    <span>"Changes (YAML)"</span>
                    <textarea
                        class="cw-admin-code"
                        name="text"
                        rows="20"
                        spellcheck="false"
                        autocomplete="off"
                        autocapitalize="off"
                        inner_html=text_area_content(&sent.text)
                    ></textarea>
                </label>
                <button class="cw-button cw-primary">"Save and check"</button>
            </form>
        </section>
    }
    .into_any()
}

/// Renders what is known of a stored draft, and the buttons.
async fn draft_parts(admin: &Admin, context: &Context, current: &Current, draft: &Draft) -> Result<AnyView, UserError> {
    let checked = current.check(context, &draft.text).await?;
    let (lines, published) =
        (current.lines(context, &draft.text).await?, current.lines(context, &current.published).await?);
    let here: Vec<_> = checked.diagnostics.iter().filter(|problem| problem.file == NAME).collect();
    let in_place = (!here.is_empty()).then(|| lines_view("The changes with what is wrong", &lines, &here));
    let changes = checked.changes(&current.published_outline(context).await?);
    let difference = diff(published, lines).await?;
    let is_valid = checked.errors() == 0;
    let is_outdated = draft.based_on != current.newest;
    let outdated = if is_outdated { Some(outdated_view(context, current, draft).await?) } else { None };
    let problems = match problems_view(&checked.diagnostics) {
        Some(problems) => problems,
        None => view! { <p class="cw-account-done" role="status">"The checker finds nothing wrong."</p> }.into_any(),
    };
    let publish = (is_valid && !is_outdated).then(|| {
        button(format!("{DRAFT_PATH}/publish"), "Publish", "cw-button cw-primary", ("revision", draft.revision))
    });
    let view = view! {
        {outdated}
        <section class="cw-account-part" aria-labelledby="check">
            <h2 id="check">"Check"</h2>
            {problems}
            {in_place}
        </section>
        <section class="cw-account-part" aria-labelledby="difference">
            <h2 id="difference">"Difference from what is published"</h2>
            {diff_view(difference, "difference")}
            {is_valid.then(|| changes_view(&changes))}
        </section>
        {is_valid.then(|| preview_view(admin, context, draft))}
        <section class="cw-account-part" aria-labelledby="publish">
            <h2 id="publish">"Publish"</h2>
            <p class="cw-account-note">
                "All servers of this database take the changes at once. Answers that are being written end as they began. You can go back to each of the newest 50 versions."
            </p>
            {publish}
            <p class="cw-admin-links"><a href=format!("{DRAFT_PATH}/changes.yaml")>"Download the draft as YAML"</a></p>
            {button(format!("{DRAFT_PATH}/discard"), "Discard the draft", "cw-button cw-danger", ("revision", draft.revision))}
        </section>
    };
    Ok(view.into_any())
}

/// Renders who has published since the draft was begun.
async fn outdated_view(context: &Context, current: &Current, draft: &Draft) -> Result<AnyView, UserError> {
    let newest = store::find(&context.store, current.newest).await.map_err(from_store_error)?;
    let by = newest.as_ref().map(|newest| newest.published_by.as_str()).unwrap_or_default();
    let names = UserNames::load(&context.store, std::iter::once(by)).await?;
    let who = names.get(by).unwrap_or("Somebody").to_owned();
    let message = format!(
        "{who} has published version {} since you began this draft with version {}. Below is what publishing your draft would change of it.",
        current.newest, draft.based_on
    );
    let rebase = format!("{DRAFT_PATH}/rebase");
    Ok(view! {
        <section class="cw-account-part" aria-labelledby="outdated">
            <h2 id="outdated">"A newer version"</h2>
            {error_message(Some(message))}
            {button(rebase, "Replace the newer version", "cw-button", ("revision", draft.revision))}
        </section>
    }
    .into_any())
}

fn preview_view(admin: &Admin, context: &Context, draft: &Draft) -> AnyView {
    let until = context.current.drafts().preview(&admin.caller.user_id);
    let (note, act) = match until {
        None => (
            format!("For {PREVIEW_MINUTES} minutes your own requests to this server use the draft: pages, agents and endpoints. Nobody else sees it. Conversations that you have meanwhile are kept."),
            button(format!("{DRAFT_PATH}/preview"), "Try it", "cw-button", ("revision", draft.revision)),
        ),
        Some(until) => (
            format!("Until {} (UTC) your own requests to this server use the draft as it was when you began to try it.", minute(until)),
            view! {
                <a class="cw-button" href="/">"Open the app"</a>
                {button(format!("{DRAFT_PATH}/preview"), "Try it as it is now", "cw-button", ("revision", draft.revision))}
                {button(format!("{DRAFT_PATH}/preview/end"), "End the trial", "cw-button", ("revision", draft.revision))}
            }
            .into_any(),
        ),
    };
    view! {
        <section class="cw-account-part" aria-labelledby="try">
            <h2 id="try">"Try it"</h2>
            <p class="cw-account-note">{note}</p>
            {act}
        </section>
    }
    .into_any()
}
