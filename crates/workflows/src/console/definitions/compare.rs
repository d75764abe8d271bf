//! The page that compares two versions of a definition, or one with the config.

use super::{DefinitionList, page_path};
use crate::stored::{self, DiffLine, DiffSide, LineChange};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::filters::options_field;
use web::admin::list::List;
use web::admin::{Admin, PageError, from_store_error, page};
use web::html::link;
use wire::UserError;

/// The versions to compare.
#[derive(Deserialize)]
pub(super) struct CompareQuery {
    from: String,
    to: String,
}

/// `GET /admin/workflow-definitions/{id}/diff`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Query(query): Query<CompareQuery>,
) -> Result<Response, PageError> {
    let side = |text: &str| DiffSide::parse(text).ok_or_else(UserError::not_found);
    let (from, to) = (side(&query.from)?, side(&query.to)?);
    let lines = stored::diff(&context, &id, from, to).await?;
    let versions = stored::versions(&context.store, &id).await.map_err(from_store_error)?;
    let own = stored::in_config(&context.current.config(), &id).map(|_| DiffSide::Config);
    let sides: Vec<_> = versions.iter().map(|version| DiffSide::Version(version.version)).chain(own).collect();
    let content = view! {
        <form class="cw-admin-filter" method="get" aria-label="Versions to compare">
            {side_field("from", "From", &sides, from)}
            {side_field("to", "To", &sides, to)}
            <button class="cw-button">"Compare"</button>
        </form>
        <section class="cw-account-part" aria-labelledby="changes">
            <h2 id="changes">{format!("From {} to {}", from.name(), to.name())}</h2>
            {lines_view(lines)}
        </section>
        <p class="cw-admin-links">{link(page_path(&id), "Back to the definition")}</p>
    };
    Ok(page(&admin, DefinitionList::PATH, StatusCode::OK, &format!("Changes of {id}"), content))
}

fn side_field(name: &'static str, label: &'static str, sides: &[DiffSide], chosen: DiffSide) -> AnyView {
    let option = |side: &DiffSide| {
        view! { <option value=side.key() selected={*side == chosen}>{side.name()}</option> }
    };
    options_field(name, label, sides.iter().map(option).collect_view())
}

/// Renders the lines. A sign before each says how it has changed, so color is not needed to read them.
fn lines_view(lines: Vec<DiffLine>) -> AnyView {
    if lines.is_empty() {
        return view! { <p class="cw-account-note">"The definitions are equal."</p> }.into_any();
    }
    let line = |DiffLine { change, text }: DiffLine| match change {
        LineChange::Same => format!("  {text}\n").into_any(),
        LineChange::Gap => "  …\n".into_any(),
        LineChange::Added => view! { <ins>{format!("+ {text}")}</ins>"\n" }.into_any(),
        LineChange::Removed => view! { <del>{format!("- {text}")}</del>"\n" }.into_any(),
    };
    view! {
        <pre class="cw-admin-pre cw-admin-exact cw-admin-diff" tabindex="0" aria-labelledby="changes">
            {lines.into_iter().map(line).collect_view()}
        </pre>
    }
    .into_any()
}
