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

/// The most checks that leave out as little as possible. Each one leaves something out, and what
/// remains after them is left out in larger pieces, so that every app is settled after few checks.
const MAX_ROUNDS: usize = 60;

/// How much is left out for a value that is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The smallest part that can be removed without a change of meaning of the rest.
    Unit,
    /// The connection, agent, endpoint or page.
    Entry,
    /// The section.
    Section,
}

/// Leaves out invalid parts, with a note at their position in the app. The rest is a valid config: in the end, one
/// without sections.
pub(crate) fn settle(root: &mut Tree, folder: &Path, language: &Language, secrets: &Secrets, notes: &mut Notes<'_>) {
    let env: HashMap<String, String> = secrets.values().into_iter().collect();
    for extent in [Extent::Unit, Extent::Entry, Extent::Section] {
        for _ in 0..MAX_ROUNDS {
            match leave_out_refused(root, folder, language, &env, extent, notes) {
                Round::Valid => return,
                Round::LeftOut => {}
                Round::Stuck => break,
            }
        }
    }
    notes.left_out(root.at, "the whole app: what is refused in it cannot be told apart", "report this app as a bug");
    root.value = Value::Map(Vec::new());
}

/// The outcome of a check.
enum Round {
    /// The config is valid.
    Valid,
    /// Something was left out.
    LeftOut,
    /// Something is refused, but nothing was found that could be left out.
    Stuck,
}

/// Checks once.
fn leave_out_refused(
    root: &mut Tree,
    folder: &Path,
    language: &Language,
    env: &dyn Env,
    extent: Extent,
    notes: &mut Notes<'_>,
) -> Round {
    let problems = language.check_tree(&numbered::number(root), folder, env);
    let problems: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    if problems.is_empty() {
        return Round::Valid;
    }
    let numbers = problems.iter().map(|problem| problem.column).collect();
    let positions = numbered::positions(root, &numbers);
    // One note for each unit, about the first of its problems.
    let mut units: BTreeMap<Vec<Step>, (Unit, &Position, &Diagnostic)> = BTreeMap::new();
    for problem in problems {
        let Some(position) = positions.get(&problem.column) else { continue };
        let unit = match extent {
            Extent::Unit => unit::of(root, &position.path),
            Extent::Entry => unit::of(root, &position.path[..position.path.len().min(2)]),
            Extent::Section => unit::of(root, &position.path[..position.path.len().min(1)]),
        };
        units.entry(unit.path.clone()).or_insert((unit, position, problem));
    }
    let mut done: Vec<Vec<Step>> = Vec::new();
    for (path, (unit, position, problem)) in units {
        // An outer unit comes before those in it, and takes them along.
        if done.iter().any(|outer| path.starts_with(outer)) {
            continue;
        }
        let Some(target) = numbered::find(root, &path) else { continue };
        let what = format!("{}{}: {}", unit.what, convert::describe_contents(target), problem.message);
        let help = help(&unit, problem);
        notes.left_out(position.at, what, &help);
        match unit.action {
            // The whole app becomes a config without sections.
            Action::Remove if path.is_empty() => target.value = Value::Map(Vec::new()),
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
    if done.is_empty() { Round::Stuck } else { Round::LeftOut }
}

/// Returns a proposal of another form.
fn help(unit: &Unit, problem: &Diagnostic) -> String {
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
