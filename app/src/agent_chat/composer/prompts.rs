//! Prompts of the user, and those that are shared with them: commands of the composer, the form for the
//! variables of a prompt above it, and the form that keeps a message as a prompt.

use super::open_form::close;
use super::types::{CommandOption, OpenForm};
use crate::address::encode_component;
use crate::agent_chat::session::Session;
use crate::api::transport::http::{self, Method};
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::html;
use leptos::task::spawn_local;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

/// The longest name of a prompt, in characters.
const MAX_NAME: &str = "40";

/// The answer of the server: the prompts that the user sees.
#[derive(Deserialize)]
struct PromptList {
    items: Vec<ListedPrompt>,
}

/// A prompt in the list.
#[derive(Deserialize)]
struct ListedPrompt {
    id: String,
    name: String,
    description: String,
    origin: String,
}

/// A prompt with its variables.
#[derive(Clone, Deserialize)]
struct SavedPrompt {
    name: String,
    variables: Vec<Variable>,
    parts: Vec<Part>,
}

/// A variable of a prompt. Without values, the user must enter a text; one value is the default; of several, the user
/// chooses one.
#[derive(Clone, Deserialize)]
struct Variable {
    name: String,
    values: Vec<String>,
}

/// A piece of a prompt: a text, or the index of a variable.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Part {
    Text(String),
    Variable(usize),
}

/// Loads the prompts of the user, which become commands of the composer.
pub(in crate::agent_chat) fn offer(session: Session) -> AnyView {
    // A block may have texts of its own, which are known here.
    let (yours, shared) = (t(Text::PromptYours), t(Text::PromptShared));
    let command = move |prompt: ListedPrompt| command(prompt, yours, shared);
    spawn_local(async move {
        // Without them, the other commands are there.
        if let Ok(PromptList { items }) = http::get("/api/prompts").await
            && !session.is_disposed()
        {
            session.saved_prompts.set(items.into_iter().map(command).collect());
        }
    });
    ().into_any()
}

fn command(prompt: ListedPrompt, yours: &str, shared: &str) -> CommandOption {
    let ListedPrompt { id, name, description, origin } = prompt;
    let whose = if origin == "own" { yours } else { shared };
    let description = if description.is_empty() { whose.to_owned() } else { [&description, " · ", whose].concat() };
    CommandOption { name: ["/", &name].concat(), description, text: String::new(), form: Some(OpenForm::Prompt(id)) }
}

/// Renders the form that keeps a text as a prompt.
pub(super) fn new_prompt(session: Session, text: &str) -> AnyView {
    NewPrompt::new(session).view(text)
}

/// Puts the text of a prompt into the composer once it is loaded, or shows the form of its variables.
pub(super) fn load(session: Session, id: &str) -> AnyView {
    let (loaded, problem) = (RwSignal::new(None::<SavedPrompt>), RwSignal::new(None::<String>));
    let path = ["/api/prompts/", &encode_component(id)].concat();
    spawn_local(async move {
        let answer = http::get::<SavedPrompt>(&path).await;
        if problem.is_disposed() {
            return;
        }
        match answer {
            Ok(prompt) if prompt.variables.is_empty() => insert(session, &prompt.parts, &[]),
            Ok(prompt) => loaded.set(Some(prompt)),
            Err(error) => problem.set(Some(error_text(&error.0))),
        }
    });
    let form = move || loaded.get().map(|prompt| variables_form(session, prompt));
    let refused = move || {
        let text = view! { <p class="cw-problem" role="alert" dir="auto">{problem.get()?}</p> };
        Some(panel(session, t(Text::Commands), text.into_any()))
    };
    view! {
        {form}
        {refused}
    }
    .into_any()
}

/// Puts a prompt into the composer with these values of its variables.
fn insert(session: Session, parts: &[Part], values: &[String]) {
    let piece = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Variable(index) => values.get(*index).cloned().unwrap_or_default(),
    };
    session.draft.set(parts.iter().map(piece).collect());
    close(session);
}

/// Renders a form with its heading above the composer. Escape closes it.
pub(super) fn panel(session: Session, title: &str, content: AnyView) -> AnyView {
    let (label, heading, name) = (title.to_owned(), title.to_owned(), fill(Text::CloseNamed, &[title]));
    let close_by_key = move |event: KeyboardEvent| {
        // Otherwise Escape could also close a surrounding element, such as a drawer.
        if event.key() == "Escape" && !event.is_composing() {
            event.prevent_default();
            event.stop_propagation();
            close(session);
        }
    };
    view! {
        <div class="cw-above">
            <section class="cw-saved-prompt" aria-label=label on:keydown=close_by_key>
                <div class="cw-saved-prompt-head">
                    <strong dir="auto">{heading}</strong>
                    <button type="button" class="cw-icon-button" aria-label=name title=t(Text::Close) on:click=move |_| close(session)>
                        <Icon of=Shape::CLOSE />
                    </button>
                </div>
                {content}
            </section>
        </div>
    }
    .into_any()
}

