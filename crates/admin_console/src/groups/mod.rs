//! Administration of groups: what administrators may do with them, with forms or with the API.

mod api;
mod list;
mod page;

use crate::state::ConsoleState;
use crate::users::{UserAdmin, check_roles};
use api::{GroupChangeBody, NewGroupBody};
use auth::groups::{group_description_problem, group_name_key, group_name_problem};
use auth::password::now_millis;
use serde_json::{Value, json};
use store::{
    ADMIN, Group, GroupChange, GroupMember, GroupOutcome, MAX_GROUP_MEMBERS, MAX_GROUPS, MemberChange, NewGroup,
};
use uuid::Uuid;
use web::admin::{Admin, from_store_error};
use web::openapi::ApiRouter;
use wire::{ErrorCode, UserError};

/// The number of members on a page.
const MEMBERS_LISTED: u32 = 100;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes().merge(api::routes()).with_pages(page::routes())
}

/// Operations of an administrator on the groups of this server.
struct GroupAdmin<'a> {
    state: &'a ConsoleState,
    users: UserAdmin<'a>,
    admin: &'a Admin,
}

impl<'a> GroupAdmin<'a> {
    /// Creates the operations.
    ///
    /// # Errors
    /// 404 if this server does not manage users.
    fn new(state: &'a ConsoleState, admin: &'a Admin) -> Result<Self, UserError> {
        Ok(Self { state, users: UserAdmin::new(state, admin)?, admin })
    }

    async fn get(&self, id: &str) -> Result<Group, UserError> {
        self.state.store.group(id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)
    }

    /// Returns a page of a group's members, and the name after which the next page begins.
    async fn members(&self, id: &str, after: &str) -> Result<(Vec<GroupMember>, Option<String>), UserError> {
        let found = self.state.store.group_members(id, after, MEMBERS_LISTED + 1).await.map_err(from_store_error)?;
        let most = MEMBERS_LISTED as usize;
        let next = (found.len() > most).then(|| auth::password::credential_rules::name_key(&found[most - 1].name));
        Ok((found.into_iter().take(most).collect(), next))
    }

    /// Adds a group. Returns its id.
    ///
    /// # Errors
    /// 422 for an invalid name, role or member, and for a name that is taken.
    async fn add(&self, sent: &NewGroupBody) -> Result<String, UserError> {
        let (name, description) = (sent.name.trim(), sent.description.trim());
        check_texts(name, description)?;
        check_roles(self.state, &sent.roles, &[], sent.allow_unknown_roles)?;
        self.check_others(&sent.members)?;
        let id = Uuid::now_v7().to_string();
        let group = NewGroup {
            id: id.clone(),
            name: name.to_owned(),
            name_key: group_name_key(name),
            description: description.to_owned(),
            roles: sent.roles.clone(),
            provisioned: false,
            external_id: None,
            members: sent.members.clone(),
            now: now_millis(),
        };
        let about = json!({ "groupId": id, "after": { "name": name, "roles": sent.roles } });
        let entry = self.admin.audit_entry("add_group", "", about);
        checked(self.state.store.add_group(group, entry).await.map_err(from_store_error)?)?;
        Ok(id)
    }

    /// Changes a group.
    ///
    /// # Errors
    /// 404 for an unknown group; 422 for an invalid name, role or member, for a name that is taken, for what a directory
    /// sets, and for a change of the administrator's own membership.
    async fn change(&self, id: &str, sent: &GroupChangeBody) -> Result<(), UserError> {
        let before = self.get(id).await?;
        let name = sent.name.as_deref().map(str::trim).filter(|name| *name != before.name);
        let description = sent.description.as_deref().map(str::trim).filter(|text| *text != before.description);
        let roles = sent.roles.as_ref().filter(|roles| **roles != before.roles);
        let is_managed = sent.provisioned.unwrap_or(before.provisioned);
        let changes_members = !sent.add_members.is_empty() || !sent.remove_members.is_empty();
        if is_managed && (name.is_some() || changes_members) {
            let text = "A directory sets the name and the members of this group. Change them there.";
            return Err(UserError::invalid("/provisioned", text));
        }
        check_texts(name.unwrap_or(&before.name), description.unwrap_or(&before.description))?;
        if let Some(roles) = roles {
            check_roles(self.state, roles, &before.roles, sent.allow_unknown_roles)?;
            if !roles.iter().any(|role| role == ADMIN) {
                self.check_stays_admin(&before).await?;
            }
        }
        self.check_others(&sent.add_members)?;
        self.check_others(&sent.remove_members)?;
        let change = GroupChange {
            name: name.map(|name| (name.to_owned(), group_name_key(name))),
            description: description.map(str::to_owned),
            roles: roles.cloned(),
            provisioned: sent.provisioned.filter(|provisioned| *provisioned != before.provisioned),
            external_id: None,
            members: vec![
                MemberChange::Add(sent.add_members.clone()),
                MemberChange::Remove(sent.remove_members.clone()),
            ],
        };
        let entry = self.admin.audit_entry("change_group", "", about_change(&before, &change));
        checked(self.state.store.change_group(id, change, now_millis(), entry).await.map_err(from_store_error)?)
    }

