//! Reads a user from the claims of a provider.

use super::ProviderError;
use crate::jwt::find_claim;
use crate::user;
use config::OpenIdProvider;
use serde_json::{Map, Value};

/// The claims with a name for the account, the best first.
const NAMES: [&str; 3] = ["preferred_username", "email", "name"];
/// The limit on groups that are read.
const MAX_GROUPS: usize = 1_000;
/// The limit on an e-mail address in bytes (RFC 5321, 4.5.3.1.3).
const MAX_EMAIL: usize = 254;
/// The limit on an id in bytes (OpenID Connect Core 1.0, 2).
const MAX_ID: usize = 255;

/// A user as a provider describes them. They are identified by issuer and subject only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUser {
    /// The issuer.
    pub issuer: String,
    /// The issuer's id of the user.
    pub subject: String,
    /// The provider's id of its session with the user.
    pub session_id: Option<String>,
    /// The names at the provider, the best for an account first.
    pub names: Vec<String>,
    /// The name at the provider, for display.
    pub label: String,
    /// The e-mail address in lower case, if the provider has verified it.
    pub verified_email: Option<String>,
    /// The roles that the config gives to everybody at the provider and to the user's groups.
    pub roles: Vec<String>,
    /// The id in the directory that manages users over SCIM, if the config names the claim with it.
    pub directory_id: Option<String>,
}

/// Returns a claim with an id of the issuer; `None` if it is absent, empty or too long.
pub(super) fn id_claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claims.get(name)?.as_str().filter(|id| (1..=MAX_ID).contains(&id.len()))
}

/// Returns whether the config needs claims that the ID token does not have.
pub(super) fn needs_user_info(claims: &Map<String, Value>, settings: &OpenIdProvider) -> bool {
    let lacks_id = settings.directory_claim.as_ref().is_some_and(|claim| find_claim(claims, claim).is_none());
    let lacks_groups = settings.groups.as_ref().is_some_and(|groups| find_claim(claims, &groups.claim).is_none());
    let needs_email = !settings.allowed_domains.is_empty() || settings.link_verified_email;
    let lacks_email = needs_email && !claims.contains_key("email");
    lacks_id || lacks_groups || lacks_email || !NAMES.iter().any(|name| claims.contains_key(*name))
}

/// Adds the claims of the userinfo endpoint that the ID token does not have.
pub(super) fn add_user_info(claims: &mut Map<String, Value>, info: Map<String, Value>) -> Result<(), ProviderError> {
    // The access token could have been replaced by one of another user (OpenID Connect Core 1.0, 5.3.2).
    if info.get("sub") != claims.get("sub") {
        return Err(ProviderError::Invalid("subject of the userinfo"));
    }
    // Both claims about the address come from one source.
    let has_email = claims.contains_key("email");
    for (name, value) in info {
        if !(has_email && name == "email_verified") {
            claims.entry(name).or_insert(value);
        }
    }
    Ok(())
}

/// Returns the user of verified claims.
pub(super) fn user(claims: &Map<String, Value>, settings: &OpenIdProvider) -> Result<ProviderUser, ProviderError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    // Some providers send it as text.
    let is_verified = matches!(claims.get("email_verified"), Some(Value::Bool(true)))
        || text("email_verified").is_some_and(|text| text == "true");
    let is_address = |text: &&str| text.len() <= MAX_EMAIL && user::shown_name(text).as_deref() == Some(text);
    // Only ASCII letters: others can become ASCII in lower case, and with that the address of somebody else.
    let email = text("email").filter(|_| is_verified).filter(is_address).map(str::to_ascii_lowercase);
    // A private Google account can have an address of a company; the claim `hd` is of the company's own accounts.
    let domain = if settings.is_google() {
        text("hd").filter(|_| is_verified).map(str::to_ascii_lowercase)
    } else {
        email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain.to_owned())
    };
    let is_admitted = |domain: &str| settings.allowed_domains.iter().any(|allowed| allowed == domain);
    if !settings.allowed_domains.is_empty() && !domain.as_deref().is_some_and(is_admitted) {
        return Err(ProviderError::OtherDomain);
    }
    let names: Vec<_> = NAMES.into_iter().filter_map(|name| user::shown_name(text(name)?)).collect();
    let subject = text("sub").unwrap_or_default();
    let label = email.clone().or_else(|| names.first().cloned()).or_else(|| user::shown_name(subject));
    Ok(ProviderUser {
        issuer: settings.issuer.clone(),
        subject: subject.to_owned(),
        label: label.unwrap_or_default(),
        session_id: id_claim(claims, "sid").map(str::to_owned),
        names,
        verified_email: email,
        roles: roles(claims, settings),
        directory_id: directory_id(claims, settings),
    })
}

/// Returns the user's id in the directory that manages users.
fn directory_id(claims: &Map<String, Value>, settings: &OpenIdProvider) -> Option<String> {
    let claim = settings.directory_claim.as_deref()?;
    find_claim(claims, claim)?.as_str().filter(|id| (1..=MAX_ID).contains(&id.len())).map(str::to_owned)
}

