//! The block `MultiSelect`.

use super::control::bind_member;
use super::field::{field, label_id};
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::Event;
use serde_json::Value;
use wire::page::{BlockType, SelectOption};

/// A multiple choice, shown as a list of checkboxes, which keyboards and screen readers support
/// well. Its value is a list in the order of the options.
#[component]
pub fn MultiSelect(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the selection changed.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::MultiSelect, id, properties, events);
    let each = input.clone();
    let options = move || {
        let options = properties.options().into_iter().enumerate();
        options.map(|(index, choice)| option(&each, index, choice)).collect_view().into_any()
    };
    // The group has the id of a control, so that it can be focused when the selection has to be
    // corrected.
    let control = view! {
        <div
            class="cw-choices"
            role="group"
            tabindex="-1"
            id=input.control_id()
            aria-labelledby=label_id(&input.id)
            aria-describedby=input.note_id()
            aria-invalid=input.invalid()
        >
            {options}
        </div>
    };
    field(&input, control.into_any())
}

fn option(input: &InputHandle, index: usize, SelectOption { value, label }: SelectOption) -> AnyView {
    let control = format!("{}-{index}", input.control_id());
    bind_member(input, control.clone(), value.clone());
    let (own, member) = (input.clone(), value.clone());
    let change = move |event: Event| {
        own.write(with_member(
            &own.value_untracked(),
            &member,
            event_target_checked(&event),
            &untrack(|| own.properties.options()),
        ));
        own.commit();
    };
    view! {
        <label class="cw-choice">
            <input
                class="cw-check"
                type="checkbox"
                id=control
                name=input.id.clone()
                value=value.clone()
                checked=is_member(&input.value_untracked(), &value)
                disabled=input.flag("disabled")
                on:change=change
            />
            <span dir="auto">{label}</span>
        </label>
    }
    .into_any()
}

/// Returns whether `list` contains `member`.
pub(super) fn is_member(list: &Value, member: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|value| value == member))
}

/// Returns the list with `member` added or removed, in the order of the options. Members that are
/// not an option are dropped.
pub(super) fn with_member(list: &Value, member: &str, chosen: bool, options: &[SelectOption]) -> Value {
    let is_chosen = |value: &str| if value == member { chosen } else { is_member(list, value) };
    options.iter().filter(|option| is_chosen(&option.value)).map(|option| Value::from(option.value.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selection_is_in_the_order_of_the_options() {
        let options = ["a", "b", "c"].map(|value| SelectOption { value: value.to_owned(), label: value.to_owned() });
        for (list, member, chosen, expected) in [
            (json!(["c"]), "a", true, json!(["a", "c"])),
            (json!(["a", "c"]), "a", false, json!(["c"])),
            (json!(null), "b", true, json!(["b"])),
            (json!(["gone"]), "b", false, json!([])),
        ] {
            assert_eq!(with_member(&list, member, chosen, &options), expected);
        }
    }
}
