//! The key `openidConnect` of `auth`: the providers at which users sign in with their company account.

use super::{default_leeway_seconds, is_this_machine};
use crate::auth::{GOOGLE_ISSUER, GroupRoles, OpenIdProvider};
use crate::config::Config;
use crate::rule::OWNER_ROLES;
use crate::section::Context;
use crate::section::value::{Id, SecretEntry, Text};
use config_source::{Node, PathStep, Span, suggest};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::OneOrMany;
use std::time::Duration;
use url::Url;

/// A provider of OpenID Connect, at which users sign in with their company account.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProviderEntry {
    /// The id. The provider redirects to `/auth/openid-connect/ID/callback`.
    id: Id,
    /// The name of the provider on the sign-in page. Default: the id.
    label: Option<Text>,
    /// The issuer, exactly as in its tokens, such as `https://id.example.com/realms/company`. The
    /// server reads `/.well-known/openid-configuration` below it.
    issuer: Text,
    /// Allows the issuer to be on this machine or in a private network.
    #[serde(default)]
    allow_private: bool,
    /// The id of this server at the provider.
    client_id: Text,
    /// The secret of this server at the provider. Without it the server is a public client.
    client_secret: Option<SecretEntry>,
    /// The scopes to ask for, besides `openid`.
    #[serde(default = "default_scopes")]
    scopes: Vec<Text>,
    /// Whether users who sign in for the first time get an account. Otherwise they must have one and
    /// link it on their account page.
    #[serde(default)]
    sign_up: bool,
    /// Admits only users whose verified e-mail address is in one of these domains.
    #[serde(default)]
    allowed_domains: Vec<Text>,
    /// Links the account whose name is the verified e-mail address of the user, if it has a password
    /// and no company account yet.
    #[serde(default)]
    link_verified_email: bool,
    /// The roles of everybody who signs in here.
    #[serde(default)]
    roles: Vec<Text>,
    /// The roles that follow from the user's groups at the provider.
    groups: Option<GroupsEntry>,
    /// After how many hours users must sign in again, which also updates their roles. As long as they
    /// are signed in at the provider, that takes one click.
    #[serde(default = "default_session_hours")]
    #[schemars(range(min = 1, max = 8_760))]
    session_hours: u64,
    /// The accepted clock skew in seconds.
    #[serde(default = "default_leeway_seconds")]
    #[schemars(range(max = 300))]
    leeway_seconds: u64,
}

/// The roles that follow from the user's groups at the provider. They count in sessions that begin there,
/// and are read again at each sign-in.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GroupsEntry {
    /// The claim with the user's groups: a list of texts, or a text. Dots lead to nested claims:
    /// `realm_access.roles`.
    #[serde(default = "default_groups_claim")]
    claim: Text,
    /// The roles of each group.
    roles: IndexMap<String, OneOrMany<Text>>,
}

fn default_scopes() -> Vec<Text> {
    ["profile", "email"].map(|scope| Text(scope.to_owned())).to_vec()
}

fn default_session_hours() -> u64 {
    24
}

fn default_groups_claim() -> Text {
    Text("groups".to_owned())
}

