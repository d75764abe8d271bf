//! What `/` at the beginning of a message offers, and `@` at the beginning of a word: commands of the config, and the agents below this one.

use super::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};

/// What fits what is typed, and which of it is chosen; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Commands {
    session: Session,
    /// As long as one is being typed.
    fitting: Memo<Vec<Offer>>,
    chosen: RwSignal<usize>,
    /// What stood in the composer when the list was put away.
    dismissed: RwSignal<Option<String>>,
}

/// Something that can be taken.
#[derive(Clone, PartialEq)]
struct Offer {
    /// With its sign in front.
    name: String,
    about: String,
    /// What stands in the composer then.
    text: String,
}

impl Commands {
    /// Those of the composer.
    pub(super) fn new(session: Session) -> Self {
        let dismissed = RwSignal::new(None);
        let fitting = Memo::new(move |_| {
            let draft = session.draft.get();
            match dismissed.with(|text| text.as_ref() == Some(&draft)) {
                true => Vec::new(),
                false => offers(session, &draft),
            }
        });
        Self { session, fitting, chosen: RwSignal::new(0), dismissed }
    }

    /// A key of the field; whether it was for the list.
    pub(super) fn key(self, key: &str) -> bool {
        let count = self.fitting.with_untracked(Vec::len);
        if count == 0 {
            return false;
        }
        let chosen = self.chosen.get_untracked().min(count - 1);
        match key {
            "ArrowDown" => self.chosen.set((chosen + 1) % count),
            "ArrowUp" => self.chosen.set((chosen + count - 1) % count),
            "Enter" | "Tab" => self.take(chosen),
            "Escape" => self.dismissed.set(Some(self.session.draft.get_untracked())),
            _ => return false,
        }
        true
    }

    /// Puts what is offered at this place of the list into the composer.
    fn take(self, place: usize) {
        let text = self.fitting.with_untracked(|fitting| fitting.get(place).map(|offer| offer.text.clone()));
        if let Some(text) = text {
            self.chosen.set(0);
            // It may begin with a sign itself.
            self.dismissed.set(Some(text.clone()));
            self.session.draft.set(text);
            self.session.focus.update(|count| *count += 1);
        }
    }

    /// The id of the chosen one, for the field. Tracked.
    pub(super) fn active(self, list_id: &str) -> Option<String> {
        let count = self.fitting.with(Vec::len);
        (count > 0).then(|| format!("{list_id}-{}", self.chosen.get().min(count - 1)))
    }

    /// The list.
    pub(super) fn view(self, list_id: String) -> AnyView {
        (move || {
            let fitting = self.fitting.get();
            let label = if fitting.first()?.name.starts_with('@') { t(Text::Agents) } else { t(Text::Commands) };
            let count = fitting.len();
            let option = |(place, offer): (usize, Offer)| {
                let id = format!("{list_id}-{place}");
                let selected = move || Some((self.chosen.get().min(count - 1) == place).to_string());
                view! {
                    <li
                        id=id
                        role="option"
                        aria-selected=selected
                        on:pointerdown=move |event: leptos::ev::PointerEvent| {
                            // The focus stays in the field.
                            event.prevent_default();
                            self.take(place);
                        }
                    >
                        <span class="cw-command-name" dir="ltr">{offer.name}</span>
                        <span class="cw-command-about" dir="auto">{offer.about}</span>
                    </li>
                }
                .into_any()
            };
            let options = fitting.into_iter().enumerate().map(option).collect_view().into_any();
            Some(
                view! {
                    <ul class="cw-commands" role="listbox" id=list_id.clone() aria-label=label>
                        {options}
                    </ul>
                }
                .into_any(),
            )
        })
        .into_any()
    }
}

/// What fits what stands in the composer.
fn offers(session: Session, draft: &str) -> Vec<Offer> {
    // Names are short words of a config; the tables of all alphabets would be loaded by every page.
    let fits = |name: &str, typed: &str| name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    if let Some(typed) = draft.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace)) {
        return session.sender(|sender| {
            let fitting = sender.commands.iter().filter(|command| fits(&command.name, typed));
            let offer = |name: &String, about: &Option<String>, text: &String| Offer {
                name: format!("/{name}"),
                about: about.clone().unwrap_or_default(),
                text: text.clone(),
            };
            fitting.map(|command| offer(&command.name, &command.description, &command.text)).collect()
        });
    }
    let word = draft.rfind(char::is_whitespace).map_or(draft, |at| draft[at..].trim_start());
    let Some(typed) = word.strip_prefix('@') else { return Vec::new() };
    let before = &draft[..draft.len() - word.len()];
    session.sender(|sender| {
        let fitting = sender.mentions.iter().filter(|agent| fits(&agent.name, typed));
        let offer = |name: &String, about: &String| Offer {
            name: format!("@{name}"),
            about: about.clone(),
            text: format!("{before}@{name} "),
        };
        fitting.map(|agent| offer(&agent.name, &agent.description)).collect()
    })
}
