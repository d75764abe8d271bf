//! Invitations: links with which new users make their accounts, with roles that an administrator has chosen.

use super::{UserAdmin, roles, sent_field};
use crate::state::ConsoleState;
use auth::password::{INVITATION_DAYS, INVITATION_PATH, InvitedUser, MadeInvitation, now_millis};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{NoContent, Response};
use axum::routing::{get, post};
use axum::{Extension, Form, Json, Router};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Invitation, MAX_INVITATIONS};
use web::admin::{ADMINISTRATION, Admin, PageError, from_store_error, page};
use web::html::{account_part, error_message, row_button, success_message};
use web::openapi::{ApiRouter, Created};
use web::times::{day, minute};
use web::{HttpError, Origin, SentJson, query_encoded, see_other, valid_json};
use wire::UserError;

const PATH: &str = "/admin/invitations";
/// The entry of the console's menu under which the page is.
const TAB: &str = "/admin/users";
/// The maximum length of a label, in characters.
pub(super) const MAX_LABEL: usize = 100;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    let pages =
        Router::new().route(PATH, get(show).post(invite)).route("/admin/invitations/{id}/revoke", post(revoke_in_page));
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/invitations", list, "List the invitations that nobody has accepted yet, newest first")
        .post("/api/admin/invitations", add, "Invite a user: create a link that creates one account within seven days")
        .delete("/api/admin/invitations/{id}", revoke, "Revoke an invitation")
        .with_pages(pages)
}

/// The body that invites a user.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InvitationBody {
    /// For whom the invitation is, such as a name or an address: up to 100 characters. Only administrators see it.
    label: String,
    /// The roles of the new account.
    #[serde(default)]
    roles: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// A new invitation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AddedInvitation {
    /// The invitation's id.
    id: String,
    /// The link for the new user, which is shown only once. It is a path if the server does not know its own address.
    link: String,
    /// Unix time, milliseconds.
    expires_at: i64,
}

/// The invitations that were not accepted yet.
#[derive(Serialize, JsonSchema)]
struct InvitationItems {
    items: Vec<Invitation>,
}

/// `GET /api/admin/invitations`
async fn list(admin: Admin, State(state): State<ConsoleState>) -> Result<Json<InvitationItems>, HttpError> {
    let items = UserAdmin::new(&state, &admin)?.invitations().await?;
    Ok(Json(InvitationItems { items }))
}

/// `POST /api/admin/invitations`
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    origin: Option<Extension<Origin>>,
    sent: SentJson<InvitationBody>,
) -> Result<Created<AddedInvitation>, HttpError> {
    let sent = valid_json(sent)?;
    let origin = origin.map(|Extension(origin)| origin);
    Ok(Created(UserAdmin::new(&state, &admin)?.invite(&sent, origin.as_ref()).await?))
}

/// `DELETE /api/admin/invitations/{id}`
async fn revoke(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    UserAdmin::new(&state, &admin)?.revoke_invitation(&id).await?;
    Ok(NoContent)
}

/// The query of the page: set after an invitation was revoked.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /admin/invitations`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let notice = query.done.map(|_| success_message(Some("The invitation was revoked.")));
    render(&admin, &state, StatusCode::OK, notice, InvitationBody::default(), false).await
}

/// `POST /admin/invitations`. The response is the only page that shows the link.
async fn invite(
    admin: Admin,
    State(state): State<ConsoleState>,
    origin: Option<Extension<Origin>>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let sent = InvitationBody {
        label: sent_field(&form, "label").unwrap_or_default().to_owned(),
        roles: roles::parse_role_fields(&form),
        allow_unknown_roles: sent_field(&form, "allowUnknownRoles").is_some(),
    };
    let origin = origin.map(|Extension(origin)| origin);
    match UserAdmin::new(&state, &admin)?.invite(&sent, origin.as_ref()).await {
        Ok(added) => {
            let notice = view! {
                {success_message(Some("Give this link to the user now: it will not be shown again."))}
                <input class="cw-account-key" readonly aria-label="Link" value=added.link />
            };
            render(&admin, &state, StatusCode::OK, notice, InvitationBody::default(), false).await
        }
        Err(error) => {
            let insist = roles::is_unknown_role(&error);
            let notice = error_message(Some(error.message));
            render(&admin, &state, StatusCode::UNPROCESSABLE_ENTITY, notice, sent, insist).await
        }
    }
}

/// `POST /admin/invitations/{id}/revoke`
async fn revoke_in_page(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    UserAdmin::new(&state, &admin)?.revoke_invitation(&id).await?;
    Ok(see_other("/admin/invitations?done=1", None))
}

