//! The queue of background work: what waits, runs, has failed and why; jobs can be retried and
//! cancelled.

use crate::state::ConsoleState;
use axum::extract::{Path, State};
use axum::response::{NoContent, Response};
use axum::routing::post;
use axum::{Json, Router};
use jobs::{CancelOutcome, JobCount, JobFilter, JobRow, JobState, QueueStatus};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use store::{Store, StoreError, append_audit};
use web::admin::filters::{Choice, field, field_with_suggestions, non_empty, select_field, user_id};
use web::admin::list::{self, Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{Admin, PageError, UserNames, from_store_error, user_view};
use web::html::Heading::{Number, Text};
use web::html::{link, number, row_button, table, text};
use web::openapi::ApiRouter;
use web::times::minute;
use web::{HttpError, query_encoded, see_other};
use wire::{ErrorCode, UserError};

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes::<JobList>()
        .get("/api/admin/jobs/status", status_api, "Count the jobs by kind and state")
        .post("/api/admin/jobs/{id}/retry", retry_api, "Retry a failed or cancelled job, or run a waiting one now")
        .post("/api/admin/jobs/{id}/cancel", cancel_api, "Cancel a waiting job, or stop a running one")
        .with_pages(
            Router::new().route("/admin/jobs/{id}/retry", post(retry)).route("/admin/jobs/{id}/cancel", post(cancel)),
        )
}

struct JobList;

type JobColumn = Column<JobItem>;

/// A job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobItem {
    #[serde(flatten)]
    job: JobRow,
    /// The name of the user whose work it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_name: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct JobQuery {
    /// Only those of this kind.
    kind: Option<String>,
    /// `any`, `waiting`, `running`, `done`, `failed` or `cancelled`.
    #[serde(default)]
    state: StateQuery,
    /// Only those of this user (id or name).
    user: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateQuery {
    #[default]
    Any,
    Waiting,
    Running,
    Failed,
    Cancelled,
    Done,
}

impl StateQuery {
    fn state(self) -> Option<JobState> {
        match self {
            Self::Any => None,
            Self::Waiting => Some(JobState::Waiting),
            Self::Running => Some(JobState::Running),
            Self::Failed => Some(JobState::Failed),
            Self::Cancelled => Some(JobState::Cancelled),
            Self::Done => Some(JobState::Done),
        }
    }
}

impl Choice for StateQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Any, "any", "All"),
        (Self::Waiting, "waiting", "Waiting"),
        (Self::Running, "running", "Running"),
        (Self::Failed, "failed", "Failed"),
        (Self::Cancelled, "cancelled", "Cancelled"),
        (Self::Done, "done", "Done"),
    ];
}

impl List for JobList {
    type State = ConsoleState;
    type Query = JobQuery;
    type Row = JobItem;

    const PATH: &'static str = "/admin/jobs";
    const SUMMARY: &'static str = "List the jobs of the queue, newest first";
    const TITLE: &'static str = "Jobs";
    const EMPTY: &'static str = "No jobs match.";
    const NONE_YET: &'static str =
        "There are no jobs yet. Work in the background, such as reading documents, appears here.";
    const COLUMNS: &'static [JobColumn] = &[
        JobColumn::in_file("id", |item| Cell::text(&item.job.id)),
        JobColumn::new("Kind", "kind", |item| Cell::text(&item.job.kind)),
        JobColumn::new("State", "state", |item| Cell::text(item.job.state.name()))
            .shown_as(|item| text(state_text(&item.job))),
        JobColumn::new("Due (UTC)", "due", |item| Cell::time(item.job.due_at)),
        JobColumn::in_file("everyMs", |item| Cell::Number(item.job.every_ms.map(|every| every as f64))),
        JobColumn::new("Attempts", "attempts", |item| Cell::count(item.job.attempts)).aligned_right(),
        JobColumn::new("Last attempt (UTC)", "started", |item| Cell::time(item.job.started_at)),
        JobColumn::new("Ended (UTC)", "ended", |item| Cell::time(item.job.ended_at)),
        JobColumn::new("Last failure", "error", |item| Cell::optional(item.job.error.as_deref())),
        JobColumn::new("User", "user", |item| Cell::optional(item.job.owner.as_deref()))
            .shown_as(|item| user_view(item.job.owner.as_deref().unwrap_or_default(), item.owner_name.as_deref())),
        JobColumn::in_file("userName", |item| Cell::optional(item.owner_name.as_deref())),
        JobColumn::in_file("key", |item| Cell::optional(item.job.key.as_deref())),
        JobColumn::in_file("created", |item| Cell::time(item.job.created_at)),
        JobColumn::in_table("Action", actions),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    /// The cursor is the id of the last row.
    async fn fetch(state: &ConsoleState, query: &JobQuery, page: &PageRequest) -> Result<ListPage<JobItem>, UserError> {
        let filter = JobFilter {
            kind: non_empty(query.kind.as_deref()),
            state: query.state.state(),
            owner: user_id(&state.store, query.user.as_deref()).await?,
            id: None,
            before: page.after.clone(),
        };
        let found = state.chat.jobs().list(filter, page.limit()).await.map_err(from_store_error)?;
        let names = UserNames::load(&state.store, found.iter().filter_map(|job| job.owner.as_deref())).await?;
        let item = |job: JobRow| JobItem {
            owner_name: job.owner.as_deref().and_then(|owner| names.get(owner)).map(str::to_owned),
            job,
        };
        Ok(page.page_by(found.into_iter().map(item).collect(), |item| item.job.id.clone()))
    }

