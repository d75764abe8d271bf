//! A field in the form of a question.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use leptos::ev::Event;
use wire::page::FieldType;
use wire::question::QuestionField;

/// The field with its label; `give` receives the value of its control.
pub(in crate::agent_chat) fn question_field(field: &QuestionField, give: impl Fn(String) + 'static) -> AnyView {
    let required = field.required;
    let control = match &field.field_type {
        FieldType::Boolean => {
            let give = move |event: Event| give(if event_target_checked(&event) { "true" } else { "" }.to_owned());
            view! { <input on:change=give type="checkbox" /> }.into_any()
        }
        FieldType::Choice { options } => {
            let option = |text: &String| {
                view! { <option value=text.clone()>{text_with_code_points(text, TextKind::Prose).into_owned()}</option> }.into_any()
            };
            let give = move |event: Event| give(event_target_value(&event));
            view! {
                <div class="cw-select">
                    <select class="cw-control" aria-required=required.to_string() on:change=give>
                        <option value="">{t(Text::ChooseOption)}</option>
                        {options.iter().map(option).collect_view()}
                    </select>
                </div>
            }
            .into_any()
        }
        other => {
            let (kind, mode) = match other {
                FieldType::Date => ("date", None),
                // A number field would not report input that is no number.
                FieldType::Number => ("text", Some("decimal")),
                _ => ("text", None),
            };
            let give = move |event: Event| give(event_target_value(&event));
            view! {
                <input
                    class="cw-control"
                    type=kind
                    dir=(kind == "text").then_some("auto")
                    inputmode=mode
                    maxlength="4000"
                    autocomplete="off"
                    aria-required=required.to_string()
                    on:input=give
                />
            }
            .into_any()
        }
    };
    let beside = matches!(field.field_type, FieldType::Boolean);
    let star = required.then(|| view! { <span class="cw-required" aria-hidden="true">"*"</span> });
    let name = view! { <span class="cw-label" dir="auto">{visible_nodes(&field.label, TextKind::Prose)}{star}</span> };
    view! { <label class="cw-question-field" class:cw-beside=beside>{name} {control}</label> }.into_any()
}