impl UserAdmin<'_> {
    /// Returns the invitations that nobody has accepted yet, the newest first.
    pub(super) async fn invitations(&self) -> Result<Vec<Invitation>, UserError> {
        self.accounts.store.invitations(now_millis(), &self.accounts.ways).await.map_err(from_store_error)
    }

    /// Invites a user. The link cannot be read again.
    ///
    /// # Errors
    /// 422 for an invalid label or role, for too many invitations, and where nobody has a password.
    async fn invite(&self, sent: &InvitationBody, origin: Option<&Origin>) -> Result<AddedInvitation, UserError> {
        self.check_passwords()?;
        let (label, roles) = (sent.label.trim(), &sent.roles);
        if label.is_empty() || label.chars().count() > MAX_LABEL || label.chars().any(char::is_control) {
            return Err(UserError::invalid("/label", "Name the invited person, in up to 100 characters."));
        }
        roles::check_roles(self.state, roles, &[], sent.allow_unknown_roles)?;
        let user = InvitedUser { label: label.to_owned(), roles: roles.clone(), groups: Vec::new() };
        let made = self.invite_all(&[user]).await?.into_iter().next();
        let made = made.ok_or_else(|| UserError::invalid("/label", "Nobody was invited."))?;
        let link = invitation_link(origin, &made.token);
        Ok(AddedInvitation { id: made.id, link, expires_at: made.expires_at })
    }

    /// Invites users: all or none. All of them are validated first.
    ///
    /// # Errors
    /// 422 for too many invitations.
    pub(super) async fn invite_all(&self, users: &[InvitedUser]) -> Result<Vec<MadeInvitation>, UserError> {
        let entry = |id: &str, user: &InvitedUser| {
            let mut about = json!({ "invitationId": id, "label": user.label, "after": { "roles": user.roles } });
            if !user.groups.is_empty() {
                about["after"]["groups"] = user.groups.clone().into();
            }
            self.admin.audit_entry("invite_user", "", about)
        };
        let made = self.accounts.invite(&self.admin.caller.user_id, users, entry).await.map_err(from_store_error)?;
        made.ok_or_else(|| {
            let text = format!("There can be {MAX_INVITATIONS} open invitations at most. Revoke some first.");
            UserError::invalid("/label", text)
        })
    }

    /// Revokes an invitation.
    ///
    /// # Errors
    /// 404 if there is none.
    async fn revoke_invitation(&self, id: &str) -> Result<(), UserError> {
        let entry = self.admin.audit_entry("revoke_invitation", "", json!({ "invitationId": id }));
        let is_gone = self.accounts.store.delete_invitation(id, entry).await.map_err(from_store_error)?;
        if is_gone { Ok(()) } else { Err(UserError::not_found()) }
    }
}

/// Returns the link of an invitation. It is a path if the server does not know its own address.
pub(super) fn invitation_link(origin: Option<&Origin>, token: &str) -> String {
    let origin = origin.map(|Origin(origin)| origin.as_str()).unwrap_or_default();
    format!("{origin}{INVITATION_PATH}?token={}", query_encoded(token))
}

async fn render(
    admin: &Admin,
    state: &ConsoleState,
    status: StatusCode,
    notice: impl IntoView + 'static,
    sent: InvitationBody,
    insist: bool,
) -> Result<Response, PageError> {
    let users = UserAdmin::new(state, admin)?;
    let open = users.invitations().await?;
    let form = users.accounts.settings.passwords.then(|| form_view(roles::config_roles(state), sent, insist));
    let list = if open.is_empty() {
        view! { <p class="cw-account-note">"No invitation is open."</p> }.into_any()
    } else {
        let items = open.into_iter().map(invitation_view).collect_view();
        view! { <ul class="cw-account-list">{items}</ul> }.into_any()
    };
    let content = view! {
        {notice}
        <p class="cw-admin-links"><a href=TAB>"Users"</a></p>
        {form}
        {account_part("open", "Open invitations", list)}
    };
    Ok(page(admin, TAB, status, "Invitations", content))
}

fn form_view(named: Vec<String>, sent: InvitationBody, insist: bool) -> AnyView {
    let note = format!(
        "The person who opens the link chooses a name and a password, and gets these roles. The link works once, within \
         {INVITATION_DAYS} days, and only while you are an administrator. If you have that role only from your groups at a \
         provider, the link works as long as a session lasts after your last sign-in there."
    );
    let content = view! {
        <p class="cw-account-note">{note}</p>
        <form class="cw-account-form" method="post" action=PATH>
            <label class="cw-account-field">
                <span>"Invited person"</span>
                <input name="label" value=sent.label required maxlength="100" autocomplete="off" />
            </label>
            {roles::fields(named, &sent.roles, insist)}
            <button class="cw-button cw-primary">"Create link"</button>
        </form>
    };
    account_part("invite", "Invite a user", content)
}

fn invitation_view(invitation: Invitation) -> impl IntoView {
    let mut roles = if invitation.roles.is_empty() { "no roles".to_owned() } else { invitation.roles.join(", ") };
    match invitation.groups.len() {
        0 => {}
        1 => roles += "; one group",
        count => roles += &format!("; {count} groups"),
    }
    let (made, expires) = (day(invitation.created_at), minute(invitation.expires_at));
    let creator = &invitation.creator_name;
    let about = if invitation.void {
        format!("{roles}; created by {creator} on {made}, void: {creator} is not known to be an administrator now")
    } else {
        format!("{roles}; created by {creator} on {made}, valid until {expires} UTC")
    };
    let label = format!("Revoke the invitation for {}", invitation.label);
    let revoke = row_button(format!("{PATH}/{}/revoke", invitation.id), "Revoke", label);
    view! {
        <li class="cw-account-line">
            <div>
                <strong>{invitation.label}</strong>
                <p class="cw-account-note">{about}</p>
            </div>
            {revoke}
        </li>
    }
}
