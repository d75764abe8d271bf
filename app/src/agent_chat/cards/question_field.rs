//! A field in the form of a question.

use crate::prelude::*;
use crate::ui::entry_field::{EntryField, entry_field};
use wire::form::{Control, FormOption};
use wire::page::FieldType;
use wire::question::QuestionField;

/// The most characters of an answer.
const MAX_LENGTH: usize = 4_000;

/// The field with its label; `give` receives the value of its control. `id` is unique on the page.
pub(in crate::agent_chat) fn question_field(
    id: String,
    field: &QuestionField,
    give: impl Fn(String) + 'static,
) -> AnyView {
    let options = match &field.field_type {
        FieldType::Choice { options } => options.clone(),
        _ => Vec::new(),
    };
    let option = |text: &String| FormOption { value: text.as_str().into(), label: text.clone() };
    let control = match &field.field_type {
        FieldType::Boolean => Control::Boolean,
        FieldType::Choice { options } => Control::Choice(options.iter().map(option).collect()),
        FieldType::Date => Control::Date,
        FieldType::Number => Control::Number,
        _ => Control::Line,
    };
    let is_choice = matches!(control, Control::Choice(_));
    let give = move |entry: String| match entry.parse::<usize>() {
        Ok(index) if is_choice => give(options.get(index).cloned().unwrap_or_default()),
        _ => give(entry),
    };
    let field = EntryField {
        id,
        label: field.label.clone(),
        hint: String::new(),
        control,
        required: field.required,
        initial: String::new(),
        max_length: MAX_LENGTH,
    };
    entry_field(field, Signal::stored(None), give)
}
