//! Routines: requests and controls.

use super::operators::Renamed;
use super::{Notes, connections, http, make_list, operators, sql};
use crate::tree::{Tree, Value};
use std::collections::HashMap;

/// The keys of controls that hold steps.
const BRANCHES: [&str; 7] = [":then", ":else", ":do", ":try", ":catch", ":finally", ":default"];
/// The main keys of controls, which come first.
const CONTROLS: [&str; 10] =
    [":if", ":switch", ":for", ":parallel", ":try", ":return", ":reject", ":throw", ":set_state", ":log"];

/// Converts a routine.
pub(super) fn convert(routine: &mut Tree, notes: &mut Notes<'_>) {
    let mut shapes = HashMap::new();
    list(routine, &mut shapes, notes);
    operators::convert(routine, &operators::Place::Routine(&shapes), notes);
}

/// Converts a list of steps. A single step becomes a list, and a list in it its steps.
fn list(steps: &mut Tree, shapes: &mut HashMap<String, Renamed>, notes: &mut Notes<'_>) {
    make_list(steps);
    if let Value::List(items) = &mut steps.value {
        *items = flatten(std::mem::take(items));
    }
    for item in steps.items_mut() {
        step(item, shapes, notes);
    }
}

/// Replaces lists by their items. Trees nest at most some dozens deep.
fn flatten(items: Vec<Tree>) -> Vec<Tree> {
    let each = |item: Tree| match item {
        Tree { value: Value::List(items), .. } => flatten(items),
        item => vec![item],
    };
    items.into_iter().flat_map(each).collect()
}

fn step(step: &mut Tree, shapes: &mut HashMap<String, Renamed>, notes: &mut Notes<'_>) {
    match step.text_of("type").map(str::to_owned) {
        Some(kind) => request(step, &kind, shapes, notes),
        None => control(step, shapes, notes),
    }
}

fn control(step: &mut Tree, shapes: &mut HashMap<String, Renamed>, notes: &mut Notes<'_>) {
    if let Some(entry) = step.entry_mut(":parallel_for") {
        ":for".clone_into(&mut entry.key);
        let at = entry.key_at;
        notes.changed(
            at,
            "`:parallel_for` runs one item after the other",
            "use `:parallel` for a fixed number of branches",
        );
    }
    for key in [":level", ":cause"] {
        if let Some(entry) = step.remove(key) {
            notes.left_out(entry.key_at, format!("`{key}`"), "");
        }
    }
    if let Value::Map(entries) = &mut step.value
        && let Some(index) = entries.iter().position(|entry| CONTROLS.contains(&entry.key.as_str()))
    {
        entries[..=index].rotate_right(1);
    }
    let Value::Map(entries) = &mut step.value else { return };
    for entry in entries {
        match entry.key.as_str() {
            ":switch" => {
                make_list(&mut entry.value);
                for case in entry.value.items_mut() {
                    if let Some(then) = case.get_mut(":then") {
                        list(then, shapes, notes);
                    }
                }
            }
            ":parallel" => {
                make_list(&mut entry.value);
                entry.value.items_mut().iter_mut().for_each(|branch| list(branch, shapes, notes));
            }
            key if BRANCHES.contains(&key) => list(&mut entry.value, shapes, notes),
            _ => {}
        }
    }
}

/// Converts a step that asks something: of a database, a web service, a model or an endpoint.
fn request(step: &mut Tree, kind: &str, shapes: &mut HashMap<String, Renamed>, notes: &mut Notes<'_>) {
    if let (Some(id), Some(shape)) = (step.text_of("id"), operators::shape_of(kind)) {
        shapes.insert(id.to_owned(), shape);
    }
    match kind {
        "AxiosHttp" => http::convert(step, notes),
        "KnexRaw" => {
            if let Err(help) = sql::convert(step, notes) {
                replace(step, kind, help, notes);
            }
        }
        "CallApi" | "CallAPI" => {
            step.set("type", Tree::text_at(step.at, "CallEndpoint"));
            step.rename("params", "properties");
        }
        "KnexBuilder" => {
            let help = "write the query as SQL, with a step of the type `SqlQuery` or `SqlExecute`";
            replace(step, kind, help, notes);
        }
        _ => {
            if let Some(help) = missing_help(kind) {
                replace(step, kind, help, notes);
            }
        }
    }
}

/// Returns the replacement of a type of request that only Lowdefy has.
fn missing_help(kind: &str) -> Option<&'static str> {
    let connection = ["GoogleSheet", "Elasticsearch", "Redis", "Stripe", "SendGrid", "Smtp", "AwsS3", "Algolia"];
    if connection.iter().any(|start| kind.starts_with(start)) {
        Some("call the service's HTTP API with a step of the type `Http`")
    } else {
        connections::missing_help(kind)
    }
}

/// Replaces a step by one that fails, so that the routine does not do half of its work unnoticed.
fn replace(step: &mut Tree, kind: &str, help: &str, notes: &mut Notes<'_>) {
    let id = step.text_of("id").map(|id| format!(" `{id}`")).unwrap_or_default();
    let what = format!("the step{id} of the type `{kind}`");
    notes.left_out(step.at, &what, help);
    put_failure(step, &what);
}

/// Puts a step that fails in the place of another.
pub(crate) fn put_failure(step: &mut Tree, what: &str) {
    let at = step.at;
    let what = what.replace('`', "");
    let what = what.strip_prefix("the ").unwrap_or(&what);
    *step = Tree::map_at(at, vec![(":throw", Tree::text_at(at, format!("Not taken over from Lowdefy: {what}")))]);
    step.comment = vec!["to do: the import left out this step".to_owned()];
}
