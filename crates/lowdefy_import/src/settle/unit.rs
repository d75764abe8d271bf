//! The part that is removed when one value of it is invalid: large enough that the rest keeps its meaning.

use super::numbered::{Step, look};
use crate::tree::Tree;

/// A part of the config that is left out as a whole.
pub(super) struct Unit {
    pub(super) path: Vec<Step>,
    pub(super) action: Action,
    /// Its kind, such as "block".
    pub(super) kind: &'static str,
    /// Its description: "the block `a` of the type `Html`".
    pub(super) what: String,
}

/// How it is left out.
pub(super) enum Action {
    /// It is removed.
    Remove,
    /// A step that fails takes its place.
    Fail,
    /// The items of the list from this one on are removed: they rely on the refused one.
    EndOfList(usize),
}

/// Keys that decide who may do what, and when. Without them their owner would do more than before,
/// so it is left out as a whole.
const DECISIVE: [&str; 9] =
    ["auth", "confirm", "visible", "skip", "allow", "deny", "policy", "readOnly", "sharedStateReadOnly"];
/// Keys without which their owner is nothing.
const NEEDED: [&str; 4] = ["id", "type", "connectionId", "endpointId"];
/// The keys of controls that hold steps.
const BRANCHES: [&str; 7] = [":then", ":else", ":do", ":try", ":catch", ":finally", ":default"];
/// Actions whose absence changes nothing for those that follow.
const HARMLESS: [&str; 7] =
    ["ScrollTo", "SetFocus", "SetGlobal", "Wait", "SetDarkMode", "ResetValidation", "CopyToClipboard"];

/// Returns the part to leave out if the value at a path is invalid.
pub(super) fn of(root: &Tree, path: &[Step]) -> Unit {
    match path {
        [Step::Key(section), Step::Index(_), rest @ ..] => match section.as_str() {
            "api" => in_endpoint(root, path),
            "pages" => in_page(root, path, rest),
            _ => in_owner(root, path, 2, if section == "agents" { "agent" } else { "connection" }),
        },
        [Step::Key(section), ..] => Unit {
            path: path[..1].to_vec(),
            action: Action::Remove,
            kind: "section",
            what: format!("the section `{section}`"),
        },
        _ => Unit { path: path.to_vec(), action: Action::Remove, kind: "config", what: "the app".to_owned() },
    }
}

/// In an endpoint: the innermost step, which then fails.
fn in_endpoint(root: &Tree, path: &[Step]) -> Unit {
    if !matches!(path.get(2), Some(Step::Key(key)) if key == "routine") {
        return in_owner(root, path, 2, "endpoint");
    }
    match innermost_step(path, 3) {
        Some(length) if look(root, &path[..length]).is_some_and(|step| step.entry(":throw").is_none()) => {
            let unit = path[..length].to_vec();
            let what = describe(root, &unit, "step");
            Unit { path: unit, action: Action::Fail, kind: "step", what }
        }
        _ => whole(root, &path[..2], "endpoint"),
    }
}

/// Returns the length of the path to the innermost step that a path leads into. `list` is the
/// length of the path to the list of steps.
fn innermost_step(path: &[Step], list: usize) -> Option<usize> {
    let Some(Step::Index(_)) = path.get(list) else { return None };
    let step = list + 1;
    let nested = match (path.get(step), path.get(step + 1), path.get(step + 2)) {
        (Some(Step::Key(key)), ..) if BRANCHES.contains(&key.as_str()) => innermost_step(path, step + 1),
        (Some(Step::Key(key)), Some(Step::Index(_)), _) if key == ":parallel" => innermost_step(path, step + 2),
        (Some(Step::Key(key)), Some(Step::Index(_)), Some(Step::Key(then))) if key == ":switch" && then == ":then" => {
            innermost_step(path, step + 3)
        }
        _ => None,
    };
    nested.or(Some(step))
}

/// In a page: the innermost action, property or block.
fn in_page(root: &Tree, path: &[Step], rest: &[Step]) -> Unit {
    // The length of the path to the block, or to the page.
    let (mut owner, mut kind) = (path.len() - rest.len(), "page");
    while let (Some(Step::Key(key)), Some(Step::Index(_))) = (path.get(owner), path.get(owner + 1)) {
        if key != "blocks" {
            break;
        }
        (owner, kind) = (owner + 2, "block");
    }
    if let [Step::Key(events), Step::Key(name), Step::Index(index), ..] = &path[owner..]
        && events == "events"
    {
        return action(root, path, owner, name, *index);
    }
    if let [Step::Key(events), Step::Key(name), ..] = &path[owner..]
        && events == "events"
    {
        let what = format!("the event `{name}` of {}", describe(root, &path[..owner], kind));
        return Unit { path: path[..owner + 2].to_vec(), action: Action::Remove, kind: "event", what };
    }
    in_owner(root, path, owner, kind)
}

