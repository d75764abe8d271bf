//! The tables. Every function takes the user, and returns and changes only rows that they may see
//! and change.

mod blocks;
mod members;
mod projects;

pub(crate) use blocks::{Block, RunProject, block, in_effect, insert_block, project_of_conversation, projects_around};
pub(crate) use members::{
    AddMember, AddOutcome, RemoveOutcome, add_member, change_role, ensure_folder, members, memberships, remove_member,
};
pub(crate) use projects::{
    CreateOutcome, CreateProject, ListedProject, ProjectFolder, SaveOutcome, SaveProject, StoredProject, create,
    delete, find, find_in, list, project_of_folder, save,
};

#[cfg(test)]
pub(crate) use projects::explain_list;

use crate::project::Role;
use ::store::sql::Row;
use ::store::{CapabilityTables, Migration, StoreError, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "projects",
    migrations: &[Migration {
        name: "projects",
        sqlite: include_str!("../../migrations/sqlite/0001_projects.sql"),
        postgres: include_str!("../../migrations/postgres/0001_projects.sql"),
    }],
    tables: &[
        Table { name: "projects", key: "id", owner: Some("owner") },
        Table { name: "project_members", key: "project_id, user_id", owner: Some("user_id") },
        Table { name: "project_blocks", key: "conversation_id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The error about a row that this version cannot read.
const DAMAGED: StoreError = StoreError::Invalid("a row of a project is damaged");

fn role(row: &Row) -> Result<Role, StoreError> {
    Role::from_name(row.try_get("role")?).ok_or(DAMAGED)
}
