//! The page of a definition.

use super::form::{Entered, form};
use super::{DefinitionItem, DefinitionList, page_path};
use crate::stored::{self, StoredVersion, StoredWorkflow};
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use web::admin::list::List;
use web::admin::{Admin, PageError, UserNames, delete_section, from_store_error, page};
use web::html::Heading::Text;
use web::html::{error_message, facts, link, success_message, table, text};
use web::times::minute;
use web::{download, query_encoded, see_other};
use wire::UserError;

/// The query of the page: set after a change.
#[derive(Deserialize)]
pub(super) struct DoneQuery {
    done: Option<String>,
}

/// The state of the page beside the definition.
#[derive(Default)]
pub(super) struct Shown {
    /// A form that was refused.
    pub(super) entered: Option<Entered>,
    /// Whether a change was saved.
    pub(super) is_done: bool,
}

/// `GET /admin/workflow-definitions/{id}`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    render(&admin, &context, &id, Shown { entered: None, is_done: query.done.is_some() }).await
}

/// The form that makes an earlier version the newest one.
#[derive(Deserialize)]
pub(super) struct RollBackForm {
    version: i64,
    to: i64,
}

/// `POST /admin/workflow-definitions/{id}/rollback`
pub(super) async fn roll_back(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(sent): Form<RollBackForm>,
) -> Result<Response, PageError> {
    stored::roll_back(&context, &admin.caller, &id, sent.version, sent.to).await?;
    Ok(see_other(&format!("{}?done=1", page_path(&id)), None))
}

/// `POST /admin/workflow-definitions/{id}/delete`
pub(super) async fn delete(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    stored::delete(&context, &admin.caller, &id).await?;
    Ok(see_other(DefinitionList::PATH, None))
}

/// `GET /admin/workflow-definitions/{id}/yaml`
pub(super) async fn export(
    _: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let row = stored::find(&context.store, &id).await.map_err(from_store_error)?;
    let definition = row.map(|row| row.definition).or_else(|| config_definition(&context, &id));
    let definition = definition.ok_or_else(UserError::not_found)?;
    Ok(download("application/yaml", &format!("{id}.yaml"), stored::section_yaml(&definition)))
}

fn config_definition(context: &Context, id: &str) -> Option<Value> {
    stored::in_config(&context.current.config(), id).and_then(|own| serde_json::to_value(own).ok())
}

/// Renders the page: of the stored definition if there is one, otherwise of that of the config.
pub(super) async fn render(admin: &Admin, context: &Context, id: &str, shown: Shown) -> Result<Response, PageError> {
    let place = stored::in_config(&context.current.config(), id).and_then(|own| own.at.clone());
    let place = place.map(|place| place.to_string());
    let Some(row) = stored::find(&context.store, id).await.map_err(from_store_error)? else {
        let definition = config_definition(context, id).ok_or_else(UserError::not_found)?;
        let content = config_view(id, &place.unwrap_or_default(), &definition);
        return Ok(page(admin, DefinitionList::PATH, StatusCode::OK, id, content));
    };
    let versions = stored::versions(&context.store, id).await.map_err(from_store_error)?;
    let names = UserNames::load(&context.store, versions.iter().map(|version| version.author.as_str())).await?;
    let config = context.current.config();
    let item = DefinitionItem::of_stored(&row, &stored::own_workflows(&config), &config);
    let status = if shown.entered.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let content = stored_view(&row, &item, place.as_deref(), &versions, &names, shown);
    Ok(page(admin, DefinitionList::PATH, status, id, content))
}

/// Returns the links to what belongs to a workflow.
fn links(id: &str) -> impl IntoView + use<> {
    let runs = format!("/admin/workflows?workflow={}", query_encoded(id));
    view! {
        <p class="cw-admin-links">
            {link(runs, "Runs")}" "{link(format!("{}/yaml", page_path(id)), "Export as YAML")}
        </p>
    }
}

fn config_view(id: &str, place: &str, definition: &Value) -> AnyView {
    let yaml = stored::definition_yaml(definition);
    view! {
        <section class="cw-account-part" aria-label="About">
            {facts([("Source", text(format!("Config, {place}"))), ("State", text("In use"))])}
            {links(id)}
        </section>
        <section class="cw-account-part" aria-labelledby="definition">
            <h2 id="definition">"Definition"</h2>
            <p class="cw-account-note">"This workflow belongs to the config. Change it in its file."</p>
            <pre class="cw-admin-pre cw-admin-exact" tabindex="0" aria-labelledby="definition">{yaml}</pre>
        </section>
    }
    .into_any()
}

fn stored_view(
    row: &StoredWorkflow,
    item: &DefinitionItem,
    place: Option<&str>,
    versions: &[StoredVersion],
    names: &UserNames,
    Shown { entered, is_done }: Shown,
) -> AnyView {
    let about = [
        ("Source", text("Stored")),
        ("State", text(item.state.name())),
        ("Version", row.version.into_any()),
        ("Saved by", names.view(&row.author)),
        ("Saved (UTC)", text(minute(row.updated_at))),
    ];
    let path = page_path(&row.id);
    let unusable = item.cause.as_ref().map(|cause| format!("This definition is not used: {cause}."));
    let beside = place.map(|place| {
        let compare = format!("{path}/diff?from=config&to={}", row.version);
        view! {
            <p class="cw-account-note">
                {format!("The config has this workflow, too, at {place}. ")}{link(compare, "Compare with the config")}
            </p>
        }
    });
    let entered = entered.unwrap_or_else(|| Entered {
        definition: stored::definition_yaml(&row.definition),
        is_published: row.is_enabled,
        version: Some(row.version),
        ..Entered::default()
    });
    view! {
        {success_message(is_done.then_some("Saved. New runs use this version; runs that were started before keep theirs."))}
        {error_message(unusable)}
        <section class="cw-account-part" aria-label="About">{facts(about)}{beside}{links(&row.id)}</section>
        <section class="cw-account-part" aria-labelledby="change">
            <h2 id="change">"Definition"</h2>
            {form(path.clone(), &entered)}
        </section>
        <section class="cw-account-part" aria-labelledby="versions">
            <h2 id="versions">"Versions"</h2>
            {versions_table(row, versions, names)}
        </section>
        {delete_section(&path, "No run can be started any more, and its triggers stop. Runs that were started go on.", "Delete definition")}
    }
    .into_any()
}

fn versions_table(row: &StoredWorkflow, versions: &[StoredVersion], names: &UserNames) -> AnyView {
    let path = page_path(&row.id);
    let line = |(index, version): (usize, &StoredVersion)| {
        let number = version.version;
        let compare = versions.get(index + 1).map(|before| {
            let before = before.version;
            link(format!("{path}/diff?from={before}&to={number}"), format!("Changes since version {before}"))
        });
        let roll_back = (number != row.version).then(|| {
            view! {
                <form method="post" action=format!("{path}/rollback")>
                    <input type="hidden" name="version" value=row.version.to_string() />
                    <input type="hidden" name="to" value=number.to_string() />
                    <button class="cw-button" aria-label=format!("Roll back to version {number}")>"Roll back"</button>
                </form>
            }
            .into_any()
        });
        [
            number.into_any(),
            names.view(&version.author),
            text(minute(version.created_at)),
            compare.unwrap_or_else(|| text("")),
            roll_back.unwrap_or_else(|| text("Current")),
        ]
    };
    let columns = [Text("Version"), Text("Saved by"), Text("Saved (UTC)"), Text("Compare"), Text("Action")];
    table(columns, versions.iter().enumerate().map(line), "There are no versions.")
}
