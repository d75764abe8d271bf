//! The page that starts a run again with a changed input.

use super::run_page::PATH;
use super::task_field::{fields_view, sent_entries};
use crate::service::{self, RerunRequest, Runs, Viewer};
use crate::store::RunRow;
use axum::extract::{Form as SentForm, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde_json::{Value, json};
use web::admin::{Admin, PageError, page};
use web::html::{link, short_id};
use web::see_other;
use wire::form::Form;
use wire::{ErrorCode, UserError};

/// The entered values, and the problems in them.
#[derive(Default)]
struct Entered {
    /// Absent before anything was sent.
    entries: Option<Vec<String>>,
    /// The problems of fields.
    problems: Vec<(usize, String)>,
    /// A problem that is about no field.
    problem: Option<String>,
}

/// A run with the form for the input of the next one.
struct Rerun {
    run: RunRow,
    form: Form,
    description: Option<String>,
    version: String,
}

/// `GET /admin/workflows/{id}/rerun`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let rerun = find(&context, &admin, &id).await?;
    Ok(rerun_page(&admin, StatusCode::OK, &rerun, &Entered::default()))
}

/// `POST /admin/workflows/{id}/rerun`
pub(super) async fn start(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    SentForm(sent): SentForm<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let rerun = find(&context, &admin, &id).await?;
    let entries = sent_entries(&rerun.form, &sent);
    let input = match rerun.form.values(&entries) {
        Ok(input) => input,
        Err(found) => {
            let problems = found.into_iter().map(|found| (found.field, found.problem.english())).collect();
            let entered = Entered { entries: Some(entries), problems, problem: None };
            return Ok(rerun_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &rerun, &entered));
        }
    };
    let request = RerunRequest { input: Some(input), ..RerunRequest::default() };
    let audit = admin.audit_entry("rerun_workflow_run", "", json!({ "runId": id }));
    let (runs, config): (Runs, _) = ((&context).into(), context.current.config());
    match service::rerun(&runs, (Viewer::Admin, &admin.caller), &config, &id, request, Some(audit)).await {
        Ok(run) => Ok(see_other(&format!("{PATH}/{}", run.id), None)),
        // The entered values stay.
        Err(error) if error.code == ErrorCode::Invalid => {
            let entered = refused(&rerun.form, entries, &error);
            Ok(rerun_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &rerun, &entered))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns what was entered with an error of the server: beside the field that it is about, or above the button.
fn refused(form: &Form, entries: Vec<String>, error: &UserError) -> Entered {
    let pointer = error.path.as_deref().and_then(|path| path.strip_prefix("/input"));
    match pointer.and_then(|pointer| form.field_at(pointer)) {
        Some(field) => {
            Entered { entries: Some(entries), problems: vec![(field, error.message.clone())], problem: None }
        }
        None => Entered { entries: Some(entries), problems: Vec::new(), problem: Some(error.message.clone()) },
    }
}

async fn find(context: &Context, admin: &Admin, id: &str) -> Result<Rerun, UserError> {
    let run = service::run(&context.into(), Viewer::Admin, id).await?;
    let workflow = service::workflow(&context.current.config(), &admin.caller, &run.workflow_id)?;
    let schema = workflow.input.clone().map_or(Value::Null, Value::Object);
    Ok(Rerun {
        form: Form::holding(&schema, &run.input),
        version: workflow.version(),
        description: workflow.description,
        run,
    })
}

fn rerun_page(admin: &Admin, status: StatusCode, rerun: &Rerun, entered: &Entered) -> Response {
    let Rerun { run, form, description, version } = rerun;
    let title = format!("Run {} again", short_id(&run.id));
    let definition = if *version == run.version {
        "The definition has not changed since.".to_owned()
    } else {
        format!("The definition has changed since: the run had version {}, the new one has {version}.", run.version)
    };
    let about = format!(
        "This starts a new run of {}. It belongs to you, and has your rights unless the workflow names others. {definition}",
        run.workflow_id
    );
    let problem = entered
        .problem
        .clone()
        .or_else(|| (!entered.problems.is_empty()).then(|| "Check the marked fields.".to_owned()));
    let fields = fields_view("again", form, entered.entries.as_deref(), &entered.problems);
    let content = view! {
        <p class="cw-account-note">{about}</p>
        {description.clone().map(|about| view! { <p class="cw-admin-text" dir="auto">{about}</p> })}
        <form method="post" action=format!("{PATH}/{}/rerun", run.id) class="cw-admin-task-form">
            {fields}
            {web::html::error_message(problem)}
            <div class="cw-admin-acts"><button class="cw-button cw-primary">"Start"</button></div>
        </form>
        <p class="cw-admin-links">{link(format!("{PATH}/{}", run.id), "The earlier run")}</p>
    };
    page(admin, PATH, status, &title, content)
}
