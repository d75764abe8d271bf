//! The import of users from CSV: a preview of what would be done, and then an invitation for each line, all or none.

mod pages;
mod read;

use super::invitations::{MAX_LABEL, invitation_link};
use super::{UserAdmin, roles};
use crate::state::ConsoleState;
use auth::groups::group_name_key;
use auth::password::InvitedUser;
use auth::password::credential_rules::name_key;
use axum::extract::State;
use axum::{Extension, Json};
use read::Line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use store::{Group, MAX_INVITATIONS};
use web::admin::{ADMINISTRATION, Admin, from_store_error};
use web::openapi::ApiRouter;
use web::{HttpError, Origin, SentJson, valid_json};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/user-imports", import, "Invite users from CSV, or preview the invitations")
        .with_pages(pages::routes())
}

/// The body that imports users.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ImportBody {
    /// The text: a line with the names of the columns (`name`, `roles`, `groups`), and one for each user, up to 2,000.
    /// Roles are separated by spaces, groups by semicolons.
    csv: String,
    /// Invites the users, if nothing is wrong with any line. Otherwise it is only a preview.
    #[serde(default)]
    apply: bool,
}

/// The lines of an import.
#[derive(Debug, Serialize, JsonSchema)]
struct ImportResult {
    /// Whether the users were invited.
    applied: bool,
    /// The users, in the order of the text.
    items: Vec<ImportLine>,
}

/// A line of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ImportLine {
    /// The number of the line in the text, from 1 on.
    line: u64,
    /// For whom the invitation is.
    name: String,
    /// The roles of the new account.
    roles: Vec<String>,
    /// The names of its groups.
    groups: Vec<String>,
    /// Why the line cannot be imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The link of the invitation, which is shown only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// The ids of the groups.
    #[serde(skip)]
    group_ids: Vec<String>,
}

/// `POST /api/admin/user-imports`
async fn import(
    admin: Admin,
    State(state): State<ConsoleState>,
    origin: Option<Extension<Origin>>,
    sent: SentJson<ImportBody>,
) -> Result<Json<ImportResult>, HttpError> {
    let sent = valid_json(sent)?;
    let users = UserAdmin::new(&state, &admin)?;
    let mut items = users.plan_import(&sent.csv).await?;
    let applied = sent.apply && items.iter().all(|item| item.problem.is_none());
    if applied {
        users.apply_import(&mut items, origin.as_deref()).await?;
    }
    Ok(Json(ImportResult { applied, items }))
}

impl UserAdmin<'_> {
    /// Returns the effects of an import, with the problems of each line.
    ///
    /// # Errors
    /// 422 for a text that cannot be read, and on a server without passwords.
    async fn plan_import(&self, text: &str) -> Result<Vec<ImportLine>, UserError> {
        self.check_passwords()?;
        let lines = read::read(text).map_err(|problem| UserError::invalid("/csv", problem))?;
        let groups = self.accounts.store.groups().await.map_err(from_store_error)?;
        let groups: HashMap<_, _> = groups.into_iter().map(|group| (group_name_key(&group.name), group)).collect();
        let open = self.invitations().await?;
        let room = (MAX_INVITATIONS as usize).saturating_sub(open.len());
        let mut taken: BTreeSet<_> = open.into_iter().map(|invitation| name_key(&invitation.label)).collect();
        let mut planned = Vec::with_capacity(lines.len());
        for (i, line) in lines.into_iter().enumerate() {
            let mut item = self.plan_line(line, &groups, &mut taken).await?;
            if i >= room && item.problem.is_none() {
                item.problem = Some(format!("There can be {MAX_INVITATIONS} open invitations at most."));
            }
            planned.push(item);
        }
        Ok(planned)
    }

    async fn plan_line(
        &self,
        line: Line,
        known: &HashMap<String, Group>,
        taken: &mut BTreeSet<String>,
    ) -> Result<ImportLine, UserError> {
        let Line { number, name, roles, groups } = line;
        let key = name_key(&name);
        let has_account = self.accounts.store.user_by_name(&key).await.map_err(from_store_error)?.is_some();
        let mut group_ids = Vec::new();
        let mut problem = None;
        for group in &groups {
            match known.get(&group_name_key(group)) {
                Some(group) if group.provisioned => {
                    problem = Some(format!("A directory sets the members of the group “{}”.", group.name));
                }
                Some(group) => group_ids.push(group.id.clone()),
                None => problem = Some(format!("There is no group “{}”.", shortened(group))),
            }
        }
        if let Err(error) = roles::check_roles(self.state, &roles, &[], false) {
            problem = Some(error.message);
        }
        if name.is_empty() || name.chars().count() > MAX_LABEL || name.chars().any(char::is_control) {
            problem = Some("A name has 1 to 100 characters in one line.".to_owned());
        } else if has_account {
            problem = Some("There is a user with this name already.".to_owned());
        } else if !taken.insert(key) {
            problem = Some("There is an open invitation for this name, or another line with it.".to_owned());
        }
        Ok(ImportLine { line: number, name, roles, groups, problem, link: None, group_ids })
    }

    /// Invites the users of an import, all or none, and adds the links.
    async fn apply_import(&self, items: &mut [ImportLine], origin: Option<&Origin>) -> Result<(), UserError> {
        let user = |item: &ImportLine| InvitedUser {
            label: item.name.clone(),
            roles: item.roles.clone(),
            groups: item.group_ids.clone(),
        };
        let made = self.invite_all(&items.iter().map(user).collect::<Vec<_>>()).await?;
        for (item, made) in items.iter_mut().zip(made) {
            item.link = Some(invitation_link(origin, &made.token));
        }
        Ok(())
    }
}

/// Returns the beginning of a text of a request.
fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}
