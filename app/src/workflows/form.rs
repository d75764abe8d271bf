//! A form made from a JSON Schema: the answer to a question, or the input of a run.

use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::entry_field::{EntryField, entry_field};
use serde_json::{Map, Value};
use wire::error::{ErrorCode, UserError};
use wire::form::{Form, FormField, MAX_ENTRY};

/// A form with the user's input; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct SchemaForm {
    form: StoredValue<Form>,
    /// The prefix of the ids of its controls.
    id: StoredValue<String>,
    entries: RwSignal<Vec<String>>,
    /// The problem of each field.
    problems: RwSignal<Vec<Option<String>>>,
    /// Whether the user has entered anything.
    pub(super) is_touched: RwSignal<bool>,
}

impl SchemaForm {
    /// Creates a form. `id` is unique on the page.
    pub(super) fn new(schema: &Value, id: String) -> Self {
        Self::of(Form::for_schema(schema), id)
    }

    /// Creates a form that holds these values at first.
    pub(super) fn holding(schema: &Value, values: &Value, id: String) -> Self {
        Self::of(Form::holding(schema, values), id)
    }

    fn of(form: Form, id: String) -> Self {
        let entries = RwSignal::new(form.initial());
        let problems = RwSignal::new(vec![None; form.fields.len()]);
        let is_touched = RwSignal::new(false);
        Self { form: StoredValue::new(form), id: StoredValue::new(id), entries, problems, is_touched }
    }

    /// Renders the fields. Those of a nested object are a group.
    pub(super) fn view(self) -> AnyView {
        let fields = self.form.with_value(|form| form.fields.clone());
        let mut views = Vec::new();
        let mut group: Vec<AnyView> = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let is_last = fields.get(index + 1).is_none_or(|next| next.group != field.group);
            let (title, view) = (field.group.clone(), self.field(index, field));
            if title.is_empty() {
                views.push(view)
            } else {
                group.push(view)
            }
            if is_last && !group.is_empty() {
                let inner = std::mem::take(&mut group);
                let group = view! {
                    <fieldset class="cw-entry-group">
                        <legend dir="auto">{title}</legend>
                        <div class="cw-question-fields">{inner}</div>
                    </fieldset>
                };
                views.push(group.into_any());
            }
        }
        view! { <div class="cw-question-fields cw-entry-fields">{views}</div> }.into_any()
    }

    /// Moves the focus to the first control, if there is one.
    pub(super) fn focus(self) {
        focus(&self.control_id(0));
    }

    fn control_id(self, index: usize) -> String {
        self.id.with_value(|id| format!("{id}-{index}"))
    }

    fn field(self, index: usize, field: &FormField) -> AnyView {
        let shown = EntryField {
            id: self.control_id(index),
            label: if field.keys.is_empty() { t(Text::EntryJson).to_owned() } else { field.label.clone() },
            hint: field.hint.clone(),
            control: field.control.clone(),
            required: field.required,
            initial: field.initial.clone(),
            max_length: MAX_ENTRY,
        };
        let give = move |entry: String| {
            self.is_touched.set(true);
            self.entries.update(|entries| entries[index] = entry);
            // The problem is checked again with the next attempt to send.
            if self.problems.with_untracked(|problems| problems[index].is_some()) {
                self.problems.update(|problems| problems[index] = None);
            }
        };
        let problem = Memo::new(move |_| self.problems.with(|problems| problems.get(index).cloned().flatten()));
        entry_field(shown, problem.into(), give)
    }

    /// Returns the values, or shows what is wrong with them beside the fields, and moves the focus to
    /// the first of these.
    pub(super) fn read(self) -> Option<Map<String, Value>> {
        let read = self.form.with_value(|form| self.entries.with_untracked(|entries| form.values(entries)));
        match read {
            Ok(values) => {
                self.problems.update(|problems| problems.fill(None));
                Some(values)
            }
            Err(found) => {
                self.problems.update(|problems| {
                    problems.fill(None);
                    for wrong in &found {
                        let (text, bound) = wrong.problem.text();
                        problems[wrong.field] = Some(fill(text, &[bound]));
                    }
                });
                if let Some(first) = found.first() {
                    focus(&self.control_id(first.field));
                }
                None
            }
        }
    }

    /// Shows an error of the server beside the field that it is about. Returns false if it is about
    /// none. `place` is where the values stand in the request.
    pub(super) fn show_error(self, error: &UserError, place: &str) -> bool {
        if error.code != ErrorCode::Invalid {
            return false;
        }
        let pointer = error.path.as_deref().and_then(|path| path.strip_prefix(place));
        let field = pointer.and_then(|pointer| self.form.with_value(|form| form.field_at(pointer)));
        let Some(field) = field else { return false };
        // The server's own words say more than the text of a locale for all errors of this kind.
        let said = if error.message.is_empty() { error_text(error) } else { error.message.clone() };
        self.problems.update(|problems| problems[field] = Some(said));
        focus(&self.control_id(field));
        true
    }
}
