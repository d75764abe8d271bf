//! Leaves out what the config language refuses, until the tree is a valid config.

mod numbered;
mod unit;

use crate::convert::{self, Notes, Secrets};
use crate::tree::{Tree, Value};
use config::{Diagnostic, Env, Language, Severity};
use numbered::{Position, Step};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use unit::{Action, Unit};

/// The most checks. Each one leaves something out; an app that needs more is not worth more time.
const MAX_ROUNDS: usize = 60;

/// Leaves out what is refused, with a note at its position in the app.
pub(crate) fn settle(root: &mut Tree, folder: &Path, language: &Language, secrets: &Secrets, notes: &mut Notes<'_>) {
    let env: HashMap<String, String> = secrets.values().into_iter().collect();
    for _ in 0..MAX_ROUNDS {
        if !leave_out_refused(root, folder, language, &env, notes) {
            return;
        }
    }
    // What remains is reported by the check of the written config.
}

/// Checks once. Returns whether something was left out.
fn leave_out_refused(
    root: &mut Tree,
    folder: &Path,
    language: &Language,
    env: &dyn Env,
    notes: &mut Notes<'_>,
) -> bool {
    let problems = language.check_tree(&numbered::number(root), folder, env);
    let problems: Vec<&Diagnostic> =
        problems.iter().filter(|problem| problem.severity == Severity::Error && problem.column > 0).collect();
    let numbers = problems.iter().map(|problem| problem.column).collect();
    let positions = numbered::positions(root, &numbers);
    // One note for each unit, about the first of its problems.
    let mut units: BTreeMap<Vec<Step>, (Unit, &Position, &Diagnostic)> = BTreeMap::new();
    for problem in problems {
        let Some(position) = positions.get(&problem.column) else { continue };
        let unit = unit::of(root, &position.path);
        units.entry(unit.path.clone()).or_insert((unit, position, problem));
    }
    let mut done: Vec<Vec<Step>> = Vec::new();
    for (path, (unit, position, problem)) in units {
        // An outer unit comes before those in it, and takes them along.
        if done.iter().any(|outer| path.starts_with(outer)) {
            continue;
        }
        let Some(target) = numbered::find(root, &path) else { continue };
        let what = format!("{}: {}", unit.what, problem.message);
        let help = help(&unit, problem);
        notes.left_out(position.at, what, &help);
        match unit.action {
            Action::Remove => target.value = Value::Removed,
            Action::Fail => convert::put_failure(target, &unit.what),
            Action::EndOfList(first) => {
                if let Value::List(items) = &mut target.value {
                    items.truncate(first);
                }
            }
        }
        done.push(path);
    }
    root.prune();
    !done.is_empty()
}

/// Returns what to do instead.
fn help(unit: &Unit, problem: &Diagnostic) -> String {
    let operator = problem.message.strip_prefix("there is no operator `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(help) = operator.and_then(convert::operator_help) {
        return help.to_owned();
    }
    let own = problem.help.clone().unwrap_or_default();
    let lacks_type = problem.message.contains("type") && problem.message.contains("there is no");
    match unit.kind {
        "block" if lacks_type => {
            "write the page in Leptos, or embed the chat into a page of your own, see docs/embedding.md".to_owned()
        }
        "action" if lacks_type => "write the page in Leptos, or do it in an endpoint".to_owned(),
        // The position that it names is a number of this tree.
        _ if own.contains(":0:") => String::new(),
        _ => own,
    }
}
