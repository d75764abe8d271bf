//! The state of standing approvals in a chat.

use crate::prelude::*;

/// The standing approvals as known to a chat, and the control of their dialog; a cheap handle.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct StandingApprovalState {
    /// Incremented to open the dialog.
    pub(super) open_requests: RwSignal<u32>,
    /// Whether the user has interacted with the chat; nothing is requested before.
    is_active: RwSignal<bool>,
    are_any: RwSignal<bool>,
}

impl StandingApprovalState {
    /// The state for one chat. The component that shows the chat's conversations provides it,
    /// because a page can contain several chats.
    pub(in crate::agent_chat) fn new() -> Self {
        Self { open_requests: RwSignal::new(0), is_active: RwSignal::new(false), are_any: RwSignal::new(false) }
    }

    /// Whether the dialog was opened; it stays in the document from then on. Tracked.
    pub(in crate::agent_chat) fn was_opened(self) -> Memo<bool> {
        Memo::new(move |_| self.open_requests.get() > 0)
    }

    /// Records that the user interacts with the chat.
    pub(in crate::agent_chat) fn activate(self) {
        if !self.is_active.get_untracked() {
            self.is_active.set(true);
        }
    }

    /// Whether the user has interacted with the chat. Tracked.
    pub(in crate::agent_chat) fn is_active(self) -> Memo<bool> {
        Memo::new(move |_| self.is_active.get())
    }

    /// Whether any standing approvals are known. Tracked.
    pub(in crate::agent_chat) fn are_any(self) -> bool {
        self.are_any.get()
    }

    /// Sets whether there are any. The chat may have been removed by then.
    pub(in crate::agent_chat) fn set_any(self, any: bool) {
        // An unchanged value must not redraw the button, which may have the focus.
        if self.are_any.try_get_untracked() == Some(!any) {
            self.are_any.set(any);
        }
    }

    /// Opens the dialog.
    pub(in crate::agent_chat) fn open(self) {
        self.open_requests.update(|count| *count += 1);
    }
}
