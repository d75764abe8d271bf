//! Changes of libraries, and ending the reading of a document.

use super::{Access, Knowledge, failed};
use crate::audit;
use crate::graph::enqueue_library;
use crate::store::{self, DocumentRow, LibraryRow};
use ::store::append_audit;
use chat::Viewer;
use serde_json::json;
use web::times::now_millis;
use wire::hidden_characters::{TextKind, TextRun, text_runs};
use wire::{ErrorCode, UserError};

/// The longest name of a library, in characters.
const MAX_NAME: usize = 200;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 2_000;
/// The most roles of a library.
const MAX_ROLES: usize = 50;
/// The message of a document whose reading was cancelled.
const CANCELLED: &str = "Reading was cancelled. Retry to read the document.";

/// The body that changes a library. Absent fields stay unchanged.
#[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LibraryChange {
    /// The name that people see.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The description of the library; an empty text removes it.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The roles whose users may read it.
    #[serde(default)]
    pub(crate) readers: Option<Vec<String>>,
    /// The roles whose users may add and delete documents, too.
    #[serde(default)]
    pub(crate) writers: Option<Vec<String>>,
    /// Whether entities and relations are extracted from its documents. `false` deletes those that there are.
    #[serde(default)]
    pub(crate) graph: Option<bool>,
}

impl Knowledge {
    /// Changes a library.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`], also 403 for one that the config declares; 422 for an
    /// invalid value.
    pub(crate) async fn change(
        &self,
        viewer: &Viewer,
        id: &str,
        change: LibraryChange,
    ) -> Result<LibraryRow, UserError> {
        let mut library = self.library(viewer, id, Access::Manage).await?;
        let LibraryChange { name, description, readers, writers, graph } = change;
        let names_roles = [&readers, &writers].into_iter().flatten().any(|roles| !roles.is_empty());
        if library.of_project && (names_roles || name.as_ref().is_some_and(|name| name.trim() != library.name)) {
            let message = "This library has the name and the members of its project. Change the project instead.";
            return Err(UserError::new(ErrorCode::Forbidden, message));
        }
        self.check_graph_switch(graph == Some(true))?;
        library.has_graph = graph.unwrap_or(library.has_graph);
        if let Some(name) = name {
            library.name = checked_name(&name)?;
        }
        if let Some(description) = description {
            library.description = Some(description.trim().to_owned()).filter(|text| !text.is_empty());
        }
        library.readers = readers.unwrap_or(library.readers);
        library.writers = writers.unwrap_or(library.writers);
        check_details(library.description.as_deref(), &library.readers, &library.writers)?;
        let LibraryRow { name, readers, writers, has_graph, .. } = &library;
        let about = json!({ "name": name, "readers": readers, "writers": writers, "graph": has_graph });
        let audit = audit::library(&viewer.user_id, "change", &library.id, about);
        store::update_library(self.store(), library, audit, now_millis()).await.map_err(failed)?;
        let library = self.library(viewer, id, Access::Manage).await?;
        if let Some(settings) = self.graph_settings(&library).filter(|_| graph == Some(true)) {
            enqueue_library(self, &library.id, &settings.key()).await.map_err(failed)?;
        }
        Ok(library)
    }

    /// Returns the roles that the config names, which the owner of a library can let read or change it.
    ///
    /// # Errors
    /// 401 for visitors.
    pub(crate) fn known_roles(&self, viewer: &Viewer) -> Result<Vec<String>, UserError> {
        if !viewer.is_authenticated {
            return Err(UserError::unauthenticated());
        }
        let config = self.0.config.load();
        Ok(config.as_ref().map_or_else(Vec::new, |config| config.roles().into_iter().map(str::to_owned).collect()))
    }

    /// Ends the reading of a document. It counts as failed, and can be read again.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`]; 409 if it is not being read.
    pub(crate) async fn cancel(&self, viewer: &Viewer, id: &str) -> Result<DocumentRow, UserError> {
        let document = self.document(viewer, id, Access::Write).await?;
        let audit = audit::document(&viewer.user_id, "cancel", &document.library_id, id, &document.file_name);
        let write = self.store().write(move |db| {
            Box::pin(async move {
                let is_cancelled = store::cancel(db, &document.id, CANCELLED, now_millis()).await?;
                if is_cancelled {
                    append_audit(db, vec![audit]).await?;
                }
                Ok(is_cancelled)
            })
        });
        if !write.await.map_err(failed)? {
            return Err(UserError::new(ErrorCode::Conflict, "The document is not being read."));
        }
        self.document(viewer, id, Access::Read).await
    }
}

/// Returns a valid name of a library without spaces around it.
pub(super) fn checked_name(name: &str) -> Result<String, UserError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(UserError::invalid("/name", format!("A name has 1 to {MAX_NAME} characters.")));
    }
    if text_runs(name, TextKind::Prose).iter().any(|run| matches!(run, TextRun::Hidden(_))) {
        return Err(UserError::invalid("/name", "A name has no invisible characters."));
    }
    Ok(name.to_owned())
}

/// Checks a description and roles.
pub(super) fn check_details(
    description: Option<&str>,
    readers: &[String],
    writers: &[String],
) -> Result<(), UserError> {
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        let message = format!("A description has at most {MAX_DESCRIPTION} characters.");
        return Err(UserError::invalid("/description", message));
    }
    for (path, roles) in [("/readers", readers), ("/writers", writers)] {
        let is_valid = |role: &String| !role.is_empty() && role.len() <= MAX_NAME;
        if roles.len() > MAX_ROLES || !roles.iter().all(is_valid) {
            return Err(UserError::invalid(path, format!("These are at most {MAX_ROLES} names of roles.")));
        }
    }
    Ok(())
}
