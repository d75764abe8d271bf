use crate::check;
use insta::assert_snapshot;

/// Returns a config with an endpoint `find` that has this payload schema, and this section.
fn served(schema: &str, section: &str) -> String {
    format!(
        "api:\n  - id: find\n    description: Finds.\n    payloadSchema: {schema}\n    routine: [{{ ':return': 1 }}]\n\
         serveAsRemoteAgent: {section}\n"
    )
}

/// Returns the diagnostics for a served endpoint with these parameters.
fn parameters(properties: &str) -> String {
    check(&served(
        &format!("{{ type: object, properties: {properties} }}"),
        "{ endpoints: [find], apiKey: { _secret: KEY } }",
    ))
}

/// Returns the diagnostics for this section and an endpoint with one valid parameter, `q`.
fn section(section: &str) -> String {
    check(&served("{ type: object, properties: { q: { type: string, description: What. } } }", section))
}

#[test]
fn valid_sections_are_accepted() {
    assert_snapshot!(section("{ endpoints: [find], apiKey: { _secret: KEY } }"), @"accepted");
    assert_snapshot!(section("{ endpoints: [{ endpointId: find, confirm: true, visibleParameters: [q] }], apiKey: { _secret: KEY }, resource: find }"), @"accepted");
}

#[test]
fn missing_keys_are_reported() {
    assert_snapshot!(section("{}"), @"
    refused
    chatwright.yaml:6:21: error: `endpoints` is missing here
       |
     6 | serveAsRemoteAgent: {}
       |                     ^
       = help: `endpoints`: The endpoints that others may call. Each needs a `description`, and a `payloadSchema` that describes every property.

    chatwright.yaml:6:21: error: `apiKey` is missing here
       |
     6 | serveAsRemoteAgent: {}
       |                     ^
       = help: `apiKey`: The key that the other platform must send as `x-api-key`, as `{ _secret: NAME_OF_A_VARIABLE }`.
    ");
    assert_snapshot!(section("{ endpoints: [], apiKey: secret }"), @"
    refused
    chatwright.yaml:6:34: error: expected a list of at least 1, found 0
       |
     6 | serveAsRemoteAgent: { endpoints: [], apiKey: ****** }
       |                                  ^

    chatwright.yaml:6:46: error: expected a mapping, found the text `***`
       |
     6 | serveAsRemoteAgent: { endpoints: [], apiKey: ****** }
       |                                              ^^^^^^
       = help: its keys are `_secret`
    ");
    assert_snapshot!(section("{ endpoints: [find], apikey: { _secret: KEY } }"), @"
    refused
    chatwright.yaml:6:42: error: there is no key `apikey` here
       |
     6 | serveAsRemoteAgent: { endpoints: [find], apikey: { _secret: KEY } }
       |                                          ^^^^^^
       = help: did you mean `apiKey`?
    ");
    assert_snapshot!(section("{ endpoints: [find], apiKey: { _secret: NONE } }"), @"
    refused
    chatwright.yaml:6:50: error: the environment variable `NONE` is not set
       |
     6 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: NONE } }
       |                                                  ^
       = help: set it before the server starts: it is the `apiKey` of `serveAsRemoteAgent`
    ");
}

#[test]
fn unknown_endpoints_are_rejected() {
    assert_snapshot!(section("{ endpoints: [fnid, { endpointId: find, visibleParameters: [p] }, find], apiKey: { _secret: KEY }, resource: found }"), @"
    refused
    chatwright.yaml:6:35: error: there is no endpoint `fnid`
       |
     6 | serveAsRemoteAgent: { endpoints: [fnid, { endpointId: find, visibleParameters: [p] }, find], apiKey: { _secret…
       |                                   ^^^^
       = help: did you mean `find`?

    chatwright.yaml:6:81: error: the endpoint `find` has no parameter `p`
       |
     6 | …dpointId: find, visibleParameters: [p] }, find], apiKey: { _secret: KEY }, resource: found }
       |                                      ^
       = help: the only one is `q`

    chatwright.yaml:6:87: error: there are two tools with the name `find`
       |
     6 | …Id: find, visibleParameters: [p] }, find], apiKey: { _secret: KEY }, resource: found }
       |                                      ^^^^
       = help: the other one is the endpoint `find`; leave one of them out

    chatwright.yaml:6:130: error: there is no endpoint `found`
       |
     6 | …apiKey: { _secret: KEY }, resource: found }
       |                                      ^^^^^
       = help: the only one is `find`
    ");
}

