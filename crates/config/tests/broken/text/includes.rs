use crate::check_files;
use insta::assert_snapshot;

#[test]
fn invalid_includes_are_rejected() {
    let check = |main: &str| {
        check_files(&[
            ("chatwright.yaml", main),
            ("agents.yaml", "- id: a\n"),
            ("loop.yaml", "- _ref: again.yaml\n"),
            ("again.yaml", "_ref: loop.yaml\n"),
        ])
    };
    assert_snapshot!(check("agents: { _ref: agent.yaml }\n"), @"
    refused
    chatwright.yaml:1:17: error: cannot read `agent.yaml`: there is no such file
       |
     1 | agents: { _ref: agent.yaml }
       |                 ^^^^^^^^^^
       = help: did you mean `agents.yaml`?
    ");
    assert_snapshot!(check("agents: { _ref: ../agents.yaml }\n"), @"
    refused
    chatwright.yaml:1:17: error: `../agents.yaml` leaves the config's folder
       |
     1 | agents: { _ref: ../agents.yaml }
       |                 ^^^^^^^^^^^^^^
       = help: paths start at the folder of the config
    ");
    assert_snapshot!(check("agents: { _ref: /etc/passwd }\n"), @"
    refused
    chatwright.yaml:1:17: error: `/etc/passwd` leaves the config's folder
       |
     1 | agents: { _ref: /etc/passwd }
       |                 ^^^^^^^^^^^
       = help: paths start at the folder of the config
    ");
    assert_snapshot!(check("agents: { _ref: loop.yaml }\n"), @"
    refused
    again.yaml:1:7: error: `loop.yaml` includes itself
       |
     1 | _ref: loop.yaml
       |       ^^^^^^^^^
       = help: `loop.yaml` → `again.yaml` → `loop.yaml`
    ");
    assert_snapshot!(check("agents: { _ref: chatwright.yaml }\n"), @"
    refused
    chatwright.yaml:1:17: error: `chatwright.yaml` includes itself
       |
     1 | agents: { _ref: chatwright.yaml }
       |                 ^^^^^^^^^^^^^^^
       = help: `chatwright.yaml` → `chatwright.yaml`
    ");
    assert_snapshot!(check("agents: { _ref: [agents.yaml] }\n"), @"
    refused
    chatwright.yaml:1:17: error: `_ref` takes the path of a file, found a list
       |
     1 | agents: { _ref: [agents.yaml] }
       |                 ^
    ");
    assert_snapshot!(check("agents: { _ref: agents.yaml, more: 1 }\n"), @"
    refused
    chatwright.yaml:1:9: error: `_ref` stands for the whole value; it cannot have keys beside it
       |
     1 | agents: { _ref: agents.yaml, more: 1 }
       |         ^
    ");
}

#[test]
fn errors_in_included_files_name_the_file() {
    let files = [
        (
            "chatwright.yaml",
            "connections: { _ref: ./parts/connections.yaml }\nagents: { _ref: parts/agents.json }\napi: { _ref: broken.yaml }\n",
        ),
        ("parts/connections.yaml", "- id: demo\n  type: Demi\n"),
        (
            "parts/agents.json",
            "[{\"id\": \"a\", \"type\": \"Agent\", \"connectionId\": \"demo\", \"properties\": {\"modell\": \"m\"}}]",
        ),
        ("broken.yaml", "- id: [\n"),
    ];
    assert_snapshot!(check_files(&files), @r#"
    refused
    parts/connections.yaml:2:9: error: there is no connection type `Demi`
       |
     2 |   type: Demi
       |         ^^^^
       = help: did you mean `Demo`?

    parts/agents.json:1:70: error: there is no key `modell` here
       |
     1 | [{"id": "a", "type": "Agent", "connectionId": "demo", "properties": {"modell": "m"}}]
       |                                                                      ^^^^^^^^
       = help: did you mean `model`?

    broken.yaml:1:8: error: this is not valid YAML: while parsing a node, did not find expected node content
       |
     1 | - id: [
       |        ^
       = help: a value is missing here, or a bracket is not closed
    "#);
}

#[test]
fn include_bomb_is_rejected() {
    let mut files = vec![("chatwright.yaml".to_owned(), "agents: [{ _ref: l0.yaml }]".to_owned())];
    for level in 0..9 {
        files.push((format!("l{level}.yaml"), format!("- _ref: l{}.yaml\n", level + 1).repeat(10)));
    }
    files.push(("l9.yaml".to_owned(), "[]".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_snapshot!(check_files(&files), @"
    refused
    l8.yaml:6:9: error: the config holds more than 500000 values, with aliases and includes expanded
       |
     6 | - _ref: l9.yaml
       |         ^^^^^^^
    ");
}
