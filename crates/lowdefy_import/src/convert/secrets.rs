//! The environment variables that hold the app's secrets.

use crate::tree::{Tree, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The variables by name, with what they hold.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Comments for `.env.example`.
    comments: BTreeMap<String, String>,
    /// The names of variables that hold the address of a database.
    databases: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Secrets {
    /// Adds a variable that the import introduces.
    pub(crate) fn introduce(&mut self, name: &str, comment: String) {
        self.comments.insert(name.to_owned(), comment);
    }

    /// Notes that a variable holds the address of a database.
    pub(crate) fn is_database(&mut self, name: &str) {
        self.databases.insert(name.to_owned());
    }

    /// Brings all secrets into the form `_secret: NAME` and collects their names.
    pub(super) fn collect(&mut self, root: &mut Tree) {
        root.for_each_mut(&mut |tree| {
            let Some(("_secret", argument)) = tree.operator() else { return };
            let Some(name) = argument.text().or_else(|| argument.text_of("key")).map(str::to_owned) else { return };
            let at = argument.at;
            tree.value = Tree::map_at(at, vec![("_secret", Tree::text_at(at, name))]).value;
        });
        self.names = names(root);
    }

    /// Drops the variables that the config does not read in the end.
    pub(crate) fn retain_used(&mut self, root: &Tree) {
        self.names = names(root);
    }

    /// Returns the variables with values that pass the checks of a config.
    pub(crate) fn values(&self) -> Vec<(String, String)> {
        let value = |name: &String| {
            if self.databases.contains(name) {
                "postgres://localhost/database"
            } else {
                "https://secret.example.com/of-more-than-thirty-two-characters"
            }
        };
        self.names.iter().map(|name| (name.clone(), value(name).to_owned())).collect()
    }

    /// Returns the file that lists the variables.
    pub(crate) fn example_file(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let mut text =
            String::from("# The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.\n");
        for name in &self.names {
            if let Some(comment) = self.comments.get(name) {
                text.push_str(&format!("# {comment}\n"));
            }
            text.push_str(&format!("{name}=\n"));
        }
        Some(text)
    }
}

fn names(root: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    root.for_each(&mut |tree| {
        if let Some(("_secret", Tree { value: Value::Text(name), .. })) = tree.operator() {
            names.insert(name.clone());
        }
    });
    names
}
