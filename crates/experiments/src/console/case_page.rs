//! The page of a case: what the user writes, and what is expected of the answer.

use super::DATASETS;
use crate::case_form::CaseForm;
use crate::service::{Service, new_id};
use crate::store::{self, CaseRow, Dataset};
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use web::admin::filters::check_field;
use web::admin::{Admin, PageError, UserNames, from_store_error, page};
use web::html::{error_message, facts, link, success_message, text, text_area_content};
use web::see_other;
use web::times::minute;
use wire::{ErrorCode, UserError};

/// The query of the page: where the administrator comes from.
#[derive(Default, Deserialize)]
pub(super) struct CaseQuery {
    kept: Option<String>,
    known: Option<String>,
    saved: Option<String>,
}

async fn case_of(service: &Service, dataset: &str, id: &str) -> Result<CaseRow, UserError> {
    let found = store::current_case(&service.context.store, dataset, id).await.map_err(from_store_error)?;
    found.ok_or_else(UserError::not_found)
}

/// `GET /admin/datasets/{id}/cases/{case}`
pub(super) async fn show(
    admin: Admin,
    State(service): State<Service>,
    Path((dataset, id)): Path<(String, String)>,
    Query(query): Query<CaseQuery>,
) -> Result<Response, PageError> {
    let (dataset, case) = (service.dataset(&dataset).await?, case_of(&service, &dataset, &id).await?);
    let done = match query {
        CaseQuery { kept: Some(_), .. } => {
            Some("The answer is a case now. Read it, say what a good answer has, and save.")
        }
        CaseQuery { known: Some(_), .. } => Some("This answer was a case already."),
        CaseQuery { saved: Some(_), .. } => Some("Saved, in a new version of the dataset."),
        _ => None,
    };
    let form = CaseForm::of_case(&case.content);
    case_view(&admin, &service, (&dataset, Some(&case)), form, (StatusCode::OK, None, done)).await
}

/// `GET /admin/datasets/{id}/cases`
pub(super) async fn new(
    admin: Admin,
    State(service): State<Service>,
    Path(dataset): Path<String>,
) -> Result<Response, PageError> {
    let dataset = service.dataset(&dataset).await?;
    let form = CaseForm { id: new_id(), ..CaseForm::default() };
    case_view(&admin, &service, (&dataset, None), form, (StatusCode::OK, None, None)).await
}

