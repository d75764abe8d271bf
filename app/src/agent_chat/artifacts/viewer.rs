//! The loaded data of the open file: its versions, and the texts of those that are shown.

use super::kind::Kind;
use super::state::{ArtifactState, OpenArtifact};
use crate::address::encode_component;
use crate::agent_chat::message::state::PartKind;
use crate::agent_chat::session::Session;
use crate::api::ApiError;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, fill};
use leptos::task::spawn_local;
use std::sync::Arc;
use wire::file::{FileVersion, FileVersions, PRESENTED};
use wire::{UiPart, UserError};

/// How the file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Preview,
    Source,
    /// The lines in which it differs from another version.
    Changes,
}

/// Returns how a version is shown.
pub(super) fn version_kind(version: &FileVersion) -> Kind {
    Kind::of(&version.path, &version.media_type, version.size)
}

/// A text with the number of its version.
pub(super) type VersionText = (i64, Arc<str>);

/// The open file; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Viewer {
    pub(super) state: ArtifactState,
    /// The newest one first.
    pub(super) versions: RwSignal<Vec<FileVersion>>,
    /// The number of the version that the user chose; `None` to follow the newest one.
    pub(super) chosen: RwSignal<Option<i64>>,
    /// The version that is shown.
    pub(super) shown: Memo<Option<FileVersion>>,
    pub(super) text: RwSignal<Option<VersionText>>,
    pub(super) view: RwSignal<View>,
    /// The number of the version with which the shown one is compared; `None` for the one before it.
    pub(super) compared: RwSignal<Option<i64>>,
    pub(super) compared_text: RwSignal<Option<VersionText>>,
    pub(super) error: RwSignal<Option<ApiError>>,
    /// Changes when texts that are missing are to be requested.
    attempt: RwSignal<u32>,
    /// The number of the newest request for the versions.
    turn: RwSignal<u32>,
    /// The text of the last event for screen readers.
    pub(super) status: RwSignal<String>,
    pub(super) is_wide: RwSignal<bool>,
    pub(super) is_restoring: RwSignal<bool>,
}

impl Viewer {
    /// Shows the file that is open, whichever that is.
    pub(super) fn new(session: Session, state: ArtifactState) -> Self {
        let (versions, chosen) = (RwSignal::new(Vec::<FileVersion>::new()), RwSignal::new(None));
        let shown = Memo::new(move |_| {
            versions.with(|all| match chosen.get() {
                Some(number) => all.iter().find(|version| version.version == number).cloned(),
                None => all.first().cloned(),
            })
        });
        let viewer = Self {
            state,
            versions,
            chosen,
            shown,
            text: RwSignal::new(None),
            view: RwSignal::new(View::Preview),
            compared: RwSignal::new(None),
            compared_text: RwSignal::new(None),
            error: RwSignal::new(None),
            attempt: RwSignal::new(0),
            turn: RwSignal::new(0),
            status: RwSignal::new(String::new()),
            is_wide: RwSignal::new(false),
            is_restoring: RwSignal::new(false),
        };
        Effect::new(move |_| {
            if let Some(open) = state.open.get() {
                untrack(|| viewer.open(open));
            }
        });
        // There is room for one panel.
        Effect::new(move |_| {
            if state.citations.is_open() && untrack(|| state.open.with(Option::is_some)) {
                state.close();
            }
        });
        let activity = Memo::new(move |_| activity(session));
        let mut before = None;
        Effect::new(move |_| {
            let now = activity.get();
            if before.replace(now).is_some_and(|before| before != now) && untrack(|| state.open.with(Option::is_some)) {
                viewer.load_versions();
            }
        });
        Effect::new(move |_| {
            viewer.attempt.track();
            viewer.load_text(shown.get(), viewer.text, move || shown.try_get_untracked().flatten());
        });
        Effect::new(move |_| {
            viewer.attempt.track();
            let other = if viewer.view.get() == View::Changes { viewer.other() } else { None };
            viewer.load_text(other, viewer.compared_text, move || viewer.other_untracked());
        });
        viewer
    }

    fn open(self, open: OpenArtifact) {
        self.error.set(None);
        self.status.set(String::new());
        self.compared.set(None);
        self.versions.set(Vec::new());
        self.text.set(None);
        self.compared_text.set(None);
        self.view.set(View::Preview);
        // Until it is known whether this is the newest one.
        self.chosen.set(Some(open.version));
        self.load_versions();
    }

