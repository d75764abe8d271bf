use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_auth_modes_are_rejected() {
    assert_snapshot!(check("auth: { mode: jwtt }\n"), @"
    refused
    chatwright.yaml:1:15: error: there is no mode `jwtt`
       |
     1 | auth: { mode: jwtt }
       |               ^^^^
       = help: did you mean `jwt`?
    ");
    assert_snapshot!(check("auth: { mode: password, opensignup: true, sessionIdleHours: 0 }\n"), @"
    refused
    chatwright.yaml:1:25: error: there is no key `opensignup` here
       |
     1 | auth: { mode: password, opensignup: true, sessionIdleHours: 0 }
       |                         ^^^^^^^^^^
       = help: did you mean `openSignUp`?

    chatwright.yaml:1:61: error: expected a number between 1 and 8760, found the number 0
       |
     1 | auth: { mode: password, opensignup: true, sessionIdleHours: 0 }
       |                                                             ^
    ");
    assert_snapshot!(check("auth: { mode: password, openSignUp: true, signUpRoles: [reader, admin] }\n"), @"
    refused
    chatwright.yaml:1:15: warning: without `publicUrls` the server can be used from this machine only
       |
     1 | auth: { mode: password, openSignUp: true, signUpRoles: [reader, admin] }
       |               ^^^^^^^^
       = help: say where users find it: `publicUrls: [https://chat.example.com]`

    chatwright.yaml:1:65: error: everybody could become an administrator
       |
     1 | auth: { mode: password, openSignUp: true, signUpRoles: [reader, admin] }
       |                                                                 ^^^^^
       = help: administrators are appointed by administrators; leave it out
    ");
    assert_snapshot!(check("auth: { mode: password, signUpRoles: [reader] }\n"), @"
    refused
    chatwright.yaml:1:15: warning: without `publicUrls` the server can be used from this machine only
       |
     1 | auth: { mode: password, signUpRoles: [reader] }
       |               ^^^^^^^^
       = help: say where users find it: `publicUrls: [https://chat.example.com]`

    chatwright.yaml:1:25: error: nobody can sign up, so nobody gets these roles
       |
     1 | auth: { mode: password, signUpRoles: [reader] }
       |                         ^^^^^^^^^^^
       = help: write `openSignUp: true`, or leave it out
    ");
    assert_snapshot!(check("auth: { publicUrls: ['https://a.test'] }\n"), @"
    refused
    chatwright.yaml:1:7: error: `mode` is missing here
       |
     1 | auth: { publicUrls: ['https://a.test'] }
       |       ^
       = help: one of `local`, `anonymous`, `jwt`, `proxy`, `password` and `openidConnect`
    ");
    assert_snapshot!(check("auth: { mode: local, publicUrls: ['https://a.test'] }\n"), @"
    refused
    chatwright.yaml:1:22: error: `publicUrls` means nothing in the mode `local`, which is for this machine only
       |
     1 | auth: { mode: local, publicUrls: ['https://a.test'] }
       |                      ^^^^^^^^^^
       = help: leave it out, or choose another mode
    ");
    assert_snapshot!(check("auth: { mode: anonymous }\npages: [{ id: p }]\n"), @"
    accepted
    chatwright.yaml:1:15: warning: without `publicUrls` the server can be used from this machine only
       |
     1 | auth: { mode: anonymous }
       |               ^^^^^^^^^
       = help: say where users find it: `publicUrls: [https://chat.example.com]`

    chatwright.yaml:1:15: warning: nobody can open any page: in the mode `anonymous` nobody is signed in, and no page is public
       |
     1 | auth: { mode: anonymous }
       |               ^^^^^^^^^
       = help: write `auth: public` at the pages, agents and endpoints that visitors may use
    ");
    assert_snapshot!(check("auth: { mode: anonymous, isuer: me }\npages: [{ id: p }]\n"), @"
    refused
    chatwright.yaml:1:26: error: there is no key `isuer` here
       |
     1 | auth: { mode: anonymous, isuer: me }
       |                          ^^^^^
       = help: one of `publicUrls`, `cookieKeys`, `auditAddresses` and `mode`
    ");
}

#[test]
fn second_factors_need_a_key() {
    let auth = |rest: &str| format!("auth: {{ mode: password, publicUrls: ['https://a.test'], {rest} }}\n");
    assert_snapshot!(check(&auth("secondFactor: required")), @"
    refused
    chatwright.yaml:1:71: error: without `secondFactorKeys` nobody can set up an authenticator app
       |
     1 | auth: { mode: password, publicUrls: ['https://a.test'], secondFactor: required }
       |                                                                       ^^^^^^^^
       = help: add `secondFactorKeys: [{ _secret: SECOND_FACTOR_KEY }]`, and set the variable to the output of `openssl rand -base64 32`
    ");
    assert_snapshot!(check(&auth("secondFactorKeys: [{ _secret: KEY }, { _secret: NONE }]")), @"
    refused
    chatwright.yaml:1:76: error: a key for encryption needs at least 32 characters
       |
     1 | …ttps://a.test'], secondFactorKeys: [{ _secret: KEY }, { _secret: NONE }] }
       |                                      ^
       = help: make one with `openssl rand -base64 32`

    chatwright.yaml:1:94: error: the environment variable `NONE` is not set
       |
     1 | …econdFactorKeys: [{ _secret: KEY }, { _secret: NONE }] }
       |                                      ^
       = help: set it before the server starts: it is the key that encrypts the secrets of authenticator apps
    ");
}

#[test]
fn settings_of_a_directory_are_checked() {
    let auth = |rest: &str| format!("auth: {{ mode: password, publicUrls: ['https://a.test'], scim: {{ {rest} }} }}\n");
    assert_snapshot!(check(&auth("tokens: [{ _secret: KEY }]")), @r"
    refused
    chatwright.yaml:1:74: error: a token for SCIM needs at least 32 characters
       |
     1 | auth: { mode: password, publicUrls: ['https://a.test'], scim: { tokens: [{ _secret: KEY }] } }
       |                                                                          ^
       = help: make one with `openssl rand -base64 32`
    ");
    assert_snapshot!(check(&auth("tokens: []")), @r"
    refused
    chatwright.yaml:1:73: error: expected a list of at least 1, found 0
       |
     1 | auth: { mode: password, publicUrls: ['https://a.test'], scim: { tokens: [] } }
       |                                                                         ^
    ");
    assert_snapshot!(check(&auth("tokens: [secret]")), @r"
    refused
    chatwright.yaml:1:74: error: expected a mapping, found the text `secret`
       |
     1 | auth: { mode: password, publicUrls: ['https://a.test'], scim: { tokens: [secret] } }
       |                                                                          ^^^^^^
       = help: its keys are `_secret`
    ");
    assert_snapshot!(check(&auth("tokens: [{ _secret: LONG_KEY }], provider: company")), @r"
    refused
    chatwright.yaml:1:108: error: there is no provider `company`
       |
     1 | … [{ _secret: LONG_KEY }], provider: company } }
       |                                      ^^^^^^^
       = help: name one of `openidConnect` by its id
    ");
    assert_snapshot!(check(&auth("tokens: [{ _secret: LONG_KEY }], claim: oid")), @r"
    refused
    chatwright.yaml:1:105: error: without `provider` the claim is not read
       |
     1 | …ns: [{ _secret: LONG_KEY }], claim: oid } }
       |                                      ^^^
       = help: name the provider whose claim it is: `provider: company`
    ");
}

#[test]
fn invalid_public_urls_and_cookie_keys_are_rejected() {
    let auth = |rest: &str| format!("auth: {{ mode: anonymous, publicUrls: [{rest}] }}\n");
    assert_snapshot!(check(&auth("chat.example.com, 'https://a.test/chat?x=1', 'ftp://a.test'")), @"
    refused
    chatwright.yaml:1:39: error: this is not the address of a server
       |
     1 | auth: { mode: anonymous, publicUrls: [chat.example.com, 'https://a.test/chat?x=1', 'ftp://a.test'] }
       |                                       ^^^^^^^^^^^^^^^^
       = help: write it as in a browser: `https://chat.example.com`

    chatwright.yaml:1:57: error: expected an address without anything after its host
       |
     1 | auth: { mode: anonymous, publicUrls: [chat.example.com, 'https://a.test/chat?x=1', 'ftp://a.test'] }
       |                                                         ^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: write `https://a.test`; the server is at the root of its address

    chatwright.yaml:1:84: error: this is not the address of a server
       |
     1 | auth: { mode: anonymous, publicUrls: [chat.example.com, 'https://a.test/chat?x=1', 'ftp://a.test'] }
       |                                                                                    ^^^^^^^^^^^^^^
       = help: write it as in a browser: `https://chat.example.com`
    ");
    assert_snapshot!(check(&auth("'https://a.test'], cookieKeys: [{ _secret: KEY }, { _secret: NONE }")), @"
    refused
    chatwright.yaml:1:71: error: a key for cookies needs at least 32 characters
       |
     1 | auth: { mode: anonymous, publicUrls: ['https://a.test'], cookieKeys: [{ _secret: KEY }, { _secret: NONE }] }
       |                                                                       ^
       = help: make one with `openssl rand -base64 32`

    chatwright.yaml:1:89: error: the environment variable `NONE` is not set
       |
     1 | auth: { mode: anonymous, publicUrls: ['https://a.test'], cookieKeys: [{ _secret: KEY }, { _secret: NONE }] }
       |                                                                                         ^
       = help: set it before the server starts: it is the key that signs cookies
    ");
}

#[test]
fn invalid_jwt_settings_are_rejected() {
    let auth = |rest: &str| {
        format!("auth: {{ mode: jwt, publicUrls: ['https://a.test'], issuer: me, audience: chat, {rest} }}\n")
    };
    assert_snapshot!(check("auth: { mode: jwt, jwksUrl: 'https://a.test' }\n"), @"
    refused
    chatwright.yaml:1:7: error: `issuer` is missing here
       |
     1 | auth: { mode: jwt, jwksUrl: 'https://a.test' }
       |       ^
       = help: `issuer`: The required value of `iss` of a token.

    chatwright.yaml:1:7: error: `audience` is missing here
       |
     1 | auth: { mode: jwt, jwksUrl: 'https://a.test' }
       |       ^
       = help: `audience`: The required value of `aud` of a token, or of an entry of it: one, or a list of which one is enough.
    ");
    assert_snapshot!(check(&auth("cookie: host_session")), @"
    refused
    chatwright.yaml:1:15: error: this does not say who signs the tokens
       |
     1 | auth: { mode: jwt, publicUrls: ['https://a.test'], issuer: me, audience: chat, cookie: host_session }
       |               ^^^
       = help: give `jwksUrl`, `publicKey` or `jwk`
    ");
    assert_snapshot!(check(&auth("jwksUrl: 'https://a.test/k', jwk: { kty: RSA }")), @"
    refused
    chatwright.yaml:1:109: error: there is `jwksUrl` already, and keys come from one place only
       |
     1 | … chat, jwksUrl: 'https://a.test/k', jwk: { kty: RSA } }
       |                                      ^^^
       = help: leave one of them out
    ");
    assert_snapshot!(check(&auth("jwksUrl: 'http://id.example.com/k', allowPrivate: true")), @"
    refused
    chatwright.yaml:1:89: error: keys must be fetched over `https`: anyone who changes them in transit can sign in as any user
       |
     1 | …ssuer: me, audience: chat, jwksUrl: 'http://id.example.com/k', allowPrivate: true }
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: over `http` only from this machine, with `allowPrivate: true`
    ");
    assert_snapshot!(check(&auth("publicKey: '-----BEGIN RSA PRIVATE KEY-----'")), @"
    refused
    chatwright.yaml:1:91: error: this is a private key, which only who signs the tokens may have
       |
     1 | …uer: me, audience: chat, publicKey: '-----BEGIN RSA PRIVATE KEY-----' }
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: give the public one, and make a new pair
    ");
    assert_snapshot!(check(&auth("jwk: { kty: oct, k: c2VjcmV0 }")), @"
    refused
    chatwright.yaml:1:85: error: this is a private key, which only who signs the tokens may have
       |
     1 | …], issuer: me, audience: chat, jwk: { kty: oct, k: c2VjcmV0 } }
       |                                      ^
       = help: give the public one, and make a new pair
    ");
    assert_snapshot!(check(&auth("jwk: { kty: RSA }, cookie: 'a;b', leewaySeconds: 3600, claims: { userid: sub }")), @"
    refused
    chatwright.yaml:1:129: error: expected a number between 0 and 300, found the number 3600
       |
     1 | …SA }, cookie: 'a;b', leewaySeconds: 3600, claims: { userid: sub } }
       |                                      ^^^^

    chatwright.yaml:1:145: error: there is no key `userid` here
       |
     1 | …;b', leewaySeconds: 3600, claims: { userid: sub } }
       |                                      ^^^^^^
       = help: did you mean `userId`?
    ");
}

#[test]
fn invalid_proxy_settings_are_rejected() {
    let auth = |rest: &str| format!("auth: {{ mode: proxy, publicUrls: ['https://a.test'], {rest} }}\n");
    assert_snapshot!(check(&auth("userHeader: x-user")), @"
    refused
    chatwright.yaml:1:7: error: `trustedProxies` is missing here
       |
     1 | auth: { mode: proxy, publicUrls: ['https://a.test'], userHeader: x-user }
       |       ^
       = help: `trustedProxies`: The addresses of the proxies, such as `127.0.0.1` or `10.0.0.0/8`. Nobody else may send the headers.
    ");
    assert_snapshot!(check(&auth("trustedProxies: ['10.0.0.300', '0.0.0.0/0']")), @"
    refused
    chatwright.yaml:1:71: error: `10.0.0.300` is neither an address nor a network
       |
     1 | auth: { mode: proxy, publicUrls: ['https://a.test'], trustedProxies: ['10.0.0.300', '0.0.0.0/0'] }
       |                                                                       ^^^^^^^^^^^^
       = help: such as `127.0.0.1`, `10.0.0.0/8` or `fd00::/8`

    chatwright.yaml:1:85: error: this trusts every address
       |
     1 | auth: { mode: proxy, publicUrls: ['https://a.test'], trustedProxies: ['10.0.0.300', '0.0.0.0/0'] }
       |                                                                                     ^^^^^^^^^^^
       = help: anyone who reaches the server could claim to be any user; name the proxy's own address
    ");
    let headers = "userHeader: Cookie, nameHeader: 'x user', rolesHeader: cookie";
    assert_snapshot!(check(&auth(&format!("trustedProxies: ['::1'], {headers}"))), @"
    refused
    chatwright.yaml:1:91: error: the header `cookie` means something else
       |
     1 | …rustedProxies: ['::1'], userHeader: Cookie, nameHeader: 'x user', rolesHeader: cookie }
       |                                      ^^^^^^
       = help: such as `x-forwarded-user`

    chatwright.yaml:1:111: error: `x user` cannot be the name of a header
       |
     1 | …'], userHeader: Cookie, nameHeader: 'x user', rolesHeader: cookie }
       |                                      ^^^^^^^^
       = help: such as `x-forwarded-user`

    chatwright.yaml:1:134: error: the header `cookie` means something else
       |
     1 | … nameHeader: 'x user', rolesHeader: cookie }
       |                                      ^^^^^^
       = help: such as `x-forwarded-user`
    ");
}
