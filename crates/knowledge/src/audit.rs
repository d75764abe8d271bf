//! Audit rows of changes to libraries and documents. Each is stored in the transaction of the change.
//! Changes that come from a folder of the config have no row: the files in the folder are the record.

use ::store::AuditEntry;
use auth::audit_row;
use serde_json::{Value, json};

/// Returns the row of a change to a library. `about` is an object of what else is known.
pub(crate) fn library(user_id: &str, action: &str, library_id: &str, about: Value) -> AuditEntry {
    let mut about = about;
    about["libraryId"] = library_id.into();
    audit_row(user_id, &format!("library:{action}"), "", about)
}

/// Returns the row of a change to a document of a library.
pub(crate) fn document(user_id: &str, action: &str, library_id: &str, id: &str, file_name: &str) -> AuditEntry {
    let about = json!({ "libraryId": library_id, "documentId": id, "fileName": file_name });
    audit_row(user_id, &format!("document:{action}"), "", about)
}
