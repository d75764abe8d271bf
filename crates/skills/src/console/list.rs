//! The list of skills.

use super::{PATH, SkillItem, SkillOrigin, TITLE, items};
use crate::archive::MAX_ARCHIVE;
use ::store::Store;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::MenuGroup;
use web::admin::filters::{Choice, check_field, select_field};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::html::link;
use wire::UserError;

/// The list of skills.
pub(super) struct SkillList;

type SkillColumn = Column<SkillItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct SkillQuery {
    /// The state of the skills: `all`, `enabled` or `disabled`.
    #[serde(default)]
    state: SkillState,
}

/// The filter of the list by state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SkillState {
    /// All.
    #[default]
    All,
    /// Skills that agents can have.
    Enabled,
    /// Skills that are disabled.
    Disabled,
}

impl Choice for SkillState {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::All, "all", "All"), (Self::Enabled, "enabled", "Enabled"), (Self::Disabled, "disabled", "Disabled")];
}

impl List for SkillList {
    type State = Context;
    type Query = SkillQuery;
    type Row = SkillItem;

    const PATH: &'static str = PATH;
    const GROUP: MenuGroup = MenuGroup::Agents;
    const TITLE: &'static str = TITLE;
    const SUMMARY: &'static str = "List the skills of the config's folders and the installed ones";
    const EMPTY: &'static str = "No skills match.";
    const NONE_YET: &'static str =
        "There are no skills yet. Install the first one below, or put it into a folder that the config names.";
    const COLUMNS: &'static [SkillColumn] = &[
        SkillColumn::new("Skill", "name", |item| Cell::text(&item.name)).shown_as(|item| match item.origin {
            SkillOrigin::Folder => link(format!("{PATH}/{}/folder", item.name), &item.name),
            SkillOrigin::Installed => link(format!("{PATH}/{}", item.name), &item.name),
        }),
        SkillColumn::new("Description", "description", |item| Cell::text(&item.description)),
        SkillColumn::new("Source", "origin", |item| Cell::text(origin(item.origin))),
        SkillColumn::new("State", "state", |item| Cell::text(state(item.enabled))),
        SkillColumn::new("Findings", "findings", |item| Cell::count(i64::try_from(item.findings).unwrap_or(i64::MAX)))
            .aligned_right(),
        SkillColumn::in_file("digest", |item| Cell::text(item.digest.as_deref().unwrap_or_default())),
        SkillColumn::in_file("installedBy", |item| Cell::text(item.installed_by.as_deref().unwrap_or_default())),
        SkillColumn::new("Installed (UTC)", "installed", |item| Cell::time(item.installed_at)),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &SkillQuery,
        page: &PageRequest,
    ) -> Result<ListPage<SkillItem>, UserError> {
        let mut items = items(context).await?;
        items.retain(|item| match query.state {
            SkillState::All => true,
            SkillState::Enabled => item.enabled,
            SkillState::Disabled => !item.enabled,
        });
        page.page_in(items)
    }

    fn filters(_: &Context, query: &SkillQuery) -> Option<AnyView> {
        Some(select_field("state", "State", query.state).into_any())
    }

    async fn content(_: &Context, _: &SkillQuery, list: ListView) -> Result<AnyView, UserError> {
        Ok(view! {
            {list.into_any()}
            {upload_form(None)}
        }
        .into_any())
    }
}

fn origin(origin: SkillOrigin) -> &'static str {
    match origin {
        SkillOrigin::Folder => "config",
        SkillOrigin::Installed => "installed",
    }
}

fn state(enabled: bool) -> &'static str {
    if enabled { "enabled" } else { "disabled" }
}

/// Renders the form with which a skill is installed, and why the last attempt was refused.
pub(super) fn upload_form(refused: Option<String>) -> impl IntoView {
    let reasons = |reasons: String| {
        let line = |reason: &str| view! { <br />{reason.to_owned()} };
        let lines = reasons.lines().map(line).collect_view();
        view! { <p class="cw-account-problem" role="alert">"The skill was not installed."{lines}</p> }
    };
    let problems = refused.map(reasons);
    let about = format!(
        "A skill is a folder with a SKILL.md, packed as .skill or .zip, up to {} MB. It is checked and scanned, and stays disabled until you enable it.",
        MAX_ARCHIVE >> 20
    );
    view! {
        <section class="cw-account-part" aria-labelledby="install">
            <h2 id="install">"Install a skill"</h2>
            <p class="cw-account-note">{about}</p>
            {problems}
            <form class="cw-account-form" method="post" action=PATH enctype="multipart/form-data">
                <label class="cw-account-field">
                    <span>"SHA-256 of the archive, if you know it"</span>
                    <input name="sha256" autocomplete="off" pattern="[0-9A-Fa-f]{64}" title="64 hexadecimal digits" />
                </label>
                {check_field("replace", "Replace an installed skill with the same name", false)}
                <label class="cw-account-field">
                    <span>"Archive"</span>
                    <input type="file" name="file" accept=".skill,.zip" required />
                </label>
                <button class="cw-button">"Install"</button>
            </form>
        </section>
    }
}