fn action(root: &Tree, path: &[Step], owner: usize, event: &str, index: usize) -> Unit {
    let item = &path[..owner + 3];
    let described = describe(root, item, "action");
    let kind = look(root, item).and_then(|action| action.text_of("type")).unwrap_or_default();
    let list = path[..owner + 2].to_vec();
    let length = look(root, &list).map_or(0, |list| list.items().len());
    // An event without actions is none.
    if index == 0 && (length == 1 || !HARMLESS.contains(&kind)) {
        let what =
            if length == 1 { described } else { format!("{described} of `{event}`, and the {} after it", length - 1) };
        return Unit { path: list, action: Action::Remove, kind: "action", what };
    }
    if HARMLESS.contains(&kind) {
        return Unit { path: item.to_vec(), action: Action::Remove, kind: "action", what: described };
    }
    let following = length.saturating_sub(index + 1);
    let what = match following {
        0 => format!("{described} of `{event}`"),
        _ => format!("{described} of `{event}`, and the {following} after it"),
    };
    Unit { path: list, action: Action::EndOfList(index), kind: "action", what }
}

/// In an agent, a connection, an endpoint, a page or a block, of which `owner` is the length of the
/// path: the innermost key that it can do without.
fn in_owner(root: &Tree, path: &[Step], owner: usize, kind: &'static str) -> Unit {
    let rest = &path[owner..];
    let names_needed = |step: &Step, among: &[&str]| matches!(step, Step::Key(key) if among.contains(&key.as_str()));
    let [Step::Key(first), inner @ ..] = rest else { return whole(root, &path[..owner], kind) };
    if names_needed(&rest[0], &NEEDED)
        || names_needed(&rest[0], &DECISIVE)
        || (first == "properties" && inner.is_empty())
    {
        return whole(root, &path[..owner], kind);
    }
    // A tool, an MCP server, a sub-agent or a hook is an item that is left out as a whole.
    if let (true, Some(Step::Index(_))) = (first != "properties", inner.first()) {
        let is_part =
            inner.len() > 1 && !inner.iter().any(|step| names_needed(step, &NEEDED) || names_needed(step, &DECISIVE));
        let end = if is_part { path.len() } else { owner + 2 };
        return key(root, path, operator_start(root, path, owner + 2, end), owner, kind);
    }
    if inner.iter().any(|step| names_needed(step, &DECISIVE)) {
        return whole(root, &path[..owner], kind);
    }
    key(root, path, operator_start(root, path, owner + 1, path.len()), owner, kind)
}

/// Returns the length of the path to the outermost operator on it, after `from`, or `end` if there
/// is none.
fn operator_start(root: &Tree, path: &[Step], from: usize, end: usize) -> usize {
    let is_operator = |length: &usize| look(root, &path[..*length]).is_some_and(|tree| tree.operator().is_some());
    (from..end).find(is_operator).unwrap_or(end)
}

fn key(root: &Tree, path: &[Step], end: usize, owner: usize, kind: &'static str) -> Unit {
    let unit = path[..end].to_vec();
    let names: Vec<String> = path[owner..end]
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        })
        .collect();
    let owner = look(root, &path[..owner]).and_then(|owner| owner.text_of("id"));
    let owner = owner.map_or_else(|| format!("the {kind}"), |id| format!("the {kind} `{id}`"));
    let what = format!("`{}` of {owner}", names.join("."));
    Unit { path: unit, action: Action::Remove, kind: "key", what }
}

fn whole(root: &Tree, path: &[Step], kind: &'static str) -> Unit {
    Unit { path: path.to_vec(), action: Action::Remove, kind, what: describe(root, path, kind) }
}

/// Describes an entry by its id and its type.
fn describe(root: &Tree, path: &[Step], kind: &str) -> String {
    let entry = look(root, path);
    let name = |key: &str| entry.and_then(|entry| entry.text_of(key)).map(|text| format!("`{text}`"));
    let control = entry.and_then(|entry| entry.entries().iter().find(|entry| entry.key.starts_with(':')));
    match (name("id"), name("type"), control) {
        (Some(id), Some(of), _) if kind != "page" => format!("the {kind} {id} of the type {of}"),
        (Some(id), _, _) => format!("the {kind} {id}"),
        (None, Some(of), _) => format!("the {kind} {of}"),
        (None, None, Some(control)) => format!("the {kind} `{}`", control.key),
        _ => format!("the {kind}"),
    }
}
