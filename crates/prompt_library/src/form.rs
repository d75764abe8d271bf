//! The form of a prompt on the pages of users and of administrators. It needs no script.

use crate::prompt::{MAX_DESCRIPTION, MAX_NAME};
use leptos::prelude::*;
use web::SentFields;
use web::html::text_area_content;
use wire::{ErrorCode, UserError};

/// Whether a refused form is shown again, with what is wrong about it.
pub(crate) fn is_shown(error: &UserError) -> bool {
    matches!(error.code, ErrorCode::Invalid | ErrorCode::Conflict)
}

/// The fields of the form of a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct PromptForm {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) text: String,
    /// Separated by commas; `None` for a form without roles.
    pub(crate) roles: Option<String>,
    /// The version that a change is based on.
    pub(crate) version: Option<i64>,
}

impl PromptForm {
    /// Reads a submitted form; missing fields are empty.
    pub(crate) fn parse(sent: &[u8]) -> Self {
        let sent = SentFields::parse(sent);
        let field = |name: &str| sent.first(name).to_owned();
        Self {
            name: field("name"),
            description: field("description"),
            text: field("text"),
            roles: sent.all("roles").next().map(str::to_owned),
            version: field("version").parse().ok(),
        }
    }

    /// Returns the roles that were entered.
    pub(crate) fn role_names(&self) -> Vec<String> {
        self.roles.iter().flat_map(|roles| roles.split(',')).map(str::to_owned).collect()
    }

    /// Renders the form, which is sent to `action`. `act` names its button.
    pub(crate) fn view(self, action: String, act: &'static str) -> impl IntoView + use<> {
        let Self { name, description, text, roles, version } = self;
        let roles = roles.map(|roles| {
            view! {
                <label class="cw-account-field">
                    <span>"Only for users with these roles, separated by commas (optional)"</span>
                    <input name="roles" value=roles autocomplete="off" />
                </label>
            }
        });
        let version = version.map(|version| view! { <input type="hidden" name="version" value=version.to_string() /> });
        view! {
            <form class="cw-account-form" method="post" action=action>
                {version}
                <label class="cw-account-field">
                    <span>"Name (letters, digits, hyphens and underscores)"</span>
                    <input name="name" value=name required maxlength=(MAX_NAME + 1).to_string() autocomplete="off" spellcheck="false" dir="auto" />
                </label>
                <label class="cw-account-field">
                    <span>"Description (optional)"</span>
                    <input name="description" value=description maxlength=MAX_DESCRIPTION.to_string() autocomplete="off" dir="auto" />
                </label>
                <label class="cw-account-field">
                    <span>"Text"</span>
                    <textarea name="text" rows="8" required aria-describedby="about-variables" dir="auto" inner_html=text_area_content(&text)></textarea>
                </label>
                <p class="cw-account-note" id="about-variables">
                    "Variables are asked for before the text is used: {{topic}} must be entered, {{tone|friendly}} has a default, and {{length|short|long}} is a choice."
                </p>
                {roles}
                <button class="cw-button cw-primary">{act}</button>
            </form>
        }
    }
}
