//! Paths into the state, such as `cart.items`. Inputs have plain keys, so only actions and chats,
//! whose code is loaded on demand, need this.

use super::PageState;
use serde_json::{Map, Value};

impl PageState {
    /// Converts writes to paths into writes to whole keys, in order. A path through a list needs the
    /// index of an existing item; a write that has none is left out.
    pub(crate) fn resolve_writes(&self, writes: impl IntoIterator<Item = (String, Value)>) -> Vec<(String, Value)> {
        let mut resolved: Vec<(String, Value)> = Vec::new();
        for (path, value) in writes {
            let Some((key, rest)) = path.split_once('.').filter(|_| !self.has(&path)) else {
                resolved.push((path, value));
                continue;
            };
            let earlier = resolved.iter().rposition(|(known, _)| known == key);
            let mut whole = match earlier {
                Some(at) => resolved[at].1.clone(),
                None => self.get_untracked(key),
            };
            if !replace(&mut whole, rest, value) {
                continue;
            }
            match earlier {
                Some(at) => resolved[at].1 = whole,
                None => resolved.push((key.to_owned(), whole)),
            }
        }
        resolved
    }

    /// Returns the value at a path, `null` if there is none. Tracked.
    pub(crate) fn get_at(&self, path: &str) -> Value {
        let Some((key, rest)) = path.split_once('.').filter(|_| !self.has(path)) else { return self.get(path) };
        let whole = self.get(key);
        let found = rest.split('.').try_fold(&whole, |value, segment| match value {
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            value => value.get(segment),
        });
        found.cloned().unwrap_or_default()
    }
}

/// Replaces the value at a path; missing objects are created. Returns `false` for an item that a
/// list does not have.
fn replace(whole: &mut Value, path: &str, value: Value) -> bool {
    let mut place = whole;
    for segment in path.split('.') {
        if let Value::Array(items) = place {
            match segment.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                Some(item) => place = item,
                None => return false,
            }
            continue;
        }
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(fields) = place else { return false };
        place = fields.entry(segment).or_insert(Value::Null);
    }
    *place = value;
    true
}

#[cfg(test)]
mod tests {
    use crate::page_state::PageState;
    use crate::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn writes_to_paths_change_their_place_only() {
        let check = |before: Value, writes: Value, expected: Value| {
            let page = serde_json::from_value(json!({"id": "demo", "blocks": []})).unwrap();
            Owner::new().with(|| {
                let state = PageState::new(&page, Value::clone);
                state.set("cart", before);
                let writes = writes.as_object().unwrap().clone();
                for (key, value) in state.resolve_writes(writes) {
                    state.set(&key, value);
                }
                assert_eq!(state.with_values(Value::clone), expected);
            });
        };
        check(json!({"id": 1}), json!({"cart.items": [2]}), json!({"cart": {"id": 1, "items": [2]}}));
        check(json!(null), json!({"cart.a.b": 1, "cart.c": 2}), json!({"cart": {"a": {"b": 1}, "c": 2}}));
        check(json!([1, 2]), json!({"cart.1": 3}), json!({"cart": [1, 3]}));
        check(json!([1, 2]), json!({"cart.2": 3}), json!({"cart": [1, 2]}));
        check(json!("text"), json!({"cart.a": 1}), json!({"cart": {"a": 1}}));
        check(json!(1), json!({"cart": {"a": 1}, "cart.b": 2}), json!({"cart": {"a": 1, "b": 2}}));
    }
}
