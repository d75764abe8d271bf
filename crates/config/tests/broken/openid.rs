use crate::check;
use insta::assert_snapshot;

/// Returns what is reported for the settings of a provider, in the mode `password`.
fn provider(settings: &str, more: &str) -> String {
    check(&format!(
        "pages: [{{ id: p, auth: {{ roles: [staff] }} }}]\nauth:\n  mode: password\n  publicUrls: ['https://a.test']\n  \
         openidConnect: [{{ id: a, clientId: c, {settings} }}]\n{more}"
    ))
}

#[test]
fn issuers_that_cannot_be_trusted_are_rejected() {
    assert_snapshot!(provider("issuer: id.example.com", ""), @"
    refused
    chatwright.yaml:5:49: error: this is not a web address
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: id.example.com }]
       |                                                 ^^^^^^^^^^^^^^
       = help: such as `https://id.example.com/realms/company`
    ");
    assert_snapshot!(provider("issuer: 'https://id.test/?a=1'", ""), @"
    refused
    chatwright.yaml:5:49: error: an issuer has neither a query nor a fragment nor a user
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: 'https://id.test/?a=1' }]
       |                                                 ^^^^^^^^^^^^^^^^^^^^^^^
       = help: write it as in the `issuer` of the provider's `/.well-known/openid-configuration`
    ");
    let http = "
    refused
    chatwright.yaml:5:49: error: an issuer must be reached over `https`: anyone who changes its answers in transit can sign in as any user
    ";
    for issuer in [
        "'http://id.test', allowPrivate: true",
        "'http://127.0.0.1:8080'",
        "'http://localhost.id.test', allowPrivate: true",
    ] {
        let seen = provider(&format!("issuer: {issuer}"), "");
        let seen: Vec<_> = seen.lines().take(2).map(str::trim).collect();
        assert_eq!(seen, http.trim().lines().map(str::trim).collect::<Vec<_>>(), "{issuer}");
    }
    for issuer in [
        "'http://127.0.0.1:8080', allowPrivate: true",
        "'http://localhost', allowPrivate: true",
        "'https://id.test/x/'",
    ] {
        assert_eq!(provider(&format!("issuer: {issuer}"), ""), "accepted\n", "{issuer}");
    }
}

#[test]
fn providers_that_are_written_twice_are_rejected() {
    let two = "issuer: 'https://id.test' }, { id: a, clientId: c, issuer: 'https://id.test'";
    assert_snapshot!(provider(two, ""), @"
    refused
    chatwright.yaml:5:76: error: there are two providers with the id `a`
       |
     5 | … issuer: 'https://id.test' }, { id: a, clientId: c, issuer: 'https://id.test' }]
       |                                      ^
       = help: give each its own id

    chatwright.yaml:5:100: error: there are two providers with this issuer
       |
     5 | …t' }, { id: a, clientId: c, issuer: 'https://id.test' }]
       |                                      ^^^^^^^^^^^^^^^^^^
       = help: a user is identified by issuer and subject, so one provider for an issuer is enough
    ");
}

#[test]
fn roles_that_give_nothing_or_too_much_are_rejected() {
    let issuer = "issuer: 'https://id.test'";
    assert_snapshot!(provider(&format!("{issuer}, groups: {{ roles: {{ x: [admin, staf], y: other }} }}"), ""), @"
    refused
    chatwright.yaml:5:98: error: nothing in the config requires the role `staf`
       |
     5 | …est', groups: { roles: { x: [admin, staf], y: other } } }]
       |                                      ^^^^
       = help: did you mean `staff`?

    chatwright.yaml:5:108: error: nothing in the config requires the role `other`
       |
     5 | …ps: { roles: { x: [admin, staf], y: other } } }]
       |                                      ^^^^^
       = help: one of `admin` and `staff`
    ");
    assert_snapshot!(provider(&format!("{issuer}, roles: [staff, admin]"), ""), @"
    refused
    chatwright.yaml:5:83: error: everybody who signs in here would become an administrator
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: 'https://id.test', roles: [staff, admin] }]
       |                                                                                   ^^^^^
       = help: give it to a group in `groups`, or let an administrator give it
    ");
}

#[test]
fn accounts_that_others_could_take_are_rejected() {
    let issuer = "issuer: 'https://id.test'";
    assert_snapshot!(provider(&format!("{issuer}, linkVerifiedEmail: true"), "  openSignUp: true\n"), @"
    refused
    chatwright.yaml:5:87: error: anyone could create an account with another person's e-mail address, and would then be linked to it
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: 'https://id.test', linkVerifiedEmail: true }]
       |                                                                                       ^^^^
       = help: leave out `openSignUp`, or let users link their account on the account page
    ");
    assert_snapshot!(provider("issuer: 'https://accounts.google.com', signUp: true", ""), @"
    accepted
    chatwright.yaml:5:88: warning: everybody with a Google account can create an account here
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: 'https://accounts.google.com', signUp: true }]
       |                                                                                        ^^^^
       = help: name the domains of your company: `allowedDomains: [example.com]`
    ");
    assert_snapshot!(provider(&format!("{issuer}, clientSecret: {{ _secret: NOT_SET }}"), ""), @"
    refused
    chatwright.yaml:5:82: error: the environment variable `NOT_SET` is not set
       |
     5 |   openidConnect: [{ id: a, clientId: c, issuer: 'https://id.test', clientSecret: { _secret: NOT_SET } }]
       |                                                                                  ^
       = help: set it before the server starts: it is the secret of this server at the provider
    ");
    assert_snapshot!(check("auth: { mode: openidConnect, publicUrls: ['https://a.test'], openidConnect: [] }\n"), @"
    refused
    chatwright.yaml:1:77: error: expected a list of at least 1, found 0
       |
     1 | auth: { mode: openidConnect, publicUrls: ['https://a.test'], openidConnect: [] }
       |                                                                             ^
    ");
}

#[test]
fn domains_that_admit_nobody_are_rejected() {
    let check = |settings: &str, expected: &[&str]| {
        let seen = provider(&format!("issuer: 'https://id.test', {settings}"), "");
        let seen: Vec<_> = seen.lines().filter_map(|line| line.trim().strip_prefix("= help: ")).collect();
        assert_eq!(seen, expected, "{settings}");
    };
    check("allowedDomains: [example.com, sub.example.com]", &[]);
    check(
        "allowedDomains: [example.com, '@example.com', '*.example.com', 'ada@example.com', '*']",
        &[
            "write `example.com`; each further domain needs its own entry",
            "write `example.com`; each further domain needs its own entry",
            "write `example.com`; each further domain needs its own entry",
            "such as `example.com`",
        ],
    );
    check("scopes: [profile, groups]", &[]);
    check("scopes: [openid, profile]", &["leave it out: the server asks for it always"]);
}