    fn filters(state: &ConsoleState, query: &JobQuery) -> Option<AnyView> {
        let kinds = state.chat.jobs().kinds().into_iter().map(str::to_owned);
        Some(
            view! {
                {field_with_suggestions("kind", "Kind", query.kind.as_deref(), kinds)}
                {select_field("state", "State", query.state)}
                {field("user", "User (name or id)", "text", query.user.as_deref())}
            }
            .into_any(),
        )
    }

    async fn content(state: &ConsoleState, _: &JobQuery, list: ListView) -> Result<AnyView, UserError> {
        let status = status(state).await?;
        let late = match status.oldest_due_ms {
            Some(late) => format!("The oldest due job has been waiting for {}.", duration_text(late)),
            None => "No due job is waiting.".to_owned(),
        };
        Ok(view! {
            <p class="cw-account-note">
                "Background work of all users and of the server. Done jobs are kept for a day, failed and cancelled ones for 30 days. "
                {late}
            </p>
            {counts_tables(&status.counts)}
            {list.into_any()}
        }
        .into_any())
    }
}

async fn status(state: &ConsoleState) -> Result<QueueStatus, UserError> {
    state.chat.jobs().status().await.map_err(from_store_error)
}

/// A row for each kind, those with failed jobs first. Kinds of which no job runs or has failed and at most one waits are folded:
/// there are dozens, each with one job that waits for its time.
fn counts_tables(counts: &[JobCount]) -> AnyView {
    let mut kinds: BTreeMap<&str, [i64; 4]> = BTreeMap::new();
    for count in counts {
        let place = match count.state {
            JobState::Waiting => 0,
            JobState::Running => 1,
            JobState::Failed => 2,
            JobState::Done => 3,
            JobState::Cancelled => continue,
        };
        kinds.entry(&count.kind).or_default()[place] += count.jobs;
    }
    let (mut shown, folded): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(_, [waiting, running, failed, _])| *waiting > 1 || *running > 0 || *failed > 0);
    shown.sort_by_key(|(_, [_, _, failed, _])| *failed == 0);
    let columns = [Text("Kind"), Number("Waiting"), Number("Running"), Number("Failed"), Number("Done")];
    let line = |(kind, [waiting, running, failed, done]): (&str, [i64; 4])| {
        let count = |jobs: i64| text(number(jobs as f64));
        [
            link(format!("?kind={}", query_encoded(kind)), kind),
            count(waiting),
            count(running),
            count(failed),
            count(done),
        ]
    };
    let rest = (!folded.is_empty()).then(|| {
        let summary = format!("Other kinds, with at most one waiting job ({})", folded.len());
        let rows = table(columns, folded.into_iter().map(line), "");
        view! { <details class="cw-admin-rest"><summary>{summary}</summary>{rows}</details> }
    });
    view! {
        {table(columns, shown.into_iter().map(line), "No job runs, none has failed, and no kind has more than one waiting job.")}
        {rest}
    }
    .into_any()
}

fn state_text(job: &JobRow) -> String {
    match job.state {
        JobState::Running if job.stopping => "Stopping".to_owned(),
        JobState::Running => "Running".to_owned(),
        JobState::Waiting if !job.known => "Waiting; this server does not know the kind".to_owned(),
        JobState::Waiting => match job.every_ms {
            Some(every) => format!("Waiting; every {}", duration_text(every)),
            None => "Waiting".to_owned(),
        },
        JobState::Done => "Done".to_owned(),
        JobState::Failed => "Failed".to_owned(),
        JobState::Cancelled => "Cancelled".to_owned(),
    }
}

