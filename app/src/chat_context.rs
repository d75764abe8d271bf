//! What the chat and the list of conversations on one page tell each other. The selected conversation is the address's
//! `?conversation=ID`, so that a link, a reload and the browser's back button all mean the same.

use crate::address::Address;
use crate::prelude::*;
use crate::visible::{Kind, plain};

/// The name in the query string.
const QUERY_KEY: &str = "conversation";

/// The page's selected conversation; a cheap handle.
#[derive(Clone, Copy)]
pub struct ChatContext {
    /// The selected conversation; `None` is a new one that has no id yet. Set it through [`ChatContext::select`].
    pub conversation: RwSignal<Option<String>>,
    /// Rises when conversations changed on the server; the list loads itself again. See [`ChatContext::bump`].
    pub changed: RwSignal<u64>,
    /// Whether a chat takes the whole page.
    pub(crate) fills_page: RwSignal<bool>,
    /// The title of the selected conversation, as far as it is known.
    pub(crate) title: RwSignal<Option<String>>,
    /// The message that the reader is being led to.
    pub wanted: RwSignal<Option<String>>,
    address: Address,
    /// The page's state says which conversation is shown, and not its address.
    pub(crate) is_named: bool,
}

impl ChatContext {
    /// Reads the address.
    pub fn new(address: Address) -> Self {
        let conversation = RwSignal::new(untrack(|| selected(&address.query())));
        let (changed, wanted) = (RwSignal::new(0), RwSignal::new(None));
        let fills_page = RwSignal::new(false);
        let title = RwSignal::new(None);
        let context = Self { conversation, changed, title, wanted, fills_page, address, is_named: false };
        Effect::new(move |_| context.show(selected(&address.query())));
        context
    }

    /// The context of a chat whose conversation is named by the page (L-28), whenever that name changes.
    pub(crate) fn named(self, name: Memo<Option<String>>) -> Self {
        let conversation = RwSignal::new(name.get_untracked());
        let context = Self { conversation, is_named: true, ..self };
        Effect::new(move |_| context.show(name.get()));
        context
    }

    /// The id with which the next conversation begins, where the page has named it. Not tracked.
    pub(crate) fn given(&self) -> Option<String> {
        self.conversation.get_untracked().filter(|_| self.is_named)
    }

    /// Shows another conversation, `None` for a new one. `replace` puts it in the place of the current entry of the browser's
    /// history: for a new conversation that just got its id.
    pub fn select(&self, id: Option<String>, replace: bool) {
        if self.is_named {
            return self.show(id);
        }
        let to = untrack(|| self.href(id.as_deref()));
        self.show(id);
        self.address.go(&to, replace);
    }

    /// The link to a conversation on this page, `None` for a new one. The rest of the query string stays. Tracked.
    pub fn href(&self, id: Option<&str>) -> String {
        link(&self.address.path(), &self.address.query(), id)
    }

    /// Learns the title of a conversation, `None` of a new one. Only that of the page's own selection is the page's.
    pub(crate) fn learn_title(&self, title: Option<&str>) {
        let title = title.filter(|_| !self.is_named).map(|title| plain(title, Kind::Prose).into_owned());
        if self.title.with_untracked(|known| *known != title) {
            self.title.set(title);
        }
    }

    fn show(&self, id: Option<String>) {
        if self.conversation.with_untracked(|now| *now != id) {
            self.conversation.set(id);
        }
    }

    /// Says that conversations changed on the server: a message was sent, an answer ended, a title came.
    pub fn bump(&self) {
        // `try_`: said by a task that outlived its page, it means nothing.
        self.changed.try_update(|count| *count += 1);
    }
}

/// The chat context of the page around.
pub fn use_chat_context() -> ChatContext {
    expect_context()
}

fn selected(query: &str) -> Option<String> {
    let value = |pair: &str| pair.strip_prefix(QUERY_KEY)?.strip_prefix('=').map(str::to_owned);
    query.split('&').find_map(value).filter(|id| !id.is_empty())
}

fn link(path: &str, query: &str, id: Option<&str>) -> String {
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
            assert_eq!(link("/support", query, id), expected, "{query}");
        }
    }

    #[test]
    fn the_query_selects() {
        for (query, expected) in [
            ("conversation=a1", Some("a1")),
            ("ticket=7&conversation=a1", Some("a1")),
            ("conversation=", None),
            ("conversations=a1", None),
            ("", None),
        ] {
            assert_eq!(selected(query).as_deref(), expected, "{query}");
        }
    }
}