/// Reads the providers. `is_open` says whether everybody may create an account with a password.
pub(super) fn read(
    entries: Vec<ProviderEntry>,
    is_open: bool,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Vec<OpenIdProvider> {
    let mut providers: Vec<OpenIdProvider> = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        let at = |steps: &[PathStep<'_>]| {
            let path = [&[PathStep::Key("openidConnect"), PathStep::Index(i)], steps].concat();
            node.span_at(&path)
        };
        let Id(id) = entry.id;
        if providers.iter().any(|known| known.id == id) {
            let message = format!("there are two providers with the id `{id}`");
            context.report.error(at(&[PathStep::Key("id")]), message, Some("give each its own id".to_owned()));
        }
        let issuer = issuer(&entry.issuer.0, entry.allow_private, at(&[PathStep::Key("issuer")]), context);
        if providers.iter().any(|known| known.issuer == entry.issuer.0) {
            let help = "a user is identified by issuer and subject, so one provider for an issuer is enough".to_owned();
            let message = "there are two providers with this issuer";
            context.report.error(at(&[PathStep::Key("issuer")]), message, Some(help));
        }
        let secret = entry.client_secret.map(|secret| {
            secret.resolve(at(&[PathStep::Key("clientSecret")]), "secret of this server at the provider", context)
        });
        for (j, Text(domain)) in entry.allowed_domains.iter().enumerate() {
            check_domain(domain, at(&[PathStep::Key("allowedDomains"), PathStep::Index(j)]), context);
        }
        if let Some(j) = entry.scopes.iter().position(|Text(scope)| scope == "openid") {
            let help = "leave it out: the server asks for it always".to_owned();
            context.report.error(
                at(&[PathStep::Key("scopes"), PathStep::Index(j)]),
                "`openid` is not needed",
                Some(help),
            );
        }
        let domains: Vec<_> = texts(entry.allowed_domains).into_iter().map(|name| name.to_lowercase()).collect();
        if entry.sign_up && domains.is_empty() && entry.issuer.0 == GOOGLE_ISSUER {
            let message = "everybody with a Google account can create an account here";
            let help = "name the domains of your company: `allowedDomains: [example.com]`".to_owned();
            context.report.warning(at(&[PathStep::Key("signUp")]), message, Some(help));
        }
        if entry.link_verified_email && is_open {
            let message =
                "anyone could create an account with another person's e-mail address, and would then be linked to it";
            let help = "leave out `openSignUp`, or let users link their account on the account page".to_owned();
            context.report.error(at(&[PathStep::Key("linkVerifiedEmail")]), message, Some(help));
        }
        let roles = texts(entry.roles);
        if let Some(j) = roles.iter().position(|role| OWNER_ROLES.contains(&role.as_str())) {
            let help = "give it to a group in `groups`, or let an administrator give it".to_owned();
            let span = at(&[PathStep::Key("roles"), PathStep::Index(j)]);
            context.report.error(span, "everybody who signs in here would become an administrator", Some(help));
        }
        let (Some(issuer_url), true) = (issuer, secret.as_ref().is_none_or(Option::is_some)) else { continue };
        providers.push(OpenIdProvider {
            label: entry.label.map_or_else(|| id.clone(), |Text(label)| label),
            id,
            issuer: entry.issuer.0,
            issuer_url,
            allow_private: entry.allow_private,
            client_id: entry.client_id.0,
            client_secret: secret.flatten(),
            scopes: texts(entry.scopes),
            sign_up: entry.sign_up,
            allowed_domains: domains,
            link_verified_email: entry.link_verified_email,
            roles,
            groups: entry.groups.map(|groups| GroupRoles {
                claim: groups.claim.0,
                roles: groups.roles.into_iter().map(|(group, roles)| (group, Vec::from(roles))).collect(),
            }),
            session: Duration::from_secs(entry.session_hours * 3_600),
            leeway: Duration::from_secs(entry.leeway_seconds),
            directory_claim: None,
        });
    }
    providers
}

/// Reports a domain that is written as a pattern or an address: no user would be admitted.
fn check_domain(name: &str, at: Span, context: &mut Context<'_, '_>) {
    let domain = name.rsplit('@').next().unwrap_or_default().trim_start_matches(['*', '.']);
    if domain != name {
        let help = match domain {
            "" => "such as `example.com`".to_owned(),
            domain => format!("write `{domain}`; each further domain needs its own entry"),
        };
        context.report.error(at, "a domain has neither `@` nor `*`", Some(help));
    }
}

fn texts(texts: Vec<Text>) -> Vec<String> {
    texts.into_iter().map(|Text(text)| text).collect()
}

/// Returns the URL of an issuer: `https` without query and fragment (OpenID Connect Discovery, 2), or
/// `http` on this machine.
fn issuer(text: &str, allow_private: bool, at: Span, context: &mut Context<'_, '_>) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        let help = "such as `https://id.example.com/realms/company`".to_owned();
        context.report.error(at, "this is not a web address", Some(help));
        return None;
    };
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        let help = "write it as in the `issuer` of the provider's `/.well-known/openid-configuration`".to_owned();
        context.report.error(at, "an issuer has neither a query nor a fragment nor a user", Some(help));
        return None;
    }
    if url.scheme() == "http" && !(is_this_machine(&url) && allow_private) {
        let message =
            "an issuer must be reached over `https`: anyone who changes its answers in transit can sign in as any user";
        let help = "over `http` only on this machine, with `allowPrivate: true`".to_owned();
        context.report.error(at, message, Some(help));
        return None;
    }
    Some(url)
}

/// Reports roles that nothing else in the config names: they give no access.
pub(crate) fn check_roles(config: &Config, root: &Node, context: &mut Context<'_, '_>) {
    let Some(list) = root.get("auth").and_then(|auth| auth.value.get("openidConnect")) else { return };
    let known = config.roles();
    for entry in list.value.items() {
        let everybody = entry.get("roles").into_iter().flat_map(|roles| roles.value.items());
        let groups = entry.get("groups").and_then(|groups| groups.value.get("roles"));
        let groups = groups.into_iter().flat_map(|roles| roles.value.entries());
        let of_groups = groups.flat_map(|group| match group.value.items() {
            [] => std::slice::from_ref(&group.value),
            several => several,
        });
        for role in everybody.chain(of_groups) {
            let Some(name) = role.text().filter(|name| !known.contains(name)) else { continue };
            let help = suggest::help(name, known.iter().copied());
            let help = help
                .or_else(|| Some("name it in `auth: { roles: […] }` of a page, an agent or an endpoint".to_owned()));
            context.report.error(role.at, format!("nothing in the config requires the role `{name}`"), help);
        }
    }
}
