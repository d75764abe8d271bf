//! The common parts of all inputs: a key of the page state, properties, events and validation
//! rules.

use super::control::{display_text, focus};
use super::field::{control_id, note_id};
use crate::actions::BlockEvents;
use crate::page_state::{PageState, label_from_id, use_page_state};
use crate::prelude::*;
use crate::properties::Properties;
use crate::ui::bidi::direction;
use crate::validation::validation_error;
use leptos::attr::Attribute;
use serde_json::{Value, json};
use wire::page::BlockType;

/// The state, properties and events of an input; cheap to clone.
#[derive(Clone)]
pub(super) struct InputHandle {
    pub(super) id: String,
    pub(super) properties: Properties,
    pub(super) state: PageState,
    kind: BlockType,
    events: BlockEvents,
}

impl InputHandle {
    /// Declares the key in the page state and registers the validation rules of its value.
    pub(super) fn new(kind: BlockType, id: String, properties: Properties, events: BlockEvents) -> Self {
        let state = use_page_state();
        let initial = untrack(|| properties.value("initial"));
        let initial = if initial.is_null() { kind.empty_value() } else { initial };
        state.declare(&id, untrack(|| properties.text("label")), initial);
        state.add_check(&id, move |value| validation_error(kind, properties, value));
        focus_on_request(id.clone(), state);
        Self { id, properties, state, kind, events }
    }

    /// Returns the label of the input, derived from its id if it has none.
    pub(super) fn label(&self) -> impl Fn() -> String + Send + Sync + use<> {
        let (id, properties) = (self.id.clone(), self.properties);
        move || properties.text("label").unwrap_or_else(|| label_from_id(&id))
    }

    pub(super) fn control_id(&self) -> String {
        control_id(&self.id)
    }

    pub(super) fn note_id(&self) -> String {
        note_id(&self.id)
    }

    /// Returns the current value, untracked.
    pub(super) fn value_untracked(&self) -> Value {
        self.state.get_untracked(&self.id)
    }

    /// Returns the attributes that every control has.
    pub(super) fn attributes(&self) -> impl Attribute + use<> {
        view! {
            <{..}
                id=self.control_id()
                name=self.id.clone()
                aria-describedby=self.note_id()
                aria-invalid=self.invalid()
                required=self.flag("required")
                disabled=self.flag("disabled")
            />
        }
    }

    /// Returns the value of `aria-invalid`: `true` while the value has a validation error.
    pub(super) fn invalid(&self) -> impl Fn() -> Option<&'static str> + Send + Sync + use<> {
        let (id, state) = (self.id.clone(), self.state);
        move || state.validation_error(&id).map(|_| "true")
    }

    /// Returns the value of `dir` of a text control: the text's own direction.
    pub(super) fn direction(&self) -> impl Fn() -> Option<String> + Send + Sync + use<> {
        let (id, state) = (self.id.clone(), self.state);
        move || direction(&display_text(&state.get(&id)))
    }

    /// Returns a property as the value of an attribute.
    pub(super) fn property(&self, key: &'static str) -> impl Fn() -> Option<String> + Send + Sync + use<> {
        let properties = self.properties;
        move || properties.text(key)
    }

    /// Returns whether a property is truthy, for a boolean attribute.
    pub(super) fn flag(&self, key: &'static str) -> impl Fn() -> bool + Send + Sync + use<> {
        let properties = self.properties;
        move || properties.flag(key)
    }

    /// Writes the value that the user entered.
    pub(super) fn write(&self, value: Value) {
        self.state.set(&self.id, value);
    }

    /// Validates the value and emits `onChange`, once the user has finished a change.
    pub(super) fn commit(&self) {
        self.state.validate_one(&self.id);
        self.events.emit("onChange", json!({ "value": self.value_untracked() }));
    }

    /// The block type of the input.
    pub(super) fn kind(&self) -> BlockType {
        self.kind
    }
}

/// Focuses the control when the page state asks the user to correct it; one frame later, since the
/// input may be hidden until then.
fn focus_on_request(id: String, state: PageState) {
    let mut begun = false;
    Effect::new(move |_| {
        let is_wanted = state.requested_input().as_ref() == Some(&id);
        if std::mem::replace(&mut begun, true) && is_wanted {
            let control = control_id(&id);
            request_animation_frame(move || focus(&control));
        }
    });
}
