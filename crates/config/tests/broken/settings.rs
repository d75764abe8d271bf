use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_settings_are_rejected() {
    assert_snapshot!(check("limits: { toolMs: 0, turn: 3 }\nstore: { url: { _secret: DATABASE } }\n"), @"
    refused
    chatwright.yaml:1:19: error: expected a number between 1 and 3600000, found the number 0
       |
     1 | limits: { toolMs: 0, turn: 3 }
       |                   ^

    chatwright.yaml:1:22: error: there is no key `turn` here
       |
     1 | limits: { toolMs: 0, turn: 3 }
       |                      ^^^^
       = help: one of `headerReadMs`, `bodyReadMs`, `bodyBytes`, `textBytes`, `fileBytes`, `userFileBytes`, `connections`, `connectionsPerAddress`, `writeMs`, `heartbeatMs`, `drainMs`, `runs`, `runsPerUser`, `memoryBytes`, `turnMs`, `firstByteMs`, `idleMs`, `toolMs`, `parallelTools`, `parallelAgents`, `invocationTiers`, `quotas`, `rates` and `trustedProxies`

    chatwright.yaml:2:15: error: the environment variable `DATABASE` is not set
       |
     2 | store: { url: { _secret: DATABASE } }
       |               ^
       = help: set it before the server starts: it is the `url` of the store
    ");
    assert_snapshot!(check("auth: local\nlimits: []\nstore: {}\n"), @"
    refused
    chatwright.yaml:1:7: error: expected a mapping, found the text `local`
       |
     1 | auth: local
       |       ^^^^^
       = help: its keys are `publicUrls`, `cookieKeys` and `auditAddresses`

    chatwright.yaml:2:9: error: expected a mapping, found an empty list
       |
     2 | limits: []
       |         ^
       = help: its keys are `headerReadMs`, `bodyReadMs`, `bodyBytes`, `textBytes`, `fileBytes`, `userFileBytes`, `connections`, `connectionsPerAddress`, `writeMs`, `heartbeatMs`, `drainMs`, `runs`, `runsPerUser`, `memoryBytes`, `turnMs`, `firstByteMs`, `idleMs`, `toolMs`, `parallelTools`, `parallelAgents`, `invocationTiers`, `quotas`, `rates` and `trustedProxies`
    ");
    assert_snapshot!(check("auth: { mode: locale }\nstore: { url: mysql://host }\n"), @"
    refused
    chatwright.yaml:1:15: error: there is no mode `locale`
       |
     1 | auth: { mode: locale }
       |               ^^^^^^
       = help: did you mean `local`?

    chatwright.yaml:2:15: error: this is not the address of a database
       |
     2 | store: { url: mysql://host }
       |               ^^^^^^^^^^^^
       = help: write `sqlite://PATH`, `sqlite::memory:` or `postgres://USER@HOST/DATABASE`
    ");
}

#[test]
fn sqlite_and_postgres_urls_are_accepted() {
    assert!(!check("store: { url: 'sqlite://chat.db' }\n").contains("error"));
    assert!(!check("store: { url: 'postgres://ada:secret@host/db?sslmode=verify-full' }\n").contains("error"));
    assert_snapshot!(check("store: { url: 'postgres://host/db?slmode=require' }\n"), @"
    refused
    chatwright.yaml:1:15: error: this address has an unknown parameter
       |
     1 | store: { url: 'postgres://host/db?slmode=require' }
       |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: the parameters after `?` can be sslmode, sslrootcert, sslcert, sslkey, host, port, dbname, user, password, application_name, options
    ");
}

#[test]
fn unknown_config_versions_are_reported() {
    assert_snapshot!(check("configVersion: 2\n"), @"
    refused
    chatwright.yaml:1:16: error: this config is written for version 2 of the language, which this server does not know
       |
     1 | configVersion: 2
       |                ^
       = help: install a newer Chatwright, or write `configVersion: 1` if nothing newer is used
    ");
    assert_snapshot!(check("configVersion: 0\n"), @"
    accepted
    chatwright.yaml:1:16: warning: there is no version 0 of the language; the first one, and today's, is 1
       |
     1 | configVersion: 0
       |                ^
       = help: write `configVersion: 1`, or leave it out
    ");
    assert_snapshot!(check("configVersion: one\n"), @"
    refused
    chatwright.yaml:1:16: error: expected the number of a version, found the text `one`
       |
     1 | configVersion: one
       |                ^^^
       = help: the newest one is 1
    ");
}

#[test]
fn text_limit_above_request_limit_is_rejected() {
    assert_snapshot!(check("limits: { bodyBytes: 65536, textBytes: 65537 }\n"), @"
    refused
    chatwright.yaml:1:40: error: no text can have so many bytes: the request that holds it has 65536 at most (`bodyBytes`)
       |
     1 | limits: { bodyBytes: 65536, textBytes: 65537 }
       |                                        ^^^^^
       = help: write `bodyBytes` higher than 65537, or a lower `textBytes`
    ");
    assert_snapshot!(check("limits: { textBytes: 2097152 }\n"), @"
    refused
    chatwright.yaml:1:22: error: no text can have so many bytes: the request that holds it has 1048576 at most (`bodyBytes`)
       |
     1 | limits: { textBytes: 2097152 }
       |                      ^^^^^^^
       = help: write `bodyBytes` higher than 2097152, or a lower `textBytes`
    ");
    for good in ["limits: { bodyBytes: 65536 }", "limits: { bodyBytes: 4194304, textBytes: 2097152 }"] {
        assert!(!check(good).contains("error"), "{good}");
    }
}

#[test]
fn invalid_quotas_are_rejected() {
    assert_snapshot!(check("limits:\n  quotas:\n    - { per: day }\n    - { per: month, costUsd: -1 }\n"), @"
    refused
    chatwright.yaml:3:7: error: this quota bounds nothing
       |
     3 |     - { per: day }
       |       ^
       = help: add `messages`, `tokens` or `costUsd`

    chatwright.yaml:4:7: error: `costUsd` is 0 or more US dollars
       |
     4 |     - { per: month, costUsd: -1 }
       |       ^
    ");
}

#[test]
fn sign_in_rate_per_user_and_trust_in_all_proxies_are_rejected() {
    let text = "limits:\n  rates:\n    - { of: signIn, per: user, requests: 3 }\n  trustedProxies: [0.0.0.0/0]\n";
    assert_snapshot!(check(text), @"
    refused
    chatwright.yaml:3:26: error: who signs in is no user yet
       |
     3 |     - { of: signIn, per: user, requests: 3 }
       |                          ^^^^
       = help: write `per: address`

    chatwright.yaml:4:20: error: this trusts every address
       |
     4 |   trustedProxies: [0.0.0.0/0]
       |                    ^^^^^^^^^
       = help: anyone who reaches the server could claim to be any user; name the proxy's own address
    ");
}

#[test]
fn invalid_rates_are_rejected() {
    assert_snapshot!(check("limits: { rates: [{ of: chats, per: user, requests: 0 }] }\n"), @"
    refused
    chatwright.yaml:1:25: error: there is no value `chats`
       |
     1 | limits: { rates: [{ of: chats, per: user, requests: 0 }] }
       |                         ^^^^^
       = help: did you mean `chat`?

    chatwright.yaml:1:53: error: expected a number between 1 and 1000000, found the number 0
       |
     1 | limits: { rates: [{ of: chats, per: user, requests: 0 }] }
       |                                                     ^
    ");
}

#[test]
fn retention_of_zero_days_is_rejected() {
    assert_snapshot!(check("store:\n  retention: { conversationsDays: 0 }\n"), @"
    refused
    chatwright.yaml:2:35: error: expected a number between 1 and 36500, found the number 0
       |
     2 |   retention: { conversationsDays: 0 }
       |                                   ^
    ");
}

#[test]
fn invalid_retention_of_agents_is_rejected() {
    let text = "connections: [{ id: demo, type: Demo }]\n\
                agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
                store:\n  retention: { agents: { helper: 0, helpr: 3 } }\n";
    assert_snapshot!(check(text), @"
    refused
    chatwright.yaml:4:34: error: a conversation stays for one day or more
       |
     4 |   retention: { agents: { helper: 0, helpr: 3 } }
       |                                  ^

    chatwright.yaml:4:44: error: there is no agent `helpr`
       |
     4 |   retention: { agents: { helper: 0, helpr: 3 } }
       |                                            ^
       = help: did you mean `helper`?
    ");
}
