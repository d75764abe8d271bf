use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_yaml_is_rejected() {
    assert_snapshot!(check("agents: [\n"), @"
    refused
    chatwright.yaml:1:10: error: this is not valid YAML: while parsing a node, did not find expected node content
       |
     1 | agents: [
       |          ^
       = help: a value is missing here, or a bracket is not closed
    ");
    assert_snapshot!(check("agents:\n  - id: a\n   type: b\n"), @"
    refused
    chatwright.yaml:3:4: error: this is not valid YAML: while parsing a block collection, did not find expected '-' indicator
       |
     3 |    type: b
       |    ^
       = help: check the indentation of this line and of the one before it
    ");
    assert_snapshot!(check("agents:\n\t- id: a\n"), @"
    refused
    chatwright.yaml:2:2: error: this is not valid YAML: tabs disallowed within this context (block indentation)
       |
     2 |  - id: a
       |  ^
       = help: indent with spaces; YAML does not allow tabs there
    ");
    assert_snapshot!(check("a: 'open\n"), @"
    refused
    chatwright.yaml:1:4: error: this is not valid YAML: while scanning a quoted scalar, found unexpected end of stream
       |
     1 | a: 'open
       |    ^
       = help: close the quote that is opened here
    ");
    assert_snapshot!(check("{\"agents\": [}"), @r#"
    refused
    chatwright.yaml:1:13: error: this is not valid YAML: while parsing a node, did not find expected node content
       |
     1 | {"agents": [}
       |             ^
       = help: a value is missing here, or a bracket is not closed
    "#);
}

#[test]
fn unsupported_yaml_features_are_rejected() {
    assert_snapshot!(check("agents: []\nagents: []\n"), @"
    refused
    chatwright.yaml:2:1: error: the key `agents` is there twice
       |
     2 | agents: []
       | ^^^^^^
       = help: it was set first in line 1
    ");
    assert_snapshot!(check("? [a, b]\n: 1\n"), @"
    refused
    chatwright.yaml:1:3: error: a key must be text
       |
     1 | ? [a, b]
       |   ^
    ");
    assert_snapshot!(check("~: 1\n"), @"
    refused
    chatwright.yaml:1:1: error: a key is missing here
       |
     1 | ~: 1
       | ^
    ");
    assert_snapshot!(check("<<: { agents: [] }\n"), @"
    refused
    chatwright.yaml:1:1: error: merge keys (`<<`) are not part of YAML 1.2
       |
     1 | <<: { agents: [] }
       | ^^
       = help: write an alias for the whole value, or include a file with `_ref`
    ");
    assert_snapshot!(check("agents: !!python/object []\nlimits: { toolMs: !secret 1 }\n"), @"
    refused
    chatwright.yaml:1:9: error: tags are not supported
       |
     1 | agents: !!python/object []
       |         ^

    chatwright.yaml:2:19: error: tags are not supported
       |
     2 | limits: { toolMs: !secret 1 }
       |                   ^^^^^^^^^
    ");
    assert_snapshot!(check("limits: { toolMs: .inf }\n"), @"
    refused
    chatwright.yaml:1:19: error: JSON has no such number; quote it if it is meant as text
       |
     1 | limits: { toolMs: .inf }
       |                   ^^^^
    ");
    assert_snapshot!(check("limits: { toolMs: !!int many }\n"), @"
    refused
    chatwright.yaml:1:19: error: this is not a number
       |
     1 | limits: { toolMs: !!int many }
       |                   ^^^^^^^^^^
    ");
    assert_snapshot!(check("agents: &a [*a]\n"), @"
    refused
    chatwright.yaml:1:13: error: this alias stands inside the value that it names
       |
     1 | agents: &a [*a]
       |             ^^
    ");
    assert_snapshot!(check("&a agents: []\n*a : []\n"), @"
    refused
    chatwright.yaml:2:1: error: a key must be text, not an alias
       |
     2 | *a : []
       | ^^
    ");
    assert_snapshot!(check("agents: []\n---\nagents: []\n"), @"
    refused
    chatwright.yaml:3:1: error: a second YAML document starts here; a config file has one
       |
     3 | agents: []
       | ^
    ");
    assert_snapshot!(check("__proto__: {}\n"), @"
    refused
    chatwright.yaml:1:1: error: the key `__proto__` is refused: it can change every object in a browser
       |
     1 | __proto__: {}
       | ^^^^^^^^^
    ");
}

#[test]
fn invalid_roots_are_rejected() {
    assert_snapshot!(check(""), @"
    refused
    chatwright.yaml:1:1: error: expected a mapping, found nothing
      = help: a config is a mapping of sections: `configVersion`, `connections`, `models`, `agents`, `api`, `pages`, `home`, `generateTitle`, `policy`, `auth`, `limits`, `prices`, `locale`, `store`, `embed`, `pictures` and `serveAsRemoteAgent`
    ");
    assert_snapshot!(check("# nothing yet\n"), @"
    refused
    chatwright.yaml:1:1: error: expected a mapping, found nothing
       |
     1 | # nothing yet
       | ^
       = help: a config is a mapping of sections: `configVersion`, `connections`, `models`, `agents`, `api`, `pages`, `home`, `generateTitle`, `policy`, `auth`, `limits`, `prices`, `locale`, `store`, `embed`, `pictures` and `serveAsRemoteAgent`
    ");
    assert_snapshot!(check("- agents\n"), @"
    refused
    chatwright.yaml:1:1: error: expected a mapping, found a list
       |
     1 | - agents
       | ^
       = help: a config is a mapping of sections: `configVersion`, `connections`, `models`, `agents`, `api`, `pages`, `home`, `generateTitle`, `policy`, `auth`, `limits`, `prices`, `locale`, `store`, `embed`, `pictures` and `serveAsRemoteAgent`
    ");
    assert_snapshot!(check("agent: []\nconections: []\ncolours: []\n"), @"
    refused
    chatwright.yaml:1:1: error: there is no section `agent`
       |
     1 | agent: []
       | ^^^^^
       = help: did you mean `agents`?

    chatwright.yaml:2:1: error: there is no section `conections`
       |
     2 | conections: []
       | ^^^^^^^^^^
       = help: did you mean `connections`?

    chatwright.yaml:3:1: error: there is no section `colours`
       |
     3 | colours: []
       | ^^^^^^^
       = help: one of `configVersion`, `connections`, `models`, `agents`, `api`, `pages`, `home`, `generateTitle`, `policy`, `auth`, `limits`, `prices`, `locale`, `store`, `embed`, `pictures` and `serveAsRemoteAgent`
    ");
    assert_snapshot!(check("agents: { id: a }\n"), @"
    refused
    chatwright.yaml:1:9: error: expected a list, found a mapping
       |
     1 | agents: { id: a }
       |         ^
    ");
}

#[test]
fn depth_number_and_size_limits_are_enforced() {
    assert_snapshot!(check(&format!("agents: {}", "[".repeat(65) + &"]".repeat(65))), @"
    refused
    chatwright.yaml:1:73: error: lists and mappings nest more than 64 deep
       |
     1 | …[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
       |                                      ^
    ");
    let many = check(&format!("agents: [{}]", "1, ".repeat(30_000)));
    assert_snapshot!(many.lines().last().unwrap_or_default(), @"chatwright.yaml: error: there are 29900 more problems, which are not shown");
    assert_snapshot!(check(&"#".repeat((1 << 20) + 1)), @"
    refused
    chatwright.yaml: error: cannot read this file: it is larger than 1 MiB
    ");
}

#[test]
fn alias_bomb_is_rejected() {
    let mut text = String::from("l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..20 {
        let aliases = format!("*l{}, ", level - 1).repeat(10);
        text.push_str(&format!("l{level}: &l{level} [{aliases}]\n"));
    }
    assert_snapshot!(check(&text), @"
    refused
    chatwright.yaml:6:20: error: the config holds more than 500000 values, with aliases and includes expanded
       |
     6 | l5: &l5 [*l4, *l4, *l4, *l4, *l4, *l4, *l4, *l4, *l4, *l4, ]
       |                    ^^^
    ");
}

#[test]
fn long_lines_are_shortened() {
    let padding = "{\"id\":\"c\",\"type\":\"Demo\"},".repeat(40);
    assert_snapshot!(check(&format!("{{\"connections\":[{padding}{{\"id\":\"d\",\"type\":\"Demi\"}}]}}")).lines().rev().take(5).collect::<Vec<_>>().join("\n"), @r#"
       = help: did you mean `Demo`?
       |                                      ^^^^^^
     1 | …"c","type":"Demo"},{"id":"d","type":"Demi"}]}
       |
    chatwright.yaml:1:1034: error: there is no connection type `Demi`
    "#);
}

#[test]
fn number_of_diagnostics_is_limited() {
    let text = (0..1000).map(|n| format!("key{n}: 1\n")).collect::<String>();
    let said = check(&text);
    assert_snapshot!(said.lines().rev().take(3).collect::<Vec<_>>().join("\n"), @"
    chatwright.yaml: error: there are 900 more problems, which are not shown

         = help: one of `configVersion`, `connections`, `models`, `agents`, `api`, `pages`, `home`, `generateTitle`, `policy`, `auth`, `limits`, `prices`, `locale`, `store`, `embed`, `pictures` and `serveAsRemoteAgent`
    ");
}
