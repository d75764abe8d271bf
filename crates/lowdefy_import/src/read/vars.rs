//! `_var`: the variables that a reference passes to a file.

use crate::tree::Tree;
use config::SourceReader;

/// Returns the value of a variable, or its default. `None` if there is neither, which is reported.
pub(super) fn lookup(argument: &Tree, vars: Option<&Tree>, reader: &mut SourceReader<'_>) -> Option<Tree> {
    let name = argument.text().or_else(|| argument.text_of("key")).or_else(|| argument.text_of("name"));
    let Some(name) = name else {
        reader.warning(argument.at, "left out: `_var` takes the name of a variable", None);
        return None;
    };
    let found = vars.and_then(|vars| part(vars, name)).or_else(|| argument.get("default")).cloned();
    if found.is_none() {
        reader.warning(argument.at, format!("left out: the reference to this file passes no variable `{name}`"), None);
    }
    found
}

/// Returns the value at a path with dots.
pub(super) fn part<'t>(tree: &'t Tree, path: &str) -> Option<&'t Tree> {
    path.split('.').try_fold(tree, |tree, step| match step.parse::<usize>() {
        Ok(index) if !tree.items().is_empty() => tree.items().get(index),
        _ => tree.get(step),
    })
}
