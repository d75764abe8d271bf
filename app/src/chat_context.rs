//! What the chat and the list of conversations on one page tell each other. The selected conversation is the address's
//! `?conversation=ID`, so that a link, a reload and the browser's back button all mean the same.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};
use leptos_router::params::ParamsMap;

/// The name in the query string.
const QUERY_KEY: &str = "conversation";

/// The page's selected conversation; a cheap handle.
#[derive(Clone, Copy)]
pub struct ChatContext {
    /// The selected conversation; `None` is a new one that has no id yet. Set it through [`ChatContext::select`].
    pub conversation: RwSignal<Option<String>>,
    /// Rises when conversations changed on the server; the list loads itself again. See [`ChatContext::bump`].
    pub changed: RwSignal<u64>,
    query: Memo<ParamsMap>,
    path: Memo<String>,
    navigate: Callback<(String, NavigateOptions)>,
}

impl ChatContext {
    /// Reads the address; for a component below the router.
    pub fn new() -> Self {
        let location = use_location();
        let navigate = use_navigate();
        let context = Self {
            conversation: RwSignal::new(selected(&location.query.read_untracked())),
            changed: RwSignal::new(0),
            query: location.query,
            path: location.pathname,
            navigate: Callback::new(move |(to, options): (String, NavigateOptions)| navigate(&to, options)),
        };
        Effect::new(move |_| {
            let id = context.query.with(selected);
            if context.conversation.with_untracked(|now| *now != id) {
                context.conversation.set(id);
            }
        });
        context
    }

    /// Shows another conversation, `None` for a new one. `replace` puts it in the place of the current entry of the browser's
    /// history: for a new conversation that just got its id.
    pub fn select(&self, id: Option<String>, replace: bool) {
        let to = self.query.with_untracked(|query| link(&self.path.read_untracked(), query, id.as_deref()));
        if self.conversation.with_untracked(|now| *now != id) {
            self.conversation.set(id);
        }
        self.navigate.run((to, NavigateOptions { replace, scroll: false, ..NavigateOptions::default() }));
    }

    /// The link to a conversation on this page, `None` for a new one. The rest of the query string stays. Tracked.
    pub fn href(&self, id: Option<&str>) -> String {
        self.query.with(|query| link(&self.path.read(), query, id))
    }

    /// Says that conversations changed on the server: a message was sent, an answer ended, a title came.
    pub fn bump(&self) {
        // `try_`: said by a task that outlived its page, it means nothing.
        self.changed.try_update(|count| *count += 1);
    }
}

impl Default for ChatContext {
    fn default() -> Self {
        Self::new()
    }
}

/// The chat context of the page around.
pub fn use_chat_context() -> ChatContext {
    expect_context()
}

fn selected(query: &ParamsMap) -> Option<String> {
    query.get(QUERY_KEY).filter(|id| !id.is_empty())
}

fn link(path: &str, query: &ParamsMap, id: Option<&str>) -> String {
    let mut query = query.clone();
    query.remove(QUERY_KEY);
    if let Some(id) = id {
        query.insert(QUERY_KEY, id.to_owned());
    }
    format!("{path}{}", query.to_query_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &[(&'static str, &str)], id: Option<&str>, expected: &str) {
        let query = query.iter().map(|(key, value)| (*key, *value)).collect::<ParamsMap>();
        assert_eq!(link("/support", &query, id), expected);
    }

    #[test]
    fn links_select_a_conversation_and_keep_the_rest_of_the_query() {
        check(&[], None, "/support");
        check(&[], Some("a1"), "/support?conversation=a1");
        check(&[("conversation", "a1")], None, "/support");
        check(&[("conversation", "a1")], Some("b2"), "/support?conversation=b2");
        check(&[("ticket", "7"), ("conversation", "a1")], Some("b2"), "/support?ticket=7&conversation=b2");
        check(&[("ticket", "7"), ("conversation", "a1")], None, "/support?ticket=7");
    }

    #[test]
    fn an_empty_id_selects_none() {
        assert_eq!(selected(&ParamsMap::from_iter([("conversation", "")])), None);
        assert_eq!(selected(&ParamsMap::from_iter([("conversation", "a1")])).as_deref(), Some("a1"));
    }
}
