//! The toolbar of the open file: the views, the versions, the buttons.

use super::kind::name;
use super::share::FileSharing;
use super::viewer::{View, Viewer, version_kind};
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::browser;
use crate::ui::dates::local_time;
use crate::ui::icons::{Icon, Shape, icon};
use crate::ui::node::{element, reactive_nodes};
use leptos::ev::{Event, KeyboardEvent};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;
use wire::file::FileVersion;

/// The name of a version in a list.
pub(super) fn version_label(version: &FileVersion, is_newest: bool) -> String {
    let text = if is_newest { Text::ArtifactNewestAt } else { Text::ArtifactVersionAt };
    fill(text, &[&version.version.to_string(), &local_time(version.changed_at)])
}

/// The buttons in the head of the panel.
pub(super) fn buttons(viewer: Viewer, sharing: FileSharing) -> AnyView {
    let copy = move |_| {
        let text = viewer.text.with_untracked(|text| text.as_ref().map(|(_, text)| text.to_string()));
        if text.is_some_and(|text| browser::copy(&text)) {
            viewer.status.set(t(Text::Copied).to_owned());
        }
    };
    let can_copy = move || viewer.text.with(Option::is_some);
    let downloads = reactive_nodes(move || {
        let (Some(open), Some(shown)) = (viewer.state.open.get(), viewer.shown.get()) else { return Vec::new() };
        let link = |label: String, href: String, name: String, shape: Shape| {
            let link = element("a").attr("class", "cw-icon-button").attr("href", href).attr("download", name);
            link.attr("aria-label", label.clone()).attr("title", label).children(vec![icon(shape)])
        };
        let own = name(&shown.path).to_owned();
        let one =
            link(fill(Text::ArtifactDownload, &[&own]), [&shown.url, "?download=true"].concat(), own, Shape::DOWNLOAD);
        let all = [&open.files, "/archive?folder=/outputs"].concat();
        vec![one, link(t(Text::ArtifactDownloadAll).to_owned(), all, "files.zip".to_owned(), Shape::ARCHIVE)]
    });
    view! {
        <button
            type="button"
            class="cw-icon-button"
            hidden=move || !can_copy()
            aria-label=t(Text::ArtifactCopy)
            title=t(Text::ArtifactCopy)
            on:click=copy
        >
            <Icon of=Shape::COPY />
        </button>
        <span class="cw-artifact-downloads">{downloads}</span>
        {sharing.button()}
        <button
            type="button"
            class="cw-icon-button cw-artifact-widen"
            aria-pressed=move || Some(viewer.is_wide.get().to_string())
            aria-label=t(Text::ArtifactFull)
            title=t(Text::ArtifactFull)
            on:click=move |_| viewer.is_wide.update(|is_wide| *is_wide = !*is_wide)
        >
            <Icon of=Shape::WIDEN />
        </button>
    }
    .into_any()
}

/// The list of versions. The newest one is followed while the agent writes.
pub(super) fn version_list(viewer: Viewer) -> AnyView {
    let options = reactive_nodes(move || {
        let shown = viewer.shown.get().map(|shown| shown.version);
        viewer.versions.with(|all| {
            let option = |(at, version): (usize, &FileVersion)| {
                let option = element("option").attr("value", version.version.to_string());
                let option = if Some(version.version) == shown { option.attr("selected", "") } else { option };
                option.text(version_label(version, at == 0))
            };
            all.iter().enumerate().map(option).collect()
        })
    });
    let chosen = move |event: Event| {
        if let Ok(number) = event_target_value(&event).parse() {
            viewer.choose(number);
        }
    };
    let value = move || viewer.shown.with(|shown| shown.as_ref().map(|shown| shown.version.to_string()));
    view! {
        <select
            class="cw-artifact-select"
            hidden=move || viewer.versions.with(Vec::is_empty)
            aria-label=t(Text::ArtifactVersion)
            prop:value=move || value().unwrap_or_default()
            on:change=chosen
        >
            {options}
        </select>
    }
    .into_any()
}

