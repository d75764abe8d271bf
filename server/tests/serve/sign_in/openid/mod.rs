//! Sign-in with a company account, at real providers and at hostile ones.

mod browser;
mod cross_app;
mod directory;
mod exchange;
mod hostile;
mod linking;
mod provider;
mod refused;
mod whole;

pub(crate) use browser::{Browser, Page};

use crate::process::Server;
use tempfile::TempDir;

/// Starts a server with pages for everybody who is signed in and for roles; `auth` is its section.
fn serve(auth: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "api:\n  - {{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}\n\
         \x20 - {{ id: help, auth: {{ roles: [support] }}, routine: [{{ ':return': 1 }}] }}\n\
         pages: [{{ id: p }}, {{ id: open, auth: public }}]\n\
         auth: {auth}\n"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let secret = [("OPENID_SECRET", "secret of the tests")];
    (Server::start_with_env(&secret, &["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns the section `auth` of a mode with these providers.
fn auth(mode: &str, providers: &[String]) -> String {
    format!("{{ mode: {mode}, auditAddresses: none, openidConnect: [{}] }}", providers.join(", "))
}

/// Returns the entry of a provider.
fn entry(id: &str, issuer: &str, more: &str) -> String {
    format!(
        "{{ id: {id}, label: The {id}, issuer: '{issuer}', allowPrivate: true, clientId: chat, \
         clientSecret: {{ _secret: OPENID_SECRET }}{more} }}"
    )
}
