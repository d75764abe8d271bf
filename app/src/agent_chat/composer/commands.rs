//! The suggestions for `/` at the start of a message, and for `@` at the start of a word: commands
//! from the config, workflows of the chat's agent, saved prompts, sub-agents that can be mentioned, and
//! the agents of other pages.

use super::types::{CommandOption, OpenForm};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::page::SenderWorkflow;

/// The matching commands or agents, and which of them is selected; a cheap handle.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct CommandMenu {
    session: Session,
    /// Empty unless the user is typing a command or a mention.
    options: Memo<Vec<CommandOption>>,
    chosen: RwSignal<usize>,
    /// The draft for which the user closed the list.
    dismissed: RwSignal<Option<String>>,
}

impl CommandMenu {
    /// The list for the composer of a session.
    pub(in crate::agent_chat) fn new(session: Session) -> Self {
        let dismissed = RwSignal::new(None);
        let fitting = Memo::new(move |_| {
            let draft = session.draft.get();
            if dismissed.with(|text| text.as_ref() == Some(&draft)) {
                Vec::new()
            } else {
                matching_options(session, &draft)
            }
        });
        Self { session, options: fitting, chosen: RwSignal::new(0), dismissed }
    }

    /// Handles a key pressed in the text field; returns whether the list used it.
    pub(in crate::agent_chat) fn handle_key(self, key: &str) -> bool {
        let count = self.options.with_untracked(Vec::len);
        if count == 0 {
            return false;
        }
        let chosen = self.chosen.get_untracked().min(count - 1);
        match key {
            "Enter" if self.is_typed(chosen) => return false,
            "ArrowDown" => self.chosen.set((chosen + 1) % count),
            "ArrowUp" => self.chosen.set((chosen + count - 1) % count),
            "Enter" | "Tab" => self.insert(chosen),
            "Escape" => self.dismissed.set(Some(self.session.draft.get_untracked())),
            _ => return false,
        }
        true
    }

    /// Whether the composer has the text of the entry at this position already, so that Enter sends it.
    fn is_typed(self, place: usize) -> bool {
        let draft = self.session.draft.get_untracked();
        self.options.with_untracked(|options| {
            options.get(place).is_some_and(|option| option.form.is_none() && option.text.trim() == draft.trim())
        })
    }

    /// Puts the entry at this position into the composer.
    fn insert(self, place: usize) {
        let offer = self.options.with_untracked(|fitting| fitting.get(place).cloned());
        if let Some(CommandOption { text, form, .. }) = offer {
            self.chosen.set(0);
            // The text may start with `/` or `@` itself; the list must not open again.
            self.dismissed.set(Some(text.clone()));
            self.session.draft.set(text);
            match form {
                // The form takes the focus.
                Some(form) => self.session.open_form.set(Some(form)),
                None => self.session.focus_requests.update(|count| *count += 1),
            }
        }
    }

    /// The element id of the selected entry, for `aria-activedescendant`. Tracked.
    pub(in crate::agent_chat) fn active_option_id(self, list_id: &str) -> Option<String> {
        let count = self.options.with(Vec::len);
        (count > 0).then(|| format!("{list_id}-{}", self.chosen.get().min(count - 1)))
    }

    /// The view of the list.
    pub(in crate::agent_chat) fn view(self, list_id: String) -> AnyView {
        (move || {
            let fitting = self.options.get();
            let label = if fitting.first()?.name.starts_with('@') { t(Text::Agents) } else { t(Text::Commands) };
            let count = fitting.len();
            let option = |(place, offer): (usize, CommandOption)| {
                let id = format!("{list_id}-{place}");
                let is_elsewhere = matches!(offer.form, Some(OpenForm::Agent(_)));
                // The style sheet shows that of the first one.
                let heading = is_elsewhere.then(|| t(Text::TalkToAnother));
                let selected = move || Some((self.chosen.get().min(count - 1) == place).to_string());
                view! {
                    <li
                        id=id
                        role="option"
                        data-heading=heading
                        aria-selected=selected
                        on:pointerdown=move |event: leptos::ev::PointerEvent| {
                            // Keeps the focus in the text field.
                            event.prevent_default();
                            self.insert(place);
                        }
                    >
                        <span class="cw-command-name" dir="ltr">{offer.name}</span>
                        <span class="cw-command-about" dir="auto">{offer.description}</span>
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

/// The commands or agents that match the draft.
fn matching_options(session: Session, draft: &str) -> Vec<CommandOption> {
    if let Some(typed) = draft.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace)) {
        let prompts = loaded_options(session, '/', typed, "");
        return session.sender(|sender| {
            let fitting = sender.commands.iter().filter(|command| fits(&command.name, typed));
            let offer = |name: &String, about: &Option<String>, text: &String| CommandOption {
                name: format!("/{name}"),
                description: about.clone().unwrap_or_default(),
                text: text.clone(),
                form: None,
            };
            let commands = fitting.map(|command| offer(&command.name, &command.description, &command.text));
            let workflows = sender.workflows.iter().filter(|workflow| fits(&workflow.name, typed));
            let start = |workflow: &SenderWorkflow| CommandOption {
                name: format!("/{}", workflow.name),
                description: workflow.title.clone(),
                text: String::new(),
                form: Some(OpenForm::Workflow(workflow.workflow_id.clone())),
            };
            commands.chain(workflows.map(start)).chain(prompts).collect()
        });
    }
    let word = draft.rfind(char::is_whitespace).map_or(draft, |at| draft[at..].trim_start());
    let Some(typed) = word.strip_prefix('@') else { return Vec::new() };
    let before = &draft[..draft.len() - word.len()];
    let others = loaded_options(session, '@', typed, before);
    session.sender(|sender| {
        let fitting = sender.mentions.iter().filter(|agent| fits(&agent.name, typed));
        let offer = |name: &String, about: &String| CommandOption {
            name: format!("@{name}"),
            description: about.clone(),
            text: format!("{before}@{name} "),
            form: None,
        };
        fitting.map(|agent| offer(&agent.name, &agent.description)).chain(others).collect()
    })
}

/// Whether a name begins with what is typed. ASCII comparison is enough for names from the config; Unicode
/// case tables would make every page larger.
fn fits(name: &str, typed: &str) -> bool {
    name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

/// The loaded entries whose names begin with this sign and what is typed. `before` remains of the draft when one is
/// chosen.
fn loaded_options(session: Session, sign: char, typed: &str, before: &str) -> Vec<CommandOption> {
    let is_typed = |option: &&CommandOption| option.name.strip_prefix(sign).is_some_and(|name| fits(name, typed));
    let offer = |option: &CommandOption| CommandOption { text: before.to_owned(), ..option.clone() };
    session.loaded_options.with(|all| all.iter().filter(is_typed).map(offer).collect())
}
