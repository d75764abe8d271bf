//! A field of a form that is not part of the page's state: in a question of an agent, in a question
//! of a workflow, and in the form that starts one.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use leptos::ev::Event;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wire::form::{Control, FormOption};

/// A field of a form.
#[derive(Clone, Debug)]
pub(crate) struct EntryField {
    /// The id of its control, unique on the page.
    pub(crate) id: String,
    /// The label.
    pub(crate) label: String,
    /// An explanation; may be empty.
    pub(crate) hint: String,
    /// How the value is entered.
    pub(crate) control: Control,
    /// Whether a value is required.
    pub(crate) required: bool,
    /// The initial value.
    pub(crate) initial: String,
    /// The most characters.
    pub(crate) max_length: usize,
}

/// Receives the user's input, in the form that [`Control`] describes.
type Give = Rc<dyn Fn(String)>;

/// The attributes that all controls have.
struct Common {
    id: String,
    initial: String,
    required: String,
    described_by: String,
    problem: Signal<Option<String>>,
    give: Give,
}

impl Common {
    fn invalid(&self) -> impl Fn() -> Option<&'static str> + Send + Sync + use<> {
        let problem = self.problem;
        move || problem.with(Option::is_some).then_some("true")
    }

    fn on_text(&self) -> impl Fn(Event) + use<> {
        let give = self.give.clone();
        move |event| give(event_target_value(&event))
    }
}

/// Renders a field with its label, its hint and its problem. `give` receives the user's input.
pub(crate) fn entry_field(
    field: EntryField,
    problem: Signal<Option<String>>,
    give: impl Fn(String) + 'static,
) -> AnyView {
    let EntryField { id, label, hint, control, required, initial, max_length } = field;
    let (hint_id, problem_id) = (format!("{id}-hint"), format!("{id}-problem"));
    let hint = match (&control, hint.is_empty()) {
        (Control::List(_), true) => t(Text::EntryLines).to_owned(),
        (Control::List(_), false) => [&hint, " ", t(Text::EntryLines)].concat(),
        _ => hint,
    };
    let described_by = if hint.is_empty() { problem_id.clone() } else { [&hint_id, " ", &problem_id].concat() };
    let common = Common { id, initial, required: required.to_string(), described_by, problem, give: Rc::new(give) };
    let is_beside = matches!(control, Control::Boolean);
    let star = required.then(|| view! { <span class="cw-required" aria-hidden="true">"*"</span> });
    let name = view! { <span class="cw-label" dir="auto">{visible_nodes(&label, TextKind::Prose)}{star}</span> };
    let entry = match &control {
        Control::Choices(options) => checkboxes(&common, name.into_any(), options),
        control => {
            adopt(&common, is_beside);
            let control = match control {
                Control::Boolean => checkbox(&common),
                Control::Choice(options) => select(&common, options),
                Control::Lines | Control::List(_) => text_area(&common, "cw-control cw-entry-lines", max_length),
                Control::Json => text_area(&common, "cw-control cw-entry-lines cw-entry-code", max_length),
                other => input(&common, other, max_length),
            };
            view! { <label class="cw-question-field" class:cw-beside=is_beside>{name} {control}</label> }.into_any()
        }
    };
    let hint = (!hint.is_empty()).then(|| {
        view! { <p class="cw-entry-hint" dir="auto" id=hint_id>{visible_nodes(&hint, TextKind::Prose)}</p> }
    });
    view! {
        <div class="cw-entry">
            {entry}
            {hint}
            <p class="cw-problem" dir="auto" id=problem_id>{move || problem.get()}</p>
        </div>
    }
    .into_any()
}

fn input(common: &Common, control: &Control, max_length: usize) -> AnyView {
    let (kind, mode) = control.input_type();
    view! {
        <input
            class="cw-control"
            id=common.id.clone()
            type=kind
            dir=(kind == "text").then_some("auto")
            inputmode=mode
            maxlength=max_length.to_string()
            autocomplete="off"
            value=common.initial.clone()
            aria-required=common.required.clone()
            aria-invalid=common.invalid()
            aria-describedby=common.described_by.clone()
            on:input=common.on_text()
        />
    }
    .into_any()
}