type Outcome = (StatusCode, Option<String>, Option<&'static str>);

async fn case_view(
    admin: &Admin,
    service: &Service,
    (dataset, case): (&Dataset, Option<&CaseRow>),
    form: CaseForm,
    (status, problem, done): Outcome,
) -> Result<Response, PageError> {
    let people = case.iter().flat_map(|case| [case.created_by.as_str(), case.owner.as_str()]);
    let names = UserNames::load(&service.context.store, people).await?;
    let path = match case {
        Some(case) => format!("{DATASETS}/{}/cases/{}", dataset.id, case.id),
        None => format!("{DATASETS}/{}/cases", dataset.id),
    };
    let delete = case.map(|_| {
        view! {
            <form method="post" action=format!("{path}/delete")><button class="cw-button">"Remove from the dataset"</button></form>
        }
    });
    let content = view! {
        {success_message(done)}
        {error_message(problem)}
        <p class="cw-account-note">"Dataset: "{link(format!("{DATASETS}/{}", dataset.id), dataset.name.clone())}</p>
        {case.map(|case| about_view(case, &names))}
        <section class="cw-account-part" aria-labelledby="case">
            <h2 id="case">"Case"</h2>
            {form_view(&path, form, case.is_none())}
        </section>
        {case.and_then(|case| known_view(&case.content))}
        {delete}
    };
    let title = if case.is_some() { "Case" } else { "New case" };
    Ok(page(admin, DATASETS, status, title, content))
}

fn about_view(case: &CaseRow, names: &UserNames) -> impl IntoView + use<> {
    let from = case.conversation_id.as_ref().map(|id| {
        let message = case.message_id.clone().unwrap_or_default();
        link(format!("/admin/conversations/{id}#m-{message}"), "Open the answer")
    });
    let privacy = match (case.owner.is_empty(), case.is_masked) {
        (true, _) => "Not from a user's conversation",
        (false, true) => "Personal data is masked: the user has not agreed",
        (false, false) => "Unmasked: the user has agreed, or it is yours",
    };
    let about = [
        ("Source", from.unwrap_or_else(|| text("created here"))),
        ("User", names.view(&case.owner)),
        ("Privacy", text(privacy)),
        ("Kept by", names.view(&case.created_by)),
        ("Time (UTC)", text(minute(case.created_at))),
    ];
    view! { <section class="cw-account-part" aria-label="About">{facts(about)}</section> }
}

fn form_view(path: &str, form: CaseForm, is_new: bool) -> impl IntoView + use<> {
    let area = |name: &'static str, label: &'static str, rows: u8, text: &str| {
        let content = text_area_content(text);
        view! {
            <label class="cw-eval-field">
                <span>{label}</span>
                <textarea name=name rows=rows dir="auto" inner_html=content></textarea>
            </label>
        }
    };
    let field = |name: &'static str, label: &'static str, value: String| {
        view! { <label class="cw-eval-field"><span>{label}</span><input name=name value=value autocomplete="off" /></label> }
    };
    view! {
        <form class="cw-eval-form" method="post" action=path.to_owned()>
            {area("input", "The user writes (a line --- between messages)", 4, &form.input)}
            {area("says", "The answer contains (a text in each line)", 2, &form.says)}
            {area("avoids", "The answer does not contain (a text in each line)", 2, &form.avoids)}
            {field("tools", "It calls these tools (separated by commas)", form.tools)}
            {area("rubric", "Rubric for the judge", 3, &form.rubric)}
            <div class="cw-eval-row">
                <label class="cw-eval-field"><span>"Id"</span><input name="id" value=form.id readonly={!is_new} autocomplete="off" /></label>
                {field("split", "Split, such as test", form.split)}
                {field("tags", "Tags (separated by commas)", form.tags)}
            </div>
            {check_field("must", "The case must pass", form.must == "1")}
            <div class="cw-admin-acts"><button class="cw-button cw-primary">"Save"</button></div>
        </form>
    }
}

/// Renders the answer that the case comes from.
fn known_view(content: &Value) -> Option<impl IntoView + use<>> {
    let expected = &content["expected"];
    let (title, answer) = match (expected["disliked"].as_str(), expected["reference"].as_str()) {
        (Some(answer), _) => ("The answer that was disliked", answer),
        (None, Some(answer)) => ("The reference answer", answer),
        (None, None) => return None,
    };
    let answer = answer.to_owned();
    Some(view! {
        <section class="cw-account-part" aria-labelledby="answer">
            <h2 id="answer">{title}</h2>
            <p class="cw-admin-text" dir="auto">{answer}</p>
        </section>
    })
}

/// `POST /admin/datasets/{id}/cases`
pub(super) async fn add(
    admin: Admin,
    State(service): State<Service>,
    Path(dataset): Path<String>,
    Form(form): Form<CaseForm>,
) -> Result<Response, PageError> {
    let dataset = service.dataset(&dataset).await?;
    match service.put_cases(&admin, &dataset.id, vec![form.case(None)]).await {
        Ok(_) => Ok(see_other(&format!("{DATASETS}/{}", dataset.id), None)),
        Err(error) => refused(&admin, &service, (&dataset, None), form, error).await,
    }
}

/// `POST /admin/datasets/{id}/cases/{case}`
pub(super) async fn change(
    admin: Admin,
    State(service): State<Service>,
    Path((dataset, id)): Path<(String, String)>,
    Form(form): Form<CaseForm>,
) -> Result<Response, PageError> {
    let (dataset, case) = (service.dataset(&dataset).await?, case_of(&service, &dataset, &id).await?);
    // The id names the case in results, so another one would be another case.
    let form = CaseForm { id: case.case_id.clone(), ..form };
    match service.put_cases(&admin, &dataset.id, vec![form.case(Some(&case.content))]).await {
        Ok(new) => {
            let new = new.into_iter().next().unwrap_or(id);
            Ok(see_other(&format!("{DATASETS}/{}/cases/{new}?saved=1", dataset.id), None))
        }
        Err(error) => refused(&admin, &service, (&dataset, Some(&case)), form, error).await,
    }
}

async fn refused(
    admin: &Admin,
    service: &Service,
    of: (&Dataset, Option<&CaseRow>),
    form: CaseForm,
    error: UserError,
) -> Result<Response, PageError> {
    if error.code != ErrorCode::Invalid {
        return Err(error.into());
    }
    case_view(admin, service, of, form, (StatusCode::UNPROCESSABLE_ENTITY, Some(error.message), None)).await
}

/// `POST /admin/datasets/{id}/cases/{case}/delete`
pub(super) async fn delete(
    admin: Admin,
    State(service): State<Service>,
    Path((dataset, id)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let case = case_of(&service, &dataset, &id).await?;
    service.remove_case(&admin, &dataset, &case.case_id).await?;
    Ok(see_other(&format!("{DATASETS}/{dataset}"), None))
}
