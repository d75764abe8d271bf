//! The access to the pages that change the config.

use super::FILES_PATH;
use crate::section::ConfigEditor;
use auth::AuthMethod;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use capability::Context;
use web::RequestContext;
use web::admin::{Admin, page};
use web::html::error_message;

/// Extracts an administrator who may change the config: one with a role that the config names for it, who has signed in.
/// API keys and tokens of embedded chats are refused.
pub(super) struct Editor(pub(super) Admin);

impl FromRequestParts<Context> for Editor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Response> {
        let admin = Admin::from_request_parts(parts, context).await?;
        let method = parts.extensions.get::<RequestContext>().map(|context| &context.auth_method);
        let reason = match method {
            Some(AuthMethod::Key(_) | AuthMethod::Site) => {
                Some("The config can only be changed by people who have signed in.".to_owned())
            }
            _ => refusal(context, &admin),
        };
        match reason {
            None => Ok(Self(admin)),
            Some(reason) => Err(refused(&admin, reason)),
        }
    }
}

fn refused(admin: &Admin, reason: String) -> Response {
    page(admin, FILES_PATH, StatusCode::FORBIDDEN, "Config files", error_message(Some(reason)))
}

/// Returns why an administrator may not change the config.
pub(super) fn refusal(context: &Context, admin: &Admin) -> Option<String> {
    let config = context.current.config();
    let section = config.section::<ConfigEditor>();
    if section.is_some_and(|section| section.allows(admin.caller.roles())) {
        return None;
    }
    let roles = section.map_or_else(String::new, |section| section.roles.join(", "));
    Some(match roles.as_str() {
        "" => "The config is read-only here: its key `configEditor.roles` names no role whose administrators may change it."
            .to_owned(),
        roles => format!(
            "The config is read-only for you. Administrators with one of these roles may change it: {roles}."
        ),
    })
}