    /// Loads the list of versions. A version that is the newest one is followed by newer ones.
    pub(super) fn load_versions(self) {
        let Some(open) = self.state.open.get_untracked() else { return };
        let path = [&open.files, "/versions?path=", &encode_component(&open.path)].concat();
        let turn = self.turn.get_untracked().wrapping_add(1);
        self.turn.set(turn);
        spawn_local(async move {
            let loaded = http::get::<FileVersions>(&path).await;
            // Another file may have been opened, or the panel closed; and a later answer is newer than this one.
            if self.state.open.try_get_untracked().flatten().as_ref() != Some(&open)
                || self.turn.try_get_untracked() != Some(turn)
            {
                return;
            }
            match loaded {
                Ok(FileVersions { items }) => self.show_versions(items),
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn show_versions(self, items: Vec<FileVersion>) {
        let was_first = self.versions.with_untracked(Vec::is_empty);
        let newest = items.first().map(|version| version.version);
        if self.versions.with_untracked(|known| *known != items) {
            self.versions.set(items);
        }
        if was_first && self.chosen.get_untracked() == newest {
            self.chosen.set(None);
        }
        if was_first
            && self.shown.with_untracked(|shown| shown.as_ref().is_some_and(|shown| !version_kind(shown).has_preview()))
        {
            self.view.set(View::Source);
        }
        // A file that was deleted has no versions, and an old version may be gone.
        let is_gone = self.shown.with_untracked(Option::is_none);
        let had_error = self.error.with_untracked(Option::is_some);
        self.error.set(is_gone.then(|| UserError::not_found().into()));
        if had_error && !is_gone {
            self.load_missing_texts();
        }
    }

    fn load_missing_texts(self) {
        self.attempt.update(|attempt| *attempt = attempt.wrapping_add(1));
    }

    /// Loads the text of a version, if it has one. `wanted` returns the version of which the text is wanted when it has arrived.
    fn load_text(
        self,
        version: Option<FileVersion>,
        into: RwSignal<Option<VersionText>>,
        wanted: impl Fn() -> Option<FileVersion> + 'static,
    ) {
        let Some(version) = version.filter(|version| version_kind(version).is_text()) else { return into.set(None) };
        let number = version.version;
        if into.with_untracked(|known| known.as_ref().is_some_and(|(known, _)| *known == number)) {
            return;
        }
        spawn_local(async move {
            let loaded = http::text(&version.url).await;
            // The panel may be gone, or show another version.
            if wanted().is_none_or(|wanted| wanted.url != version.url) {
                return;
            }
            match loaded {
                Ok(text) => into.set(Some((number, text.into()))),
                Err(error) => {
                    // The signal still has the text of another version.
                    into.set(None);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// The version with which the shown one is compared. Tracked.
    pub(super) fn other(self) -> Option<FileVersion> {
        let shown = self.shown.get()?.version;
        let compared = self.compared.get().filter(|number| *number != shown);
        self.versions.with(|all| {
            let chosen = compared.and_then(|number| all.iter().find(|version| version.version == number));
            let before = || all.iter().find(|version| version.version < shown);
            let after = || all.iter().rev().find(|version| version.version > shown);
            chosen.or_else(before).or_else(after).cloned()
        })
    }

    fn other_untracked(self) -> Option<FileVersion> {
        // The panel may be gone.
        self.shown.try_get_untracked()?;
        untrack(|| self.other())
    }

    /// Whether an older version than the newest one is shown. Tracked.
    pub(super) fn is_old(self) -> bool {
        let shown = self.shown.get().map(|shown| shown.version);
        shown.is_some() && shown != self.versions.with(|all| all.first().map(|newest| newest.version))
    }

    /// Chooses a version. The newest one is followed by newer ones.
    pub(super) fn choose(self, number: i64) {
        let newest = self.versions.with_untracked(|all| all.first().map(|version| version.version));
        self.show(Some(number).filter(|number| Some(*number) != newest));
    }

    /// Shows a version, or follows the newest one. The text of the one before does not stay until it is there.
    pub(super) fn show(self, chosen: Option<i64>) {
        self.status.set(String::new());
        self.error.set(None);
        self.text.set(None);
        self.chosen.set(chosen);
        self.load_missing_texts();
    }

    /// Makes the shown version the newest one.
    pub(super) fn restore(self) {
        let (Some(open), Some(shown)) = (self.state.open.get_untracked(), self.shown.get_untracked()) else { return };
        if self.is_restoring.get_untracked() {
            return;
        }
        self.is_restoring.set(true);
        let path = [&shown.url, "/restore"].concat();
        spawn_local(async move {
            let restored = http::send::<FileVersion>(Method::Post, &path, &serde_json::Value::Null).await;
            if self.is_restoring.try_set(false).is_some() || self.state.open.get_untracked().as_ref() != Some(&open) {
                return;
            }
            match restored {
                Ok(version) => {
                    let number = version.version;
                    // The list may have it already.
                    if self.versions.with_untracked(|all| all.first().is_some_and(|newest| newest.version < number)) {
                        self.versions.update(|all| all.insert(0, version));
                    }
                    self.chosen.set(None);
                    self.status.set(fill(Text::ArtifactRestored, &[&number.to_string()]));
                    self.load_versions();
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }
}

/// Changes whenever a call of a tool ends or files are shown, after which the open file may have a new version. Tracked.
fn activity(session: Session) -> (usize, usize) {
    let ended = |kind: &PartKind| match kind {
        PartKind::Tool(tool) => tool.with(|tool| tool.is_final()),
        PartKind::Fixed(part) => part.with(|part| matches!(part, UiPart::Data(data) if data.kind == PRESENTED)),
        PartKind::Text(_) | PartKind::Reasoning { .. } => false,
    };
    session.messages.with(|all| {
        let newest = all.last().map(|newest| newest.parts.clone());
        let count = newest.map(|parts| parts.with(|parts| parts.iter().filter(|part| ended(&part.kind)).count()));
        (all.len(), count.unwrap_or_default())
    })
}
