//! The section `connectedAccounts` of the config.

use config::Section;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Variable;

/// The accounts of users at services that agents call on their behalf, and what users enter for remote agents. Users
/// manage both at `/account/connections`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConnectedAccounts {
    /// Environment variables with keys of at least 32 characters. Stored tokens are encrypted with the first one and
    /// can be read with all of them. Without a key no account can be connected.
    #[schemars(length(max = 5))]
    pub(crate) keys: Vec<Variable>,
}

/// That the section has a key if one is needed is checked by `config`, which knows which connection needs it.
impl Section for ConnectedAccounts {
    const KEY: &'static str = "connectedAccounts";
}

#[cfg(test)]
mod tests {
    use crate::DEFINITION;
    use ::capability::language;

    #[test]
    fn keys_are_needed_for_accounts_and_not_for_exchanged_tokens() {
        let check = |auth: &str, expected: &str| {
            let text = format!(
                "auth: {{ mode: jwt, jwksUrl: 'https://id.test/jwks', issuer: 'https://id.test', audience: a, publicUrls: ['https://a.test'] }}\n\
                 connections:\n- {{ id: demo, type: Demo }}\n\
                 - {{ id: files, type: Mcp, properties: {{ url: 'https://files.test/mcp', auth: {{ {auth} }} }} }}\n\
                 agents: [{{ id: a, type: Agent, connectionId: demo, properties: {{ model: m }}, mcp: [{{ connectionId: files, egress: false }}] }}]\n\
                 connectedAccounts: {{}}\n"
            );
            let problems = match language(&[DEFINITION]).read_text(&text) {
                Ok(_) => String::new(),
                Err(problems) => config::render_short(&problems),
            };
            let is_expected = if expected.is_empty() { problems.is_empty() } else { problems.contains(expected) };
            assert!(is_expected && problems.matches("error:").count() <= 1, "{auth}: {problems}");
        };
        check("type: tokenExchange, tokenUrl: 'https://id.test/token', clientId: a", "");
        check("type: oauth", "there is no key to encrypt with");
    }

    #[test]
    fn exchanged_tokens_are_those_of_one_provider() {
        let check_exchange = |exchange: &str, auth: &str, more: &str, keys: &str, expected: &str| {
            let text = format!(
                "auth: {{ {auth}, publicUrls: ['https://a.test'] }}\n\
                 connectedAccounts: {{ keys: [{keys}] }}\n\
                 connections:\n\
                 - id: shop\n\
                 \x20 type: Http\n\
                 \x20 properties:\n\
                 \x20   baseURL: https://x.org\n\
                 \x20   auth: {{ {exchange}, clientId: a{more} }}\n"
            );
            let diagnostics = match language(&[DEFINITION]).read_text(&text) {
                Ok(_) => String::new(),
                Err(problems) => config::render_short(&problems),
            };
            let is_expected = match expected {
                "" => !diagnostics.contains("error"),
                expected => diagnostics.contains(&format!("error: {expected}")),
            };
            assert!(is_expected, "{exchange} {auth} {more}: {diagnostics}");
        };
        let token = "type: tokenExchange, tokenUrl: 'https://id.org/t'";
        let check =
            |auth: &str, more: &str, keys: &str, expected: &str| check_exchange(token, auth, more, keys, expected);
        let provider = |id: &str| format!("{{ id: {id}, issuer: 'https://{id}.org', clientId: a }}");
        let one = format!("mode: openidConnect, openidConnect: [{}]", provider("company"));
        let two = format!("mode: password, openidConnect: [{}, {}]", provider("company"), provider("other"));
        let jwt = "mode: jwt, jwksUrl: 'https://id.org/k', issuer: 'https://id.org', audience: a";
        check(&one, "", "KEY", "");
        check(&one, ", provider: company", "KEY", "");
        check(&one, "", "", "there is no key to encrypt with");
        check(&one, ", provider: compny", "KEY", "there is no provider `compny`");
        check(&two, "", "KEY", "it is not clear whose tokens are exchanged");
        check(&two, ", provider: other", "KEY", "");
        check("mode: password", "", "KEY", "in the mode `password` users have no token");
        check(jwt, "", "", "");
        check(jwt, ", provider: company", "", "in the mode `jwt` the token of the request is exchanged");

        let check = |auth: &str, more: &str, keys: &str, expected: &str| {
            let access = "type: crossAppAccess, issuer: 'https://x.org'";
            check_exchange(access, auth, more, keys, expected);
        };
        check(&one, "", "KEY", "");
        check(&one, "", "", "there is no key to encrypt with");
        check(&two, "", "KEY", "it is not clear whose tokens are exchanged");
        check(&two, ", provider: other", "KEY", "");
        check("mode: password", "", "KEY", "in the mode `password` users have no token");
        check(jwt, "", "KEY", "in the mode `jwt` no provider can assert who the user is");
    }
}
