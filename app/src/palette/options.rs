//! The entries of the palette: conversations, agents, pages and commands.

use super::{PaletteDialog, PaletteState};
use crate::actions::{Actions, MessageStatus};
use crate::address::Address;
use crate::agent_conversations::highlight_result;
use crate::api::transport::http::{self, Method};
use crate::api::{list_conversations, page_links, search_conversations};
use crate::chat_context::ChatContext;
use crate::pages::account::{AccountLink, account_link};
use crate::pages::{CurrentPage, drawer::close_drawers};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::Shape;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlElement;
use serde_json::{Value, json};
use std::time::Duration;
use wire::api::ConversationSummary;
use wire::organize::{ListFilter, SearchHit};
use wire::page::PageLink;

/// The pause in typing that starts the search.
const TYPING_PAUSE: Duration = Duration::from_millis(200);
/// The most entries of a group.
const MAX_IN_GROUP: usize = 8;
/// The most conversations while nothing is typed, so that the agents are in view.
const MAX_NEWEST: usize = 5;
/// How often to look for the composer.
const FOCUS_ATTEMPTS: u32 = 20;
/// The time between two looks.
const FOCUS_INTERVAL: Duration = Duration::from_millis(100);

/// The groups, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Conversations,
    Agents,
    Pages,
    Commands,
}

impl Group {
    pub(super) const ALL: [Self; 4] = [Self::Conversations, Self::Agents, Self::Pages, Self::Commands];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Conversations => t(Text::Conversations),
            Self::Agents => t(Text::HomeAgents),
            Self::Pages => t(Text::HomePages),
            Self::Commands => t(Text::PaletteCommands),
        }
    }
}

/// An entry of the palette.
#[derive(Clone, PartialEq)]
pub(super) struct PaletteOption {
    pub(super) group: Group,
    pub(super) title: String,
    pub(super) about: Option<String>,
    pub(super) icon: Shape,
    action: Action,
}

/// The action of an entry.
#[derive(Clone, PartialEq)]
enum Action {
    /// Goes to a page of the app.
    Page(String),
    /// Opens a conversation that the search has found in a message.
    Result(String, SearchHit),
    /// Goes to a document without the app.
    Document(String),
    /// Hands the open conversation over to an agent, and goes to a page with it.
    HandOver {
        agent_id: String,
        page_id: String,
    },
    /// Changes the theme, as its button does.
    Theme,
    Shortcuts,
}

/// The state of the palette; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct PaletteSearch {
    /// The text in the field.
    pub(super) text: RwSignal<String>,
    /// Whether something could not be loaded.
    pub(super) failed: RwSignal<bool>,
    pages: RwSignal<Vec<PageLink>>,
    /// The newest conversations.
    newest: RwSignal<Vec<ConversationSummary>>,
    /// The results of the last search, which may be for an earlier text.
    found: RwSignal<Vec<SearchHit>>,
    chat: ChatContext,
    address: Address,
    page: CurrentPage,
    actions: Actions,
}

impl PaletteSearch {
    /// Creates the state, without anything loaded.
    pub(super) fn new() -> Self {
        Self {
            text: RwSignal::new(String::new()),
            failed: RwSignal::new(false),
            pages: RwSignal::new(Vec::new()),
            newest: RwSignal::new(Vec::new()),
            found: RwSignal::new(Vec::new()),
            chat: expect_context(),
            address: expect_context(),
            page: expect_context(),
            actions: expect_context(),
        }
    }

    /// Empties the field, and loads pages and conversations again.
    pub(super) fn begin(self) {
        self.set_text(String::new());
        self.failed.set(false);
        spawn_local(async move {
            match page_links().await {
                Ok(pages) => drop(self.pages.try_set(pages)),
                Err(_) => drop(self.failed.try_set(true)),
            }
        });
        spawn_local(async move {
            match list_conversations(ListFilter::default(), None).await {
                Ok(list) => drop(self.newest.try_set(list.items)),
                Err(_) => drop(self.failed.try_set(true)),
            }
        });
    }

