//! What all inputs have in common: a key of the page state, properties, events, and rules for the value.

use super::control::focus;
use super::field::{control_id, note_id};
use crate::actions::BlockEvents;
use crate::page_state::{PageState, use_page_state, words};
use crate::prelude::*;
use crate::properties::Properties;
use crate::validation::problem;
use leptos::attr::Attribute;
use serde_json::{Value, json};
use wire::page::BlockType;

/// An input on its way to being a control; a cheap handle.
#[derive(Clone)]
pub(super) struct InputHandle {
    pub(super) id: String,
    pub(super) properties: Properties,
    pub(super) state: PageState,
    kind: BlockType,
    events: BlockEvents,
}

impl InputHandle {
    /// Makes the key known, and the rules that its value follows.
    pub(super) fn new(kind: BlockType, id: String, properties: Properties, events: BlockEvents) -> Self {
        let state = use_page_state();
        let initial = untrack(|| properties.value("initial"));
        let initial = if initial.is_null() { kind.empty_value() } else { initial };
        state.declare(&id, untrack(|| properties.text("label")), initial);
        state.demand(&id, move |value| problem(kind, properties, value));
        focus_when_wanted(id.clone(), state);
        Self { id, properties, state, kind, events }
    }

    /// What the input is called.
    pub(super) fn label(&self) -> impl Fn() -> String + Send + Sync + use<> {
        let (id, properties) = (self.id.clone(), self.properties);
        move || properties.text("label").unwrap_or_else(|| words(&id))
    }

    pub(super) fn control_id(&self) -> String {
        control_id(&self.id)
    }

    pub(super) fn note_id(&self) -> String {
        note_id(&self.id)
    }

    /// The value now. Not tracked.
    pub(super) fn now(&self) -> Value {
        self.state.get_untracked(&self.id)
    }

    /// The attributes that every control has.
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

    /// `aria-invalid`, once something is wrong.
    pub(super) fn invalid(&self) -> impl Fn() -> Option<&'static str> + Send + Sync + use<> {
        let (id, state) = (self.id.clone(), self.state);
        move || state.problem(&id).map(|_| "true")
    }

    /// A property as the value of an attribute.
    pub(super) fn property(&self, key: &'static str) -> impl Fn() -> Option<String> + Send + Sync + use<> {
        let properties = self.properties;
        move || properties.text(key)
    }

    /// Whether a property counts as yes, for an attribute without a value.
    pub(super) fn flag(&self, key: &'static str) -> impl Fn() -> bool + Send + Sync + use<> {
        let properties = self.properties;
        move || properties.flag(key)
    }

    /// Writes what the person enters.
    pub(super) fn write(&self, value: Value) {
        self.state.set(&self.id, value);
    }

    /// The person is done with a change: the value is checked, and the page told.
    pub(super) fn commit(&self) {
        self.state.check(&self.id);
        self.events.emit("onChange", json!({ "value": self.now() }));
    }

    /// The type of the input.
    pub(super) fn kind(&self) -> BlockType {
        self.kind
    }
}

/// Takes the focus when the value has to be corrected; one frame later, since the input may be hidden until then.
fn focus_when_wanted(id: String, state: PageState) {
    let mut begun = false;
    Effect::new(move |_| {
        let is_wanted = state.wanted().as_ref() == Some(&id);
        if std::mem::replace(&mut begun, true) && is_wanted {
            let control = control_id(&id);
            request_animation_frame(move || focus(&control));
        }
    });
}