/// A duration with its largest unit.
fn duration_text(ms: i64) -> String {
    let (count, unit) = match ms / 1_000 {
        seconds if seconds < 120 => (seconds, "s"),
        seconds if seconds < 2 * 3_600 => (seconds / 60, "min"),
        seconds if seconds < 2 * 86_400 => (seconds / 3_600, "h"),
        seconds => (seconds / 86_400, "days"),
    };
    format!("{count} {unit}")
}

fn actions(item: &JobItem) -> AnyView {
    let (id, of) = (query_encoded(&item.job.id), format!("{} of {}", item.job.kind, minute(item.job.created_at)));
    let retry = |text: &'static str| row_button(format!("/admin/jobs/{id}/retry"), text, format!("{text}: {of}"));
    let cancel = || row_button(format!("/admin/jobs/{id}/cancel"), "Cancel", format!("Cancel: {of}"));
    match item.job.state {
        JobState::Waiting => view! { <div class="cw-admin-acts">{retry("Run now")}{cancel()}</div> }.into_any(),
        JobState::Running if item.job.stopping => text(""),
        JobState::Running => cancel(),
        JobState::Failed | JobState::Cancelled => retry("Retry"),
        JobState::Done => text(""),
    }
}

/// The action of an administrator on a job.
#[derive(Clone, Copy)]
enum Action {
    Retry,
    Cancel,
}

/// Changes a job and records it in the audit log, in one transaction.
async fn change(state: &ConsoleState, admin: &Admin, id: String, action: Action) -> Result<(), UserError> {
    let queue = state.chat.jobs().clone();
    let filter = JobFilter { id: Some(id.clone()), ..JobFilter::default() };
    let found = queue.list(filter, 1).await.map_err(from_store_error)?;
    let job = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "jobId": id, "kind": job.kind, "userId": job.owner, "state": job.state.name() });
    let name = match action {
        Action::Retry => "retry_job",
        Action::Cancel => "cancel_job",
    };
    let entry = admin.audit_entry(name, "", about);
    let write = state.store.write(move |db| {
        Box::pin(async move {
            append_audit(db, vec![entry]).await?;
            let is_changed = match action {
                Action::Retry => queue.retry_in(db, &id).await?,
                Action::Cancel => queue.cancel_in(db, &id).await? != CancelOutcome::NotPending,
            };
            // Undoes the entry.
            if is_changed { Ok(()) } else { Err(StoreError::Invalid("the job has changed its state in the meantime")) }
        })
    });
    write.await.map_err(|error| match error {
        StoreError::Invalid(why) => UserError::new(ErrorCode::Conflict, format!("Nothing was changed: {why}.")),
        error => from_store_error(error),
    })
}

/// `POST /admin/jobs/{id}/retry`
async fn retry(admin: Admin, State(state): State<ConsoleState>, Path(id): Path<String>) -> Result<Response, PageError> {
    change(&state, &admin, id, Action::Retry).await?;
    Ok(see_other(JobList::PATH, None))
}

/// `POST /admin/jobs/{id}/cancel`
async fn cancel(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    change(&state, &admin, id, Action::Cancel).await?;
    Ok(see_other(JobList::PATH, None))
}

/// `POST /api/admin/jobs/{id}/retry`
async fn retry_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    change(&state, &admin, id, Action::Retry).await?;
    Ok(NoContent)
}

/// `POST /api/admin/jobs/{id}/cancel`
async fn cancel_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    change(&state, &admin, id, Action::Cancel).await?;
    Ok(NoContent)
}

/// `GET /api/admin/jobs/status`
async fn status_api(_: Admin, State(state): State<ConsoleState>) -> Result<Json<QueueStatus>, HttpError> {
    Ok(Json(status(&state).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_one_unit() {
        let check = |ms: i64, expected: &str| assert_eq!(duration_text(ms), expected);
        check(30_000, "30 s");
        check(600_000, "10 min");
        check(7_200_000, "2 h");
        check(3 * 86_400_000, "3 days");
    }

    #[test]
    fn kinds_are_folded_if_at_most_one_job_waits() {
        let check = |state: JobState, jobs: i64, is_folded: bool| {
            let html = counts_tables(&[JobCount { kind: "clean_up".to_owned(), state, jobs }]).to_html();
            let (shown, folded) = html.split_once("<details").unwrap_or((html.as_str(), ""));
            assert_eq!(folded.contains("?kind=clean_up"), is_folded, "{state:?}: {html}");
            assert_eq!(shown.contains("?kind=clean_up"), !is_folded, "{state:?}: {html}");
        };
        check(JobState::Waiting, 1, true);
        check(JobState::Waiting, 2, false);
        check(JobState::Running, 1, false);
        check(JobState::Failed, 1, false);
        check(JobState::Done, 5, true);
    }
}
