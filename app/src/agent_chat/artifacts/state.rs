//! Which of the files that the agent shows is open.

use crate::libraries::CitationState;
use crate::prelude::*;
use leptos::web_sys::Element;
use wire::file::PresentedFile;

/// A version of a file that the user opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent_chat) struct OpenArtifact {
    /// The path in the workspace.
    pub(super) path: String,
    /// The number of the version.
    pub(super) version: i64,
    /// Where the files of the conversation are: `/api/conversations/ID/files`.
    pub(super) files: String,
}

impl OpenArtifact {
    /// Returns the version of a part; `None` if its address is not that of a version.
    pub(in crate::agent_chat) fn from_file(file: &PresentedFile) -> Option<Self> {
        let files = file.url.strip_suffix(&["/", &file.version.to_string()].concat())?;
        Some(Self { path: file.path.clone(), version: file.version, files: files.to_owned() })
    }
}

/// The file that is open; a cheap handle. The button that opened it is the one with the attribute `aria-expanded`, since signals
/// cannot hold elements on the server.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct ArtifactState {
    pub(super) open: RwSignal<Option<OpenArtifact>>,
    /// The panel with a cited document, which is closed when a file is opened: only one panel fits beside the chat.
    pub(super) citations: CitationState,
}

impl ArtifactState {
    /// The state for one chat.
    pub(in crate::agent_chat) fn new(citations: CitationState) -> Self {
        Self { open: RwSignal::new(None), citations }
    }

    /// Returns the id of an element.
    pub(super) fn element_id(self, name: &str) -> String {
        self.citations.element_id(&["artifact-", name].concat())
    }

    /// Whether any file was opened, so that the code is needed. Tracked.
    pub(in crate::agent_chat) fn is_used(self) -> Memo<bool> {
        Memo::new(move |before| before.copied().unwrap_or_default() || self.open.with(Option::is_some))
    }

    /// Opens a file. `button` is the one that was used.
    pub(in crate::agent_chat) fn open(self, button: &Element, file: OpenArtifact) {
        self.citations.close_panel();
        forget_button();
        // Cannot fail: the name is valid.
        let _ = button.set_attribute("aria-expanded", "true");
        self.open.set(Some(file));
    }

    /// Closes the file; returns the button that opened it.
    pub(super) fn close(self) -> Option<Element> {
        self.open.set(None);
        forget_button()
    }
}

/// Marks the button of the open file as one that opens it.
fn forget_button() -> Option<Element> {
    let button = document().query_selector(".cw-presented [aria-expanded=true]").ok().flatten()?;
    let _ = button.set_attribute("aria-expanded", "false");
    Some(button)
}
