//! The steps of routines: controls, which start with `:`, and what is within them.

use crate::section::value::type_of;
use config_source::{MapEntry, Node, NodeKind, Span};

/// A control: its main key, which starts with `:`, and the keys that are allowed beside it.
pub(super) struct Control {
    pub(super) name: &'static str,
    /// The keys that hold a value.
    pub(super) values: &'static [&'static str],
    /// The keys that hold steps.
    pub(super) branches: &'static [&'static str],
}

const fn control(name: &'static str, values: &'static [&'static str], branches: &'static [&'static str]) -> Control {
    Control { name, values, branches }
}

/// The controls.
pub(super) const CONTROLS: [Control; 11] = [
    control(":return", &[], &[]),
    control(":if", &[], &[":then", ":else"]),
    control(":switch", &[], &[":default"]),
    control(":for", &[":in"], &[":do"]),
    control(":parallel", &[], &[]),
    control(":try", &[], &[":catch", ":finally"]),
    control(":reject", &[], &[]),
    control(":throw", &[], &[]),
    control(":set_state", &[], &[]),
    control(":log", &[], &[]),
    control(":status", &[], &[]),
];

/// Returns the types of an endpoint's steps, nested ones included.
pub(crate) fn step_types(endpoint: &Node) -> Vec<&str> {
    all_steps(endpoint).into_iter().filter_map(type_of).collect()
}

/// Returns the positions of an endpoint's steps that have an id, nested ones included.
pub(crate) fn step_spans(endpoint: &Node) -> impl Iterator<Item = (String, Span)> {
    all_steps(endpoint).into_iter().filter_map(|step| Some((step.get("id")?.value.text()?.to_owned(), step.at)))
}

/// Returns the steps of an endpoint, nested ones included, in no particular order.
fn all_steps(endpoint: &Node) -> Vec<&Node> {
    let mut open: Vec<&Node> =
        endpoint.get("routine").map(|entry| steps(&entry.value).iter().collect()).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(step) = open.pop() {
        found.push(step);
        open.extend(nested_steps(step));
    }
    found
}

/// Returns the endpoints that an endpoint calls, with the positions of the references.
pub(crate) fn called_endpoints(endpoint: &Node) -> Vec<(&str, Span)> {
    let calls = all_steps(endpoint).into_iter().filter(|step| type_of(step) == Some("CallEndpoint"));
    let ids = calls.filter_map(|step| step.get("properties")?.value.get("endpointId"));
    ids.filter_map(|id| Some((id.value.text()?, id.value.at))).collect()
}

/// Returns the steps directly in a control.
pub(super) fn nested_steps(step: &Node) -> Vec<&Node> {
    let mut found = Vec::new();
    for MapEntry { key, value, .. } in step.entries() {
        match key.as_str() {
            ":switch" => {
                found.extend(value.items().iter().filter_map(|case| Some(&case.get(":then")?.value)).flat_map(steps))
            }
            ":parallel" => found.extend(value.items().iter().flat_map(steps)),
            ":try" => found.extend(steps(value)),
            key if is_branch(key) => found.extend(steps(value)),
            _ => {}
        }
    }
    found
}

/// Whether a key beside a control holds steps. Most keys are those of requests, which are told apart by their start.
fn is_branch(key: &str) -> bool {
    key.starts_with(':') && CONTROLS.iter().any(|control| control.branches.contains(&key))
}

/// Returns a list of steps; a single step may be written without a list.
pub(super) fn steps(node: &Node) -> &[Node] {
    match node.kind {
        NodeKind::Map(_) => std::slice::from_ref(node),
        _ => node.items(),
    }
}