fn text_area(common: &Common, class: &'static str, max_length: usize) -> AnyView {
    view! {
        <textarea
            class=class
            id=common.id.clone()
            dir="auto"
            rows="3"
            maxlength=max_length.to_string()
            aria-required=common.required.clone()
            aria-invalid=common.invalid()
            aria-describedby=common.described_by.clone()
            // A child text would be separated by comments, which a text area shows.
            inner_html=common.initial.replace('&', "&amp;").replace('<', "&lt;")
            on:input=common.on_text()
        ></textarea>
    }
    .into_any()
}

fn select(common: &Common, options: &[FormOption]) -> AnyView {
    let option = |(index, option): (usize, &FormOption)| {
        let (value, text) = (index.to_string(), text_with_code_points(&option.label, TextKind::Prose).into_owned());
        let selected = value == common.initial;
        view! { <option value=value selected=selected>{text}</option> }.into_any()
    };
    let options: Vec<_> = options.iter().enumerate().map(option).collect();
    view! {
        <div class="cw-select">
            <select
                class="cw-control"
                id=common.id.clone()
                aria-required=common.required.clone()
                aria-invalid=common.invalid()
                aria-describedby=common.described_by.clone()
                on:change=common.on_text()
            >
                <option value="">{t(Text::ChooseOption)}</option>
                {options.collect_view()}
            </select>
        </div>
    }
    .into_any()
}

fn checkbox(common: &Common) -> AnyView {
    let give = common.give.clone();
    let on_check = move |event: Event| give(if event_target_checked(&event) { "true" } else { "" }.to_owned());
    view! {
        <input
            id=common.id.clone()
            type="checkbox"
            checked=common.initial == "true"
            aria-invalid=common.invalid()
            aria-describedby=common.described_by.clone()
            on:change=on_check
        />
    }
    .into_any()
}

/// The boxes of several options. The first one has the id of the field, so that it can be focused.
fn checkboxes(common: &Common, name: AnyView, options: &[FormOption]) -> AnyView {
    let chosen: Vec<bool> = {
        let initial: Vec<_> = common.initial.lines().collect();
        (0..options.len()).map(|index| initial.contains(&index.to_string().as_str())).collect()
    };
    let state = StoredValue::new(chosen.clone());
    let option = |(index, option): (usize, &FormOption)| {
        let give = common.give.clone();
        let on_check = move |event: Event| {
            state.update_value(|chosen| chosen[index] = event_target_checked(&event));
            let lines = state.with_value(|chosen| {
                let chosen = chosen.iter().enumerate().filter(|(_, is_chosen)| **is_chosen);
                chosen.map(|(index, _)| index.to_string()).collect::<Vec<_>>().join("\n")
            });
            give(lines);
        };
        let id = if index == 0 { common.id.clone() } else { format!("{}-{index}", common.id) };
        view! {
            <label>
                <input id=id type="checkbox" checked=chosen[index] on:change=on_check />
                <span dir="auto">{visible_nodes(&option.label, TextKind::Prose)}</span>
            </label>
        }
        .into_any()
    };
    let boxes: Vec<_> = options.iter().enumerate().map(option).collect();
    view! {
        <fieldset class="cw-question-options" aria-describedby=common.described_by.clone()>
            <legend>{name}</legend>
            {boxes.collect_view()}
        </fieldset>
    }
    .into_any()
}

/// Takes over the input from before the page was hydrated.
fn adopt(common: &Common, is_check: bool) {
    let (id, initial, give) = (common.id.clone(), common.initial.clone(), common.give.clone());
    let property = if is_check { "checked" } else { "value" };
    Effect::new(move |_| {
        let Some(control) = document().get_element_by_id(&id) else { return };
        let shown = js_sys::Reflect::get(&control, &JsValue::from_str(property)).unwrap_or_default();
        let shown = match shown.as_bool() {
            Some(is_checked) => if is_checked { "true" } else { "" }.to_owned(),
            None => shown.as_string().unwrap_or_default(),
        };
        if shown != initial {
            give(shown);
        }
    });
}
