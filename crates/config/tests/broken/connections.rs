use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_connection_types_are_rejected() {
    assert_snapshot!(check("connections: [{ id: a, type: Antropic }]\n"), @"
    refused
    chatwright.yaml:1:30: error: there is no connection type `Antropic`
       |
     1 | connections: [{ id: a, type: Antropic }]
       |                              ^^^^^^^^
       = help: did you mean `Anthropic`?
    ");
    assert_snapshot!(check("connections: [{ id: a, type: Bedrock }]\n"), @"
    refused
    chatwright.yaml:1:30: error: there is no connection type `Bedrock`
       |
     1 | connections: [{ id: a, type: Bedrock }]
       |                              ^^^^^^^
       = help: one of `Anthropic`, `OpenAI`, `OpenAICompatible`, `Google`, `AIGateway`, `Demo`, `Sql`, `Http`, `Mcp` and `RemoteAgent`
    ");
    assert_snapshot!(check("connections: [{ id: a, type: Mcp, properties: { url: 'http://localhost' } }]\n"), @"accepted");
}

#[test]
fn duplicate_connection_ids_are_rejected() {
    assert_snapshot!(check("connections:\n  - { id: a, type: Demo }\n  - { id: a, type: Demo }\n"), @"
    refused
    chatwright.yaml:3:11: error: there are two connections with the id `a`
       |
     3 |   - { id: a, type: Demo }
       |           ^
       = help: the first one is at chatwright.yaml:2:11
    ");
}

#[test]
fn invalid_keys_and_base_urls_are_reported() {
    assert_snapshot!(check("connections:
  - { id: a, type: Anthropic }
  - { id: b, type: OpenAICompatible, properties: { apiKey: { _secret: KEY } } }
  - { id: c, type: Anthropic, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
  - { id: d, type: Anthropic, properties: { apiKey: { _secret: $KEY } } }
  - { id: e, type: Anthropic, properties: { apiKey: { secret: KEY } } }
  - { id: f, type: Anthropic, properties: { apiKey: sk-plain } }
  - { id: g, type: OpenAICompatible, properties: { baseURL: 'localhost:8080' } }
  - { id: h, type: OpenAICompatible, properties: { baseURL: 'https://me:pw@host/v1' } }
  - { id: i, type: OpenAICompatible, properties: { baseURL: 'https://host/v1?key=1' } }
  - { id: j, type: OpenAICompatible, properties: { baseURL: host } }
  - { id: k, type: OpenAICompatible, properties: { baseURL: 'https://host', headers: { X-Team: { _secret: TEAM } } } }
"), @"
    refused
    chatwright.yaml:2:5: error: the connection `a` has no `apiKey`
       |
     2 |   - { id: a, type: Anthropic }
       |     ^
       = help: write `apiKey: { _secret: NAME }` and set the environment variable NAME

    chatwright.yaml:3:5: error: the connection `b` has no `baseURL`
       |
     3 |   - { id: b, type: OpenAICompatible, properties: { apiKey: { _secret: KEY } } }
       |     ^
       = help: there is no default address for this type

    chatwright.yaml:4:53: error: the environment variable `ANTHROPIC_API_KEY` is not set
       |
     4 |   - { id: c, type: Anthropic, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
       |                                                     ^
       = help: set it before the server starts: it is the `apiKey` of the connection `c`; to try without a key, use a connection of `type: Demo` and an agent of `type: Agent`

    chatwright.yaml:5:64: error: `$KEY` cannot be the name of an environment variable
       |
     5 |   - { id: d, type: Anthropic, properties: { apiKey: { _secret: $KEY } } }
       |                                                                ^^^^
       = help: use letters, digits and `_`, and do not start with a digit

    chatwright.yaml:6:55: error: there is no key `secret` here
       |
     6 |   - { id: e, type: Anthropic, properties: { apiKey: { secret: *** } } }
       |                                                       ^^^^^^
       = help: did you mean `_secret`?

    chatwright.yaml:7:53: warning: the config contains a key, which others may read
       |
     7 |   - { id: f, type: Anthropic, properties: { apiKey: ******** } }
       |                                                     ^^^^^^^^
       = help: write `apiKey: { _secret: NAME }` and set the environment variable NAME

    chatwright.yaml:8:61: error: this address must start with `https://` or `http://`
       |
     8 |   - { id: g, type: OpenAICompatible, properties: { baseURL: 'localhost:8080' } }
       |                                                             ^^^^^^^^^^^^^^^^^
       = help: for example `https://api.example.com/v1`

    chatwright.yaml:9:61: error: this address holds a user name or a password
       |
     9 |   - { id: h, type: OpenAICompatible, properties: { baseURL: 'https://me:**@host/v1' } }
       |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^
       = help: for example `https://api.example.com/v1`

    chatwright.yaml:10:61: error: this address must end with its path
        |
     10 |   - { id: i, type: OpenAICompatible, properties: { baseURL: 'https://host/v1?key=1' } }
        |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^
        = help: for example `https://api.example.com/v1`

    chatwright.yaml:11:61: error: this is not a web address
        |
     11 |   - { id: j, type: OpenAICompatible, properties: { baseURL: host } }
        |                                                             ^^^^
        = help: for example `https://api.example.com/v1`

    chatwright.yaml:12:96: error: the environment variable `TEAM` is not set
        |
     12 | … 'https://host', headers: { X-Team: { _secret: TEAM } } } }
        |                                      ^
        = help: set it before the server starts: it is the header `X-Team` of the connection `k`
    ");
}

#[test]
fn invalid_database_urls_are_reported() {
    assert_snapshot!(check("connections:
  - { id: a, type: Sql }
  - { id: b, type: Sql, properties: { url: 'postgres://ada:secret@host/db' } }
  - { id: c, type: Sql, properties: { url: data.db } }
  - { id: d, type: Sql, properties: { url: { _secret: SHOP } } }
  - { id: e, type: Sql, properties: { url: 'postgres://host:many/db' } }
  - { id: f, type: Sql, properties: { url: 'postgres://host/db?sslmod=require' } }
  - { id: g, type: Sql, properties: { url: 'postgresql://host/db?sslmode=yes' } }
"), @"
    refused
    chatwright.yaml:2:5: error: `properties` is missing here
       |
     2 |   - { id: a, type: Sql }
       |     ^
       = help: `properties` holds `url`

    chatwright.yaml:3:44: warning: the config contains a password, which others may read
       |
     3 |   - { id: b, type: Sql, properties: { url: 'postgres://ada:******@host/db' } }
       |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: write `url: { _secret: NAME }` and set the environment variable NAME to the whole address

    chatwright.yaml:4:44: error: this is not the address of a database
       |
     4 |   - { id: c, type: Sql, properties: { url: data.db } }
       |                                            ^^^^^^^
       = help: write `sqlite://PATH`, `sqlite::memory:` or `postgres://USER@HOST/DATABASE`

    chatwright.yaml:5:44: error: the environment variable `SHOP` is not set
       |
     5 |   - { id: d, type: Sql, properties: { url: { _secret: SHOP } } }
       |                                            ^
       = help: set it before the server starts: it is the `url` of the connection `d`

    chatwright.yaml:6:44: error: this is not the address of a PostgreSQL database
       |
     6 |   - { id: e, type: Sql, properties: { url: 'postgres://host:many/db' } }
       |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: write `postgres://USER:PASSWORD@HOST:5432/DATABASE`; in a name or a password, `@` is `%40`, `/` is `%2F`, `?` is `%3F`, `#` is `%23`, `%` is `%25`

    chatwright.yaml:7:44: error: this address has an unknown parameter
       |
     7 |   - { id: f, type: Sql, properties: { url: 'postgres://host/db?sslmod=require' } }
       |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: the parameters after `?` can be sslmode, sslrootcert, sslcert, sslkey, host, port, dbname, user, password, application_name, options

    chatwright.yaml:8:44: error: this address has an unknown `sslmode`
       |
     8 |   - { id: g, type: Sql, properties: { url: 'postgresql://host/db?sslmode=yes' } }
       |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: one of disable, allow, prefer, require, verify-ca, verify-full
    ");
}