/// Renders the form for the variables of a prompt. Enter in a field, or the button, puts the text into the
/// composer; Shift+Enter inserts a line break.
fn variables_form(session: Session, prompt: SavedPrompt) -> AnyView {
    let SavedPrompt { name, variables, parts } = prompt;
    let form = NodeRef::<html::Form>::new();
    let first = |variable: &Variable| variable.values.first().cloned().unwrap_or_default();
    let values = StoredValue::new(variables.iter().map(first).collect::<Vec<_>>());
    let block = session.block_id();
    let fields = variables
        .into_iter()
        .enumerate()
        .map(|(index, variable)| {
            let id = format!("{block}-prompt-{index}");
            let enter = move |text: String| {
                values.update_value(|all| {
                    if let Some(value) = all.get_mut(index) {
                        *value = text;
                    }
                });
            };
            match variable.values.len() {
                0 | 1 => text_field(id, variable, form, enter),
                _ => choice(id, variable, enter),
            }
        })
        .collect_view()
        .into_any();
    let first_id = format!("{block}-prompt-0");
    request_animation_frame(move || focus(&first_id));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        // A copy, because the form and its values go with this.
        insert(session, &parts, &values.get_value());
    };
    let content = view! {
        <form class="cw-saved-prompt-form" node_ref=form on:submit=submit>
            {fields}
            <button type="submit" class="cw-button cw-primary">
                {t(Text::PromptInsert)}
            </button>
        </form>
    };
    panel(session, &name, content.into_any())
}

/// Renders the field of a variable that is a text. Without a default, something must be entered.
fn text_field(
    id: String,
    variable: Variable,
    form: NodeRef<html::Form>,
    enter: impl Fn(String) + Send + Sync + 'static,
) -> AnyView {
    let Variable { name, values } = variable;
    let (is_required, text) = (values.is_empty(), values.into_iter().next().unwrap_or_default());
    let send_by_key = move |event: KeyboardEvent| {
        // Keys belong to an input method while it composes a word.
        let is_composing = event.is_composing() || event.key_code() == 229;
        if event.key() == "Enter" && !event.shift_key() && !is_composing {
            event.prevent_default();
            if let Some(form) = form.get_untracked() {
                // Fails only for a form that is gone.
                let _ = form.request_submit();
            }
        }
    };
    view! {
        <label class="cw-saved-prompt-field">
            <span class="cw-label" dir="auto">{name}</span>
            <textarea
                id=id
                class="cw-control"
                rows="2"
                dir="auto"
                required=is_required
                prop:value=text
                on:input=move |event: Event| enter(event_target_value(&event))
                on:keydown=send_by_key
            ></textarea>
        </label>
    }
    .into_any()
}

/// Renders the field of a variable whose values are given.
fn choice(id: String, variable: Variable, enter: impl Fn(String) + Send + Sync + 'static) -> AnyView {
    let Variable { name, values } = variable;
    let options = values
        .into_iter()
        .map(|value| view! { <option value=value.clone()>{value.clone()}</option> }.into_any())
        .collect_view()
        .into_any();
    view! {
        <label class="cw-saved-prompt-field">
            <span class="cw-label" dir="auto">{name}</span>
            <span class="cw-select">
                <select id=id class="cw-control" on:change=move |event: Event| enter(event_target_value(&event))>
                    {options}
                </select>
            </span>
        </label>
    }
    .into_any()
}

/// The form that keeps a text as a prompt; cheap to copy.
#[derive(Clone, Copy)]
struct NewPrompt {
    session: Session,
    name: NodeRef<html::Input>,
    text: NodeRef<html::Textarea>,
    problem: RwSignal<Option<String>>,
    is_sending: RwSignal<bool>,
}

impl NewPrompt {
    fn new(session: Session) -> Self {
        let (problem, is_sending) = (RwSignal::new(None), RwSignal::new(false));
        Self { session, name: NodeRef::new(), text: NodeRef::new(), problem, is_sending }
    }

    /// Renders the form with a text.
    fn view(self, text: &str) -> AnyView {
        let Self { session, name, problem, is_sending, .. } = self;
        request_animation_frame(move || {
            if let Some(field) = name.get_untracked() {
                // The field is in the document, so it can be focused.
                let _ = field.focus();
            }
        });
        let problem = move || Some(view! { <p class="cw-problem" dir="auto">{problem.get()?}</p> }.into_any());
        let submit = move |event: SubmitEvent| {
            event.prevent_default();
            self.send();
        };
        let content = view! {
            <form class="cw-saved-prompt-form" on:submit=submit>
                <label class="cw-saved-prompt-field">
                    <span class="cw-label">{t(Text::PromptName)}</span>
                    <input node_ref=name class="cw-control" type="text" dir="auto" required maxlength=MAX_NAME autocomplete="off" spellcheck="false" />
                </label>
                <label class="cw-saved-prompt-field">
                    <span class="cw-label">{t(Text::PromptText)}</span>
                    <textarea node_ref=self.text class="cw-control" rows="4" dir="auto" required prop:value=text.to_owned()></textarea>
                </label>
                <div role="alert">{problem}</div>
                <button type="submit" class="cw-button cw-primary" disabled=move || is_sending.get()>
                    {t(Text::PromptSave)}
                </button>
            </form>
        };
        panel(session, t(Text::PromptSave), content.into_any())
    }

    fn send(self) {
        let (Some(name), Some(text)) = (self.name.get_untracked(), self.text.get_untracked()) else { return };
        if self.is_sending.get_untracked() {
            return;
        }
        self.problem.set(None);
        self.is_sending.set(true);
        let body = json!({ "name": name.value(), "text": text.value() });
        let saved = t(Text::PromptSaved);
        spawn_local(async move {
            let sent = http::send::<IgnoredAny>(Method::Post, "/api/prompts", &body).await;
            // The form may be closed.
            if self.is_sending.try_set(false).is_some() {
                return;
            }
            match sent {
                Ok(_) => {
                    self.session.announcement.set(saved.to_owned());
                    close(self.session);
                }
                Err(error) => self.problem.set(Some(error_text(&error.0))),
            }
        });
    }
}