/// The tabs that choose how the file is shown.
pub(super) fn tabs(viewer: Viewer) -> AnyView {
    let has = Memo::new(move |_| {
        viewer.shown.with(|shown| shown.as_ref().map(version_kind).map(|kind| (kind.has_preview(), kind.is_text())))
    });
    let views = move || {
        let (has_preview, is_text) = has.get().unwrap_or_default();
        let views = [(View::Preview, has_preview), (View::Source, is_text), (View::Changes, is_text)];
        views.into_iter().filter(|(_, is_there)| *is_there).map(|(view, _)| view).collect::<Vec<_>>()
    };
    let tabs = move || {
        let views = views();
        let tab = |view: View| tab(viewer, view, views.clone());
        views.iter().copied().map(tab).collect_view()
    };
    view! {
        <div class="cw-tab-list cw-artifact-tabs" role="tablist" aria-label=t(Text::ArtifactViews)>
            {tabs}
        </div>
    }
    .into_any()
}

fn tab_id(viewer: Viewer, view: View) -> String {
    viewer.state.element_id(match view {
        View::Preview => "preview",
        View::Source => "source",
        View::Changes => "changes",
    })
}

/// The id of the tab that is selected. Tracked.
pub(super) fn selected_tab(viewer: Viewer) -> String {
    tab_id(viewer, viewer.view.get())
}

fn tab(viewer: Viewer, view: View, views: Vec<View>) -> AnyView {
    let text = match view {
        View::Preview => Text::ArtifactPreview,
        View::Source => Text::Source,
        View::Changes => Text::ArtifactChanges,
    };
    let is_selected = move || viewer.view.get() == view;
    let key = move |event: KeyboardEvent| {
        let (Some(at), count) = (views.iter().position(|other| *other == view), views.len()) else { return };
        let is_rtl = is_rtl(&event);
        let to = match event.key().as_str() {
            "ArrowLeft" if is_rtl => (at + 1) % count,
            "ArrowRight" if is_rtl => (at + count - 1) % count,
            "ArrowRight" | "ArrowDown" => (at + 1) % count,
            "ArrowLeft" | "ArrowUp" => (at + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        viewer.view.set(views[to]);
        focus(&tab_id(viewer, views[to]));
    };
    view! {
        <button
            type="button"
            class="cw-tab"
            role="tab"
            id=tab_id(viewer, view)
            aria-controls=viewer.state.element_id("content")
            aria-selected=move || Some(is_selected().to_string())
            tabindex=move || Some(if is_selected() { "0" } else { "-1" }.to_owned())
            on:click=move |_| viewer.view.set(view)
            on:keydown=key
        >
            {t(text)}
        </button>
    }
    .into_any()
}

/// Whether the page is read from right to left where a key was pressed.
fn is_rtl(event: &KeyboardEvent) -> bool {
    let tab = event.current_target().and_then(|tab| tab.dyn_into::<Element>().ok());
    let around = tab.and_then(|tab| tab.closest("[dir]").ok().flatten());
    around.and_then(|around| around.get_attribute("dir")).as_deref() == Some("rtl")
}

/// The note on an older version, and its buttons.
pub(super) fn old_version(viewer: Viewer) -> AnyView {
    let is_old = Memo::new(move |_| viewer.is_old());
    let note = move || {
        is_old.get().then(|| {
            let newest = move |_| viewer.show(None);
            view! {
                <div class="cw-artifact-old">
                    <span>{t(Text::ArtifactOld)}</span>
                    <button
                        type="button"
                        class="cw-button"
                        aria-disabled=move || viewer.is_restoring.get().then(|| "true".to_owned())
                        on:click=move |_| viewer.restore()
                    >
                        {t(Text::ArtifactRestore)}
                    </button>
                    <button type="button" class="cw-link" on:click=newest>
                        {t(Text::ArtifactShowNewest)}
                    </button>
                </div>
            }
            .into_any()
        })
    };
    note.into_any()
}
