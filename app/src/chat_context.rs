//! The state that the chat and the conversation list of a page share. The selected conversation is
//! in the URL (`?conversation=ID`), so that links, reloads and the browser's back button work.

use crate::address::Address;
use crate::prelude::*;
use crate::ui::hidden_characters::{TextKind, text_with_code_points};

/// The parameter in the query string.
const QUERY_KEY: &str = "conversation";

/// The page's selected conversation; a cheap handle.
#[derive(Clone, Copy)]
pub struct ChatContext {
    /// The selected conversation; `None` is a new one without an id. To change it, use
    /// [`ChatContext::select`].
    pub conversation: RwSignal<Option<String>>,
    /// Counts changes of conversations on the server; each change makes the list reload. See
    /// [`ChatContext::notify_changed`].
    pub changed: RwSignal<u64>,
    /// Whether a chat fills the whole page.
    pub(crate) fills_page: RwSignal<bool>,
    /// The title of the selected conversation, if it is known.
    pub(crate) title: RwSignal<Option<String>>,
    /// How many conversations and how many tasks of workflows wait for the user, as far as the page
    /// knows.
    waiting: RwSignal<(usize, usize)>,
    /// The id of the message to scroll to.
    pub target_message: RwSignal<Option<String>>,
    address: Address,
    /// The id that the page's state gives, if the state selects the conversation, and not the URL.
    state_id: Option<Memo<Option<String>>>,
}

impl ChatContext {
    /// Creates the context from the URL.
    pub fn new(address: Address) -> Self {
        let conversation = RwSignal::new(untrack(|| selected_conversation(&address.query())));
        let (changed, wanted) = (RwSignal::new(0), RwSignal::new(None));
        let fills_page = RwSignal::new(false);
        let title = RwSignal::new(None);
        let context = Self {
            conversation,
            changed,
            title,
            waiting: RwSignal::new((0, 0)),
            target_message: wanted,
            fills_page,
            address,
            state_id: None,
        };
        Effect::new(move |_| context.set_conversation(selected_conversation(&address.query())));
        context
    }

    /// Returns the context of a chat whose conversation id comes from the page's state, and follows
    /// that id.
    pub(crate) fn bound_to_state(self, name: Memo<Option<String>>) -> Self {
        let conversation = RwSignal::new(name.get_untracked());
        let context = Self { conversation, state_id: Some(name), ..self };
        Effect::new(move |_| context.set_conversation(name.get()));
        context
    }

    /// Whether the page's state selects the conversation, and not the URL.
    pub(crate) fn is_bound_to_state(&self) -> bool {
        self.state_id.is_some()
    }

    /// Returns the id that the page's state gives, if it gives one. Not tracked.
    pub(crate) fn state_id(&self) -> Option<String> {
        self.state_id?.try_get_untracked().flatten()
    }

    /// Returns the id that a new conversation will get, if the page's state sets one. Not tracked.
    pub(crate) fn preset_id(&self) -> Option<String> {
        self.conversation.get_untracked().filter(|_| self.is_bound_to_state())
    }

    /// Selects another conversation, `None` for a new one. With `replace`, the current entry of the
    /// browser's history is replaced: for a new conversation that has just got its id. Has no effect
    /// while the page's state gives an id: then only the page selects.
    pub fn select(&self, id: Option<String>, replace: bool) {
        if self.is_bound_to_state() {
            if self.state_id().is_none() {
                self.set_conversation(id);
            }
            return;
        }
        let to = untrack(|| self.href(id.as_deref()));
        self.set_conversation(id);
        self.address.navigate(&to, replace);
    }

    /// Returns the link to a conversation on this page, `None` for a new one. The rest of the query
    /// string is kept. Tracked.
    pub fn href(&self, id: Option<&str>) -> String {
        conversation_link(&self.address.path(), &self.address.query(), id)
    }

    /// Sets the title of the selected conversation, `None` for a new one. A chat whose conversation
    /// comes from the page's state does not set the page's title.
    pub(crate) fn set_title(&self, title: Option<&str>) {
        let title = title
            .filter(|_| !self.is_bound_to_state())
            .map(|title| text_with_code_points(title, TextKind::Prose).into_owned());
        if self.title.with_untracked(|known| *known != title) {
            self.title.set(title);
        }
    }

    /// Returns the number of conversations and tasks that wait for the user. Tracked.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.with(|(conversations, tasks)| conversations + tasks)
    }

    /// Sets how many conversations and how many tasks wait for the user.
    pub(crate) fn set_waiting(&self, conversations: usize, tasks: usize) {
        self.waiting.set((conversations, tasks));
    }

    /// Sets how many tasks wait for the user.
    pub(crate) fn set_waiting_tasks(&self, tasks: usize) {
        self.waiting.set((self.waiting.get_untracked().0, tasks));
    }

    fn set_conversation(&self, id: Option<String>) {
        if self.conversation.with_untracked(|now| *now != id) {
            self.conversation.set(id);
        }
    }

    /// Reports that conversations changed on the server: a message was sent, an answer ended, or a
    /// title was set.
    pub fn notify_changed(&self) {
        // `try_`: the task may outlive its page.
        self.changed.try_update(|count| *count += 1);
    }
}

/// Returns the chat context of the page.
pub fn use_chat_context() -> ChatContext {
    expect_context()
}

fn selected_conversation(query: &str) -> Option<String> {
    let value = |pair: &str| pair.strip_prefix(QUERY_KEY)?.strip_prefix('=').map(str::to_owned);
    query.split('&').find_map(value).filter(|id| !id.is_empty())
}

fn conversation_link(path: &str, query: &str, id: Option<&str>) -> String {
    let is_other = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some(QUERY_KEY);
    let selection = id.map(|id| format!("{QUERY_KEY}={id}"));
    let pairs = query.split('&').filter(is_other).chain(selection.as_deref());
    let mut link = path.to_owned();
    for (index, pair) in pairs.enumerate() {
        link.push(if index == 0 { '?' } else { '&' });
        link.push_str(pair);
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_select_a_conversation_and_keep_the_rest_of_the_query() {
        for (query, id, expected) in [
            ("", None, "/support"),
            ("", Some("a1"), "/support?conversation=a1"),
            ("conversation=a1", None, "/support"),
            ("conversation=a1", Some("b2"), "/support?conversation=b2"),
            ("ticket=7&conversation=a1", Some("b2"), "/support?ticket=7&conversation=b2"),
            ("conversation=a1&ticket=%207&flag", None, "/support?ticket=%207&flag"),
        ] {
            assert_eq!(conversation_link("/support", query, id), expected, "{query}");
        }
    }

    #[test]
    fn query_selects_the_conversation() {
        for (query, expected) in [
            ("conversation=a1", Some("a1")),
            ("ticket=7&conversation=a1", Some("a1")),
            ("conversation=", None),
            ("conversations=a1", None),
            ("", None),
        ] {
            assert_eq!(selected_conversation(query).as_deref(), expected, "{query}");
        }
    }
}
