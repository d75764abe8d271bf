//! Ids of messages, runs and other rows: new ones, and those that clients choose.

use wire::UserError;

/// Returns a new id; later ones sort after earlier ones.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Checks an id, which clients choose; these characters are safe everywhere.
pub(crate) fn check_id(path: &str, id: &str) -> Result<(), UserError> {
    if wire::is_id(id) {
        Ok(())
    } else {
        Err(UserError::invalid(path, "An id has 1 to 128 letters, digits, `-` or `_`."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_ids_are_rejected() {
        let check = |id: &str, fits: bool| assert_eq!(check_id("/id", id).is_ok(), fits, "{id:?}");
        check("c1-A_z", true);
        check(&"x".repeat(128), true);
        check(&"x".repeat(129), false);
        check("", false);
        check("../x", false);
        check("a b", false);
        check("é", false);
    }
}