#[test]
fn unsuitable_endpoints_are_rejected() {
    assert_snapshot!(check("api:
  - { id: bare, routine: [{ ':return': 1 }] }
  - { id: write, description: W., payloadSchema: { type: object }, routine: [{ id: w, type: SqlExecute, connectionId: kb, properties: { query: delete from a } }] }
connections: [{ id: kb, type: Sql, properties: { url: 'sqlite::memory:' } }]
serveAsRemoteAgent: { endpoints: [bare, write], apiKey: { _secret: KEY } }
"), @"
    refused
    chatwright.yaml:5:35: error: the endpoint `bare` has no `description`, so it cannot be a tool
       |
     5 | serveAsRemoteAgent: { endpoints: [bare, write], apiKey: { _secret: KEY } }
       |                                   ^^^^
       = help: add it to the endpoint, at chatwright.yaml:2:5: the model chooses tools by it

    chatwright.yaml:5:35: error: the endpoint `bare` has no `payloadSchema`, so it cannot be a tool
       |
     5 | serveAsRemoteAgent: { endpoints: [bare, write], apiKey: { _secret: KEY } }
       |                                   ^^^^
       = help: add it to the endpoint, at chatwright.yaml:2:5: the model fills it in

    chatwright.yaml:5:41: warning: the agent may call `write`, which changes data, without asking
       |
     5 | serveAsRemoteAgent: { endpoints: [bare, write], apiKey: { _secret: KEY } }
       |                                         ^^^^^
       = help: write `{ endpointId: write, confirm: true }` to ask the user before each call
    ");
    let long = format!("a/{}", "b".repeat(62));
    assert_snapshot!(check(&format!("api:
  - {{ id: {long}, description: L., payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
  - {{ id: c/d, description: S., payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
  - {{ id: c__d, description: S., payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
serveAsRemoteAgent:
  endpoints:
    - {long}
    - c/d
    - c__d
  apiKey: {{ _secret: KEY }}
")), @"
    refused
    chatwright.yaml:7:7: error: `a__bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` cannot be the name of a tool
       |
     7 |     - a/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: give the endpoint another `id`: use up to 64 letters, digits, `_` and `-`

    chatwright.yaml:9:7: error: there are two tools with the name `c__d`
       |
     9 |     - c__d
       |       ^^^^
       = help: the other one is the endpoint `c/d`; leave one of them out
    ");
}

#[test]
fn unsupported_parameters_are_rejected() {
    assert_snapshot!(parameters("{ userId: { type: string, description: Who. }, q: { type: string }, r: { type: [string, 'null'], description: R. } }"), @"
    refused
    chatwright.yaml:4:50: error: remote agents must not have a parameter `userId`: the name is the platform's own
       |
     4 | …hema: { type: object, properties: { userId: { type: string, description: Who. }, q: { type: string }, r: { typ…
       |                                      ^^^^^^
       = help: give it a prefix, for example `myUserId`

    chatwright.yaml:4:95: error: the parameter `q` has no `description`, so `find` cannot be a remote agent's tool
       |
     4 | … type: string, description: Who. }, q: { type: string }, r: { type: [string, 'null'], description: R. } } }
       |                                      ^
       = help: add one: another platform's model fills it in by that

    chatwright.yaml:4:127: error: the parameter `r` has no type that the contract knows, so `find` cannot be a remote agent's tool
       |
     4 | … }, q: { type: string }, r: { type: [string, 'null'], description: R. } } }
       |                                      ^
       = help: give it one `type`: `string`, `number`, `integer`, `boolean`, `array` or `object`; the contract has neither alternatives nor references
    ");
    assert_snapshot!(parameters("{ a: { $ref: '#/$defs/a', description: A. }, b: true, 'c d': { type: string, description: C. } }"), @"
    refused
    chatwright.yaml:4:20: error: the schema is refused: the reference `#/$defs/a` cannot be resolved
       |
     4 |     payloadSchema: { type: object, properties: { a: { $ref: '#/$defs/a', description: A. }, b: true, 'c d': { …
       |                    ^

    chatwright.yaml:4:50: error: the parameter `a` has no type that the contract knows, so `find` cannot be a remote agent's tool
       |
     4 | …hema: { type: object, properties: { a: { $ref: '#/$defs/a', description: A. }, b: true, 'c d': { type: string,…
       |                                      ^
       = help: give it one `type`: `string`, `number`, `integer`, `boolean`, `array` or `object`; the contract has neither alternatives nor references

    chatwright.yaml:4:93: error: the parameter `b` has no type that the contract knows, so `find` cannot be a remote agent's tool
       |
     4 | …ef: '#/$defs/a', description: A. }, b: true, 'c d': { type: string, description: C. } } }
       |                                      ^
       = help: give it one `type`: `string`, `number`, `integer`, `boolean`, `array` or `object`; the contract has neither alternatives nor references

    chatwright.yaml:4:102: error: `c d` cannot be the name of a tool's parameter
       |
     4 | …efs/a', description: A. }, b: true, 'c d': { type: string, description: C. } } }
       |                                      ^^^^^
       = help: use up to 64 letters, digits, `_`, `.` and `-`
    ");
    assert_snapshot!(parameters("{ a: { type: array, description: A., items: { type: string } }, b: { type: object, description: B., properties: { c: { type: integer } }, required: [d] } }"), @"
    refused
    chatwright.yaml:4:85: error: each item of the parameter `a` has no `description`, so `find` cannot be a remote agent's tool
       |
     4 | … a: { type: array, description: A., items: { type: string } }, b: { type: object, description: B., properties:…
       |                                      ^^^^^
       = help: add one: another platform's model fills it in by that

    chatwright.yaml:4:162: error: the parameter `c` has no `description`, so `find` cannot be a remote agent's tool
       |
     4 | …ect, description: B., properties: { c: { type: integer } }, required: [d] } } }
       |                                      ^
       = help: add one: another platform's model fills it in by that

    chatwright.yaml:4:197: error: `d` is required and not described
       |
     4 | … c: { type: integer } }, required: [d] } } }
       |                                      ^
       = help: describe it among the `properties`
    ");
    assert_snapshot!(parameters("{ a: { description: A., type: string, enum: [x, [y]] }, b: { type: strin, description: B. } }"), @"
    refused
    chatwright.yaml:4:96: error: the parameter `a` allows a list, so `find` cannot be a remote agent's tool
       |
     4 | …iption: A., type: string, enum: [x, [y]] }, b: { type: strin, description: B. } } }
       |                                      ^
       = help: allow texts, numbers and booleans only

    chatwright.yaml:4:115: error: JSON Schema has no type `strin`
       |
     4 | …tring, enum: [x, [y]] }, b: { type: strin, description: B. } } }
       |                                      ^^^^^
       = help: did you mean `string`?
    ");
}

#[test]
fn resource_must_accept_an_empty_payload() {
    let schema = "{ type: object, properties: { q: { type: string, description: Q. } }, required: [q] }";
    assert_snapshot!(check(&served(schema, "{ endpoints: [find], apiKey: { _secret: KEY }, resource: find }")), @"
    refused
    chatwright.yaml:6:78: error: the endpoint `find` refuses the empty payload of a resource
       |
     6 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: KEY }, resource: find }
       |                                                                              ^^^^
       = help: let its `payloadSchema` require nothing, at chatwright.yaml:2:5
    ");
}

#[test]
fn api_key_must_be_visible_ascii() {
    let config = served("{ type: object }", "{ endpoints: [find], apiKey: { _secret: BAD } }");
    let env = std::collections::HashMap::from([("BAD".to_owned(), "canary key\n".to_owned())]);
    let rendered = config::render(&config::load_embedded(&[("chatwright.yaml", &config)], &env).unwrap_err());
    assert_snapshot!(rendered, @"
    chatwright.yaml:6:50: error: this key has a character that the header `x-api-key` cannot have
       |
     6 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: BAD } }
       |                                                  ^
       = help: use letters, digits and signs of ASCII, without spaces and line breaks
    ");
}

#[test]
fn endpoints_closed_to_the_api_key_are_rejected() {
    let check = |auth: &str| {
        let config = served("{ type: object }", "{ endpoints: [find], apiKey: { _secret: KEY }, resource: find }");
        check(&config.replace("    routine", &format!("    {auth}\n    routine")))
    };
    assert_snapshot!(check("auth: public"), @"accepted");
    assert_snapshot!(check("type: InternalApi"), @"
    refused
    chatwright.yaml:7:35: error: the endpoint `find` is internal, so no platform can call it
       |
     7 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: KEY }, resource: find }
       |                                   ^^^^
       = help: only routines, hooks and agents may call it

    chatwright.yaml:7:78: error: the endpoint `find` is internal, so no platform can call it
       |
     7 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: KEY }, resource: find }
       |                                                                              ^^^^
       = help: only routines, hooks and agents may call it
    ");
    assert_snapshot!(check("auth: { roles: [admin] }"), @"
    refused
    chatwright.yaml:7:35: error: no platform has a role, so none can call the endpoint `find`
       |
     7 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: KEY }, resource: find }
       |                                   ^^^^
       = help: it is for the role `admin` (chatwright.yaml:2:5)

    chatwright.yaml:7:78: error: no platform has a role, so none can call the endpoint `find`
       |
     7 | serveAsRemoteAgent: { endpoints: [find], apiKey: { _secret: KEY }, resource: find }
       |                                                                              ^^^^
       = help: it is for the role `admin` (chatwright.yaml:2:5)
    ");
}