/// Returns the user's roles. Without the claim a user is in no group.
fn roles(claims: &Map<String, Value>, settings: &OpenIdProvider) -> Vec<String> {
    let mut roles = settings.roles.clone();
    let Some(mapping) = &settings.groups else { return roles };
    let groups: Vec<&str> = match find_claim(claims, &mapping.claim) {
        Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).take(MAX_GROUPS).collect(),
        Some(Value::String(group)) => vec![group],
        _ => Vec::new(),
    };
    for (_, given) in mapping.roles.iter().filter(|(group, _)| groups.contains(&group.as_str())) {
        roles.extend_from_slice(given);
    }
    roles.sort_unstable();
    roles.dedup();
    roles
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use config::GroupRoles;
    use serde_json::json;
    use std::time::Duration;
    use url::Url;

    pub(in crate::openid_connect) fn settings(domains: &[&str]) -> OpenIdProvider {
        let text = |text: &str| text.to_owned();
        let group = |group: &str, role: &str| (text(group), vec![text(role)]);
        OpenIdProvider {
            id: text("company"),
            label: text("Company"),
            issuer: text("https://id.test"),
            issuer_url: Url::parse("https://id.test").unwrap(),
            allow_private: false,
            client_id: text("chat"),
            client_secret: None,
            scopes: Vec::new(),
            sign_up: true,
            allowed_domains: domains.iter().map(|domain| text(domain)).collect(),
            link_verified_email: false,
            roles: vec![text("staff")],
            groups: Some(GroupRoles {
                claim: text("realm.groups"),
                roles: vec![group("admins", "admin"), group("desk", "support")],
            }),
            session: Duration::from_secs(60),
            leeway: Duration::from_secs(30),
            directory_claim: None,
        }
    }

    #[test]
    fn groups_give_roles() {
        let check = |groups: Value, expected: &[&str]| {
            let claims = json!({ "sub": "1", "realm": { "groups": groups } });
            let user = user(claims.as_object().unwrap(), &settings(&[])).unwrap();
            assert_eq!(user.roles, expected, "{groups}");
        };
        check(json!(["admins", "desk", "other"]), &["admin", "staff", "support"]);
        check(json!("desk"), &["staff", "support"]);
        check(json!("admins desk"), &["staff"]);
        check(json!(["Admins", 7, ["admins"]]), &["staff"]);
        check(json!({ "admins": true }), &["staff"]);
        check(json!(null), &["staff"]);
    }

    #[test]
    fn only_verified_addresses_of_the_domains_are_admitted() {
        let check_at = |issuer: &str, claims: Value, expected: bool| {
            let mut whole = json!({ "sub": "1" });
            whole.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
            let settings = OpenIdProvider { issuer: issuer.to_owned(), ..settings(&["example.com"]) };
            assert_eq!(user(whole.as_object().unwrap(), &settings).is_ok(), expected, "{issuer} {claims}");
        };
        let check = |claims: Value, expected: bool| check_at("https://id.test", claims, expected);
        check(json!({ "email": "ada@example.com", "email_verified": true }), true);
        check(json!({ "email": "ada@Example.COM", "email_verified": "true" }), true);
        check(json!({ "email": "ada@example.com" }), false);
        check(json!({ "email": "ada@example.com", "email_verified": false }), false);
        check(json!({ "email": "ada@example.com.evil.test", "email_verified": true }), false);
        check(json!({ "email": "ada@evil.test@example.com", "email_verified": true }), true);
        check(json!({ "email": "example.com", "email_verified": true }), false);
        check(json!({ "email": "ada@example.com\u{200b}", "email_verified": true }), false);
        check(json!({ "email": format!("{}@example.com", "a".repeat(250)), "email_verified": true }), false);
        check(json!({}), false);
        let google = json!({ "email": "ada@example.com", "email_verified": true });
        check_at("https://accounts.google.com", google.clone(), false);
        let mut company = google;
        company["hd"] = "example.com".into();
        check_at("https://accounts.google.com", company.clone(), true);
        check(json!({ "email": "ada@other.test", "email_verified": true, "hd": "example.com" }), false);
    }

    #[test]
    fn id_in_the_directory_is_the_claim_of_the_config() {
        let check = |claim: Option<&str>, expected: Option<&str>| {
            let claims = json!({ "sub": "1", "oid": "a-b", "ids": { "hr": "7" }, "number": 7, "empty": "" });
            let settings = OpenIdProvider { directory_claim: claim.map(str::to_owned), ..settings(&[]) };
            let user = user(claims.as_object().unwrap(), &settings).unwrap();
            assert_eq!(user.directory_id.as_deref(), expected, "{claim:?}");
        };
        check(None, None);
        check(Some("sub"), Some("1"));
        check(Some("oid"), Some("a-b"));
        check(Some("ids.hr"), Some("7"));
        check(Some("number"), None);
        check(Some("empty"), None);
        check(Some("missing"), None);
    }

    #[test]
    fn letters_that_become_ascii_are_kept() {
        let claims = json!({ "sub": "1", "email": "\u{212a}im@Example.com", "email_verified": true });
        let user = user(claims.as_object().unwrap(), &settings(&[])).unwrap();
        assert_eq!(user.verified_email.as_deref(), Some("\u{212a}im@example.com"));
    }

    #[test]
    fn user_info_adds_what_is_missing() {
        let check = |info: Value, expected: Result<Value, ProviderError>| {
            let mut claims = json!({ "sub": "1", "email": "a@b.test" }).as_object().unwrap().clone();
            let seen = add_user_info(&mut claims, info.as_object().unwrap().clone());
            assert_eq!(seen.map(|()| Value::from(claims)), expected, "{info}");
        };
        let added = json!({ "sub": "1", "email": "a@b.test", "name": "Ada" });
        check(json!({ "sub": "1", "name": "Ada", "email": "other@b.test", "email_verified": true }), Ok(added));
        check(json!({ "sub": "2", "name": "Ada" }), Err(ProviderError::Invalid("subject of the userinfo")));
        check(json!({ "name": "Ada" }), Err(ProviderError::Invalid("subject of the userinfo")));
    }
}