    /// Sets the text, and searches conversations when the user pauses.
    pub(super) fn set_text(self, text: String) {
        self.text.set(text.clone());
        if text.trim().is_empty() {
            return self.found.set(Vec::new());
        }
        let is_meant = move |text: &String| self.text.try_with_untracked(|now| now == text) == Some(true);
        let ask = move || {
            if !is_meant(&text) {
                return;
            }
            spawn_local(async move {
                let answer = search_conversations(text.clone(), None).await;
                if is_meant(&text) {
                    match answer {
                        Ok(page) => self.found.set(page.items),
                        Err(_) => self.failed.set(true),
                    }
                }
            });
        };
        set_timeout(ask, TYPING_PAUSE);
    }

    /// Returns the entries that match the text, group by group. Tracked.
    pub(super) fn options(self) -> Vec<PaletteOption> {
        let words: Vec<String> =
            self.text.with(|text| text.to_lowercase().split_whitespace().map(str::to_owned).collect());
        let fits = |option: &PaletteOption| {
            let text = format!("{} {}", option.title, option.about.as_deref().unwrap_or_default()).to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let pages: Vec<_> = self.pages.with(|pages| pages.iter().map(page_option).collect());
        let of_pages = |group: Group| {
            let in_group = pages.iter().filter(move |option| option.group == group && fits(option));
            in_group.take(MAX_IN_GROUP).cloned().collect::<Vec<_>>()
        };
        let (agents, others) = (of_pages(Group::Agents), of_pages(Group::Pages));
        let mut commands: Vec<_> = self.commands().into_iter().filter(fits).collect();
        // Only when they are looked for, because there is one for each agent.
        if !words.is_empty() {
            commands.extend(self.hand_overs().into_iter().filter(fits).take(MAX_IN_GROUP));
        }
        [self.conversations(&words), agents, others, commands].concat()
    }

    /// The newest conversations with the words in their titles, and then the results of the server.
    fn conversations(self, words: &[String]) -> Vec<PaletteOption> {
        let named = self.newest.with(|newest| {
            let fits = |title: &str| {
                let title = title.to_lowercase();
                words.iter().all(|word| title.contains(word.as_str()))
            };
            newest.iter().filter(|one| fits(&one.title)).cloned().collect::<Vec<_>>()
        });
        let found = self.found.get();
        let is_new = |hit: &&SearchHit| named.iter().all(|one| one.id != hit.conversation.id);
        let results = found.iter().filter(is_new).map(|hit| {
            let action = Action::Result(self.href(&hit.conversation), hit.clone());
            conversation_option(&hit.conversation, action)
        });
        let named = named.iter().map(|one| conversation_option(one, Action::Page(self.href(one))));
        named.chain(results).take(if words.is_empty() { MAX_NEWEST } else { MAX_IN_GROUP }).collect()
    }

    /// The link to a conversation: on this page, or on the page where it was started.
    fn href(self, conversation: &ConversationSummary) -> String {
        if self.is_here(conversation) {
            untrack(|| self.chat.href(Some(&conversation.id)))
        } else {
            format!("/{}?conversation={}", conversation.page_id, conversation.id)
        }
    }

    fn is_here(self, conversation: &ConversationSummary) -> bool {
        self.page.0.with_value(|page| page.id == conversation.page_id)
    }

    fn commands(self) -> Vec<PaletteOption> {
        let command = |title: String, icon: Shape, action: Action| PaletteOption {
            group: Group::Commands,
            title,
            about: None,
            icon,
            action,
        };
        let new = untrack(|| self.chat.href(None));
        let mut commands = vec![command(t(Text::NewConversation).to_owned(), Shape::PLUS, Action::Page(new))];
        commands.push(command(t(Text::ToStartPage).to_owned(), Shape::LINK, Action::Page("/".to_owned())));
        // The button says which theme comes next.
        if let Some(label) = theme_button().and_then(|button| button.get_attribute("aria-label")) {
            commands.push(command(label, Shape::SUN, Action::Theme));
        }
        match account_link() {
            Some(AccountLink::Account { href, console, .. }) => {
                let console = console.map(|href| (Text::AdminConsole, href));
                for (name, href) in [Some((Text::YourAccount, href)), console].into_iter().flatten() {
                    commands.push(command(t(name).to_owned(), Shape::LINK, Action::Document(href)));
                }
            }
            Some(AccountLink::SignIn { href }) => {
                commands.push(command(t(Text::SignIn).to_owned(), Shape::LINK, Action::Document(href)));
            }
            None => {}
        }
        commands.push(command(t(Text::PaletteKeys).to_owned(), Shape::INFO, Action::Shortcuts));
        commands
    }

    /// The agents of other pages, to which the open conversation can be handed over. A page whose state selects the
    /// conversation keeps it. Tracked.
    fn hand_overs(self) -> Vec<PaletteOption> {
        if self.chat.is_bound_to_state() || self.chat.conversation.with(Option::is_none) {
            return Vec::new();
        }
        let option = |page: &PageLink| {
            let action = Action::HandOver { agent_id: page.agent_id.clone()?, page_id: page.id.clone() };
            let title = fill(Text::PaletteHandOver, &[&page.title]);
            Some(PaletteOption { group: Group::Commands, title, about: None, icon: Shape::CONVERSATIONS, action })
        };
        let here = self.page.0.with_value(|page| page.id.clone());
        self.pages.with(|pages| pages.iter().filter(|page| page.id != here).filter_map(option).collect())
    }

    /// Runs the action of an entry. The palette is closed before.
    pub(super) fn run(self, option: PaletteOption, state: PaletteState) {
        match option.action {
            Action::Page(href) => go_to(self.address, &href),
            Action::Result(href, hit) => {
                let is_here = self.is_here(&hit.conversation);
                go_to(self.address, &href);
                if is_here {
                    self.chat.target_message.set(hit.message_id.clone());
                    highlight_result(&hit);
                }
            }
            // Fails only for an address that is not valid.
            Action::Document(href) => drop(window().location().assign(&href)),
            Action::HandOver { agent_id, page_id } => {
                if let Some(id) = self.chat.conversation.get_untracked() {
                    hand_over(id, agent_id, page_id, self.actions);
                }
            }
            Action::Theme => {
                if let Some(button) = theme_button() {
                    button.click();
                }
            }
            Action::Shortcuts => state.0.set(Some(PaletteDialog::Shortcuts)),
        }
    }
}

/// Goes to a page of the app.
pub(crate) fn go_to(address: Address, href: &str) {
    close_drawers();
    address.navigate(href, false);
    focus_composer(FOCUS_ATTEMPTS);
}

/// Hands a conversation over to an agent, and loads the page on which it goes on.
pub(crate) fn hand_over(conversation: String, agent_id: String, page_id: String, actions: Actions) {
    spawn_local(async move {
        let body = json!({ "agentId": agent_id, "pageId": page_id });
        match http::send::<Value>(Method::Post, &format!("/api/conversations/{conversation}/agent"), &body).await {
            // Fails only for an address that is not valid.
            Ok(_) => drop(window().location().assign(&format!("/{page_id}?conversation={conversation}"))),
            Err(error) => actions.notify(error_text(&error.0), MessageStatus::Error, None),
        }
    });
}

fn page_option(page: &PageLink) -> PaletteOption {
    let (group, icon) = if page.is_chat { (Group::Agents, Shape::PLUS) } else { (Group::Pages, Shape::FORM) };
    let title = if page.is_chat { fill(Text::PaletteNewWith, &[&page.title]) } else { page.title.clone() };
    PaletteOption { group, title, about: page.description.clone(), icon, action: Action::Page(format!("/{}", page.id)) }
}

fn conversation_option(conversation: &ConversationSummary, action: Action) -> PaletteOption {
    let title = text_with_code_points(&conversation.title, TextKind::Prose).into_owned();
    PaletteOption { group: Group::Conversations, title, about: None, icon: Shape::CONVERSATIONS, action }
}

fn theme_button() -> Option<HtmlElement> {
    document().query_selector(".cw-theme").ok().flatten()?.dyn_into().ok()
}

/// Focuses the composer, because the user is likely to write next; again when it was replaced by that of
/// another conversation or page, which takes a moment. Takes the focus from nothing else, and not where
/// it would open a keyboard on the screen.
fn focus_composer(attempts: u32) {
    let Some(attempts) = attempts.checked_sub(1) else { return };
    let has_pointer = window().match_media("(hover: hover)").ok().flatten().is_some_and(|query| query.matches());
    let focused = document().active_element();
    if has_pointer && focused.is_none_or(|focused| focused.tag_name() == "BODY") {
        let field = document().query_selector(".cw-composer textarea").ok().flatten();
        if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlElement>().ok()) {
            // Fails for an element that is not in the document any more.
            let _ = field.focus();
        }
    }
    set_timeout(move || focus_composer(attempts), FOCUS_INTERVAL);
}
