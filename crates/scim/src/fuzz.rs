//! The readers of what a directory sends, for fuzz targets.

use crate::{filter, group, patch, user};
use serde_json::{Map, Value};
use store::GroupChange;

/// Reads a filter of users and of groups.
pub fn read_filter(text: &str) {
    if let Ok(filter) = filter::parse(text) {
        let _ = filter::of_users(&filter);
        if let Ok(condition) = filter::of_groups(&filter) {
            let _ = condition.members();
        }
    }
}

/// Applies the operations of a body to a user, who stays readable or is refused, and to a group.
pub fn change(body: &Map<String, Value>) {
    let Ok(operations) = patch::operations(body) else { return };
    let mut document = Map::from_iter([("userName".to_owned(), "ada".into())]);
    let mut change = GroupChange::default();
    for operation in &operations {
        let _ = patch::apply(&mut document, operation);
        let _ = group::apply(&mut change, operation);
    }
    let _ = user::read(&document);
}