    /// Deletes a group. Its members lose its roles.
    ///
    /// # Errors
    /// 404 for an unknown group; 422 if the administrator would no longer be one.
    async fn delete(&self, id: &str) -> Result<(), UserError> {
        let before = self.get(id).await?;
        self.check_stays_admin(&before).await?;
        let about = json!({ "groupId": id, "before": { "name": before.name, "roles": before.roles } });
        let entry = self.admin.audit_entry("delete_group", "", about);
        if self.state.store.delete_group(id, entry).await.map_err(from_store_error)? {
            Ok(())
        } else {
            Err(UserError::not_found())
        }
    }

    /// Checks that none of these users is the administrator: nobody changes their own rights.
    fn check_others(&self, ids: &[String]) -> Result<(), UserError> {
        ids.iter().try_for_each(|id| self.users.check_other(id))
    }

    /// Checks that the administrator remains one without the roles of a group.
    ///
    /// # Errors
    /// 422 if they do not.
    async fn check_stays_admin(&self, group: &Group) -> Result<(), UserError> {
        let id = &self.admin.caller.user_id;
        if !group.roles.iter().any(|role| role == ADMIN) {
            return Ok(());
        }
        let user = self.users.get(id).await?;
        let others = user.groups.iter().filter(|other| other.id != group.id).flat_map(|other| &other.roles);
        let mut kept = user.roles.iter().chain(&user.group_roles).chain(others);
        let is_member = user.groups.iter().any(|other| other.id == group.id);
        if !is_member || kept.any(|role| role == ADMIN) {
            Ok(())
        } else {
            Err(UserError::invalid(
                "/roles",
                "This group makes you an administrator. Another administrator can change that.",
            ))
        }
    }
}

/// Returns the details of a change for the audit log, without the members.
fn about_change(before: &Group, change: &GroupChange) -> Value {
    let mut about = json!({ "groupId": before.id, "name": before.name });
    let mut record = |key: &str, old: Value, new: Option<Value>| {
        if let Some(new) = new {
            about["before"][key] = old;
            about["after"][key] = new;
        }
    };
    record("name", before.name.clone().into(), change.name.as_ref().map(|(name, _)| name.clone().into()));
    record("roles", before.roles.clone().into(), change.roles.clone().map(Value::from));
    record("provisioned", before.provisioned.into(), change.provisioned.map(Value::from));
    about
}

fn check_texts(name: &str, description: &str) -> Result<(), UserError> {
    if let Some(problem) = group_name_problem(name) {
        return Err(UserError::invalid("/name", problem));
    }
    match group_description_problem(description) {
        Some(problem) => Err(UserError::invalid("/description", problem)),
        None => Ok(()),
    }
}

fn checked(outcome: GroupOutcome) -> Result<(), UserError> {
    match outcome {
        GroupOutcome::Done => Ok(()),
        GroupOutcome::Unknown => Err(UserError::not_found()),
        GroupOutcome::NameTaken => Err(UserError::invalid("/name", "There is a group with this name already.")),
        GroupOutcome::TooMany => {
            let text = format!("There are {MAX_GROUPS} groups, which is the maximum. Delete one first.");
            Err(UserError::new(ErrorCode::Conflict, text))
        }
        GroupOutcome::TooManyMembers => {
            Err(UserError::invalid("/members", format!("A group has at most {MAX_GROUP_MEMBERS} members.")))
        }
        GroupOutcome::UnknownMember(_) => Err(UserError::invalid("/members", "There is no user with this id.")),
    }
}
