//! The panel with the open file.

use super::kind::name;
use super::preview::content;
use super::share::FileSharing;
use super::state::ArtifactState;
use super::toolbar::{buttons, old_version, selected_tab, tabs, version_list};
use super::viewer::Viewer;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{element, reactive_nodes};
use crate::ui::side_panel::{PanelParts, focus_element, side_panel};
use wire::error::ErrorCode;

/// The least width in pixels, and the part of the window that the panel takes beyond it; as in the style sheet.
const WIDTH: (f64, f64) = (512.0, 0.5);

/// The panel. It is created when the first file is opened, and stays.
pub(in crate::agent_chat) fn panel(session: Session, state: ArtifactState) -> AnyView {
    let viewer = Viewer::new(session, state);
    let sharing = FileSharing::new(viewer);
    let heading = StoredValue::new(state.element_id("heading"));
    let title = reactive_nodes(move || {
        let Some(open) = state.open.get() else { return Vec::new() };
        let heading = element("h2").attr("id", heading.get_value()).attr("tabindex", "-1").attr("dir", "auto");
        vec![heading.children(visible_nodes(name(&open.path), TextKind::Value))]
    });
    let problem = move || {
        let error = viewer.error.get()?;
        let text = match error.code() {
            ErrorCode::NotFound => t(Text::ArtifactGone).to_owned(),
            _ => error_text(&error.0),
        };
        let again = move |_| viewer.load_versions();
        Some(view! {
            <p class="cw-list-error" role="alert">
                {text}
                <button type="button" class="cw-link" on:click=again>
                    {t(Text::TryAgain)}
                </button>
            </p>
        })
    };
    let is_open = Memo::new(move |_| state.open.with(Option::is_some));
    let shown = move || is_open.get().then(|| content(viewer));
    let title = view! {
        {title}
        {version_list(viewer)}
    };
    let body = view! {
        {tabs(viewer)}
        {old_version(viewer)}
        {problem}
        <p class="cw-artifact-status" role="status">
            {move || viewer.status.get()}
        </p>
        <div
            class="cw-artifact-content"
            role="tabpanel"
            id=state.element_id("content")
            aria-labelledby=move || Some(selected_tab(viewer))
            aria-busy=move || Some((viewer.shown.with(Option::is_none) && viewer.error.with(Option::is_none)).to_string())
        >
            {shown}
        </div>
    };
    let parts = PanelParts {
        class: "cw-artifact",
        heading: heading.get_value(),
        width: |window| (window * WIDTH.1).max(WIDTH.0),
        title: title.into_any(),
        buttons: buttons(viewer, sharing),
        body: body.into_any(),
    };
    let is_shown = Signal::derive(move || state.open.with(Option::is_some));
    let panel = side_panel(parts, is_shown, Callback::new(move |()| focus_element(state.close())));
    view! {
        <div class="cw-artifact-panel" data-wide=move || viewer.is_wide.get().then(String::new)>
            {panel}
            {sharing.dialog()}
        </div>
    }
    .into_any()
}
