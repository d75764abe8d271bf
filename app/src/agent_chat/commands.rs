//! What `/` at the beginning of a message offers.

use super::session::Session;
use crate::erase::{Erase, Erased, attribute, handler, list, optional};
use crate::reactive::{Memo, RwSignal};
use leptos::prelude::*;

/// The commands that fit what is typed, and which of them is chosen; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Commands {
    session: Session,
    /// Their places in the config, as long as one is being typed.
    fitting: Memo<Vec<usize>>,
    chosen: RwSignal<usize>,
    /// What stood in the composer when the list was put away.
    dismissed: RwSignal<Option<String>>,
}

impl Commands {
    /// Those of the composer.
    pub(super) fn new(session: Session) -> Self {
        let dismissed = RwSignal::new(None);
        let fitting = Memo::new(move |_| {
            let draft = session.draft.get();
            let typed = draft.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace));
            let Some(typed) = typed.filter(|_| dismissed.with(|text| text.as_ref() != Some(&draft))) else {
                return Vec::new();
            };
            // Commands are short words of a config; the tables of all alphabets would be loaded by every page.
            let fits = |name: &str| name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
            session.sender(|sender| {
                let all = sender.commands.iter().enumerate();
                all.filter(|(_, command)| fits(&command.name)).map(|(index, _)| index).collect()
            })
        });
        Self { session, fitting, chosen: RwSignal::new(0), dismissed }
    }

    /// Does what a key asks of the list; whether there is a list and it was for it.
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

    /// Puts the text of the command at this place of the list into the composer.
    fn take(self, place: usize) {
        let index = self.fitting.with_untracked(|fitting| fitting.get(place).copied());
        let text = self.session.sender(|sender| sender.commands.get(index?).map(|command| command.text.clone()));
        if let Some(text) = text {
            self.chosen.set(0);
            // It may begin with a slash itself.
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
    pub(super) fn view(self, list_id: String) -> Erased {
        optional(move || {
            let fitting = self.fitting.get();
            if fitting.is_empty() {
                return None;
            }
            let count = fitting.len();
            let commands = self.session.sender(|sender| sender.commands.clone());
            let options = fitting.into_iter().enumerate().filter_map(|(place, index)| {
                let command = commands.get(index)?.clone();
                let id = format!("{list_id}-{place}");
                let selected = move || Some((self.chosen.get().min(count - 1) == place).to_string());
                Some(
                    view! {
                        <li
                            id=id
                            role="option"
                            aria-selected=attribute(selected)
                            on:pointerdown=handler(move |event: leptos::ev::PointerEvent| {
                                // The focus stays in the field.
                                event.prevent_default();
                                self.take(place);
                            })
                        >
                            <span class="cw-command-name">{format!("/{}", command.name)}</span>
                            <span class="cw-command-about" dir="auto">{command.description.unwrap_or_default()}</span>
                        </li>
                    }
                    .erase(),
                )
            });
            let options = list(options);
            Some(
                view! {
                    <ul class="cw-commands" role="listbox" id=list_id.clone() aria-label="Commands">
                        {options}
                    </ul>
                }
                .erase(),
            )
        })
    }
}
