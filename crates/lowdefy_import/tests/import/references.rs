//! Apps of several files.

use crate::check;
use insta::assert_snapshot;

#[test]
fn files_and_references_are_taken_over() {
    let files = [
        (
            "lowdefy.yaml",
            "
agents:
  - _ref: agents/support.yaml
  - _ref: { path: agents/team.yaml, vars: { id: sales, model: demo, extra: { temperature: 0.5 } } }
  - _ref: { path: agents/team.yaml, vars: { id: legal } }
connections:
  - { id: anthropic, type: Anthropic, properties: { apiKey: { _secret: KEY } } }
pages:
  - _ref: { path: pages/made.yaml.njk }
  - _ref: { path: pages/all.yaml, key: first, transformer: add.js }
",
        ),
        (
            "agents/support.yaml",
            "
id: support
type: ClaudeAgent
connectionId: anthropic
properties:
  model: claude-haiku-4-5
  instructions: { _ref: agents/support.md }
",
        ),
        ("agents/support.md", "# Support\n\nYou help.\n"),
        (
            "agents/team.yaml",
            "
id: { _var: id }
type: ClaudeAgent
connectionId: anthropic
properties:
  model: { _var: { key: model, default: claude-haiku-4-5 } }
  temperature: { _var: extra.temperature }
",
        ),
        ("pages/all.yaml", "first: { id: home, type: Box, blocks: [] }"),
    ];
    assert_snapshot!(check(&files), @r"
    agents:
      - { _ref: agents/support.yaml }

      # team.yaml, line 2
      - id: sales
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: demo
          temperature: 0.5

      # team.yaml, line 2
      - id: legal
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: claude-haiku-4-5

    connections:
      # lowdefy.yaml, line 7
      - id: anthropic
        type: Anthropic
        properties:
          apiKey: { _secret: KEY }

    pages:
      # all.yaml, line 1
      - id: home
        blocks: []
    --- agents/support.md
    # Support

    You help.
    --- agents/support.yaml
    id: support
    type: ClaudeAgent
    connectionId: anthropic
    properties:
      model: claude-haiku-4-5
      instructions: { _ref: agents/support.md }
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    KEY=

    lowdefy.yaml:9:19: warning: left out: a Nunjucks template
       |
     9 |   - _ref: { path: pages/made.yaml.njk }
       |                   ^^^^^^^^^^^^^^^^^^^
       = help: write the rendered YAML into a file and refer to that

    lowdefy.yaml:10:47: warning: left out: `transformer` of a reference
        |
     10 |   - _ref: { path: pages/all.yaml, key: first, transformer: add.js }
        |                                               ^^^^^^^^^^^
        = help: it is a program; write what it returns into the file

    agents/team.yaml:7:24: warning: left out: the reference to this file passes no variable `extra.temperature`
       |
     7 |   temperature: { _var: extra.temperature }
       |                        ^^^^^^^^^^^^^^^^^

    taken over: 1 connection, 3 agents, 1 page; left out: 3; changed: 0
    ");
}

/// A file that becomes different values in different places is written once, and otherwise in place.
#[test]
fn file_with_two_meanings_is_written_in_place() {
    let files = [
        ("lowdefy.yaml", "pages: [{ _ref: home.yaml }, { id: other, blocks: [{ _ref: home.yaml }] }]"),
        ("home.yaml", "{ id: home, type: Box, blocks: [{ _ref: text.yaml }] }"),
        ("text.yaml", "{ id: text, type: Title, properties: { content: Hello } }"),
    ];
    assert_snapshot!(check(&files), @r"
    pages:
      - { _ref: home.yaml }

      # lowdefy.yaml, line 1
      - id: other
        blocks:
          - id: home
            type: Box
            blocks:
              - { _ref: text.yaml }
    --- home.yaml
    id: home
    blocks:
      - { _ref: text.yaml }
    --- text.yaml
    id: text
    type: Title
    properties:
      title: Hello

    taken over: 2 pages; left out: 0; changed: 0
    ");
}

/// Files that include each other twice would double with each level.
#[test]
fn growth_is_bounded() {
    let names: Vec<String> = (0..40).map(|number| format!("{number}.yaml")).collect();
    let texts: Vec<String> =
        (1..=40).map(|next| format!("[{{ _ref: {next}.yaml }}, {{ _ref: {next}.yaml }}]")).collect();
    let mut files = vec![("lowdefy.yaml", "pages: { _ref: 0.yaml }"), ("40.yaml", "[]")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    assert_snapshot!(check(&files), @r"
    29.yaml:1:2: error: lists, mappings and included files nest more than 60 deep
       |
     1 | [{ _ref: 30.yaml }, { _ref: 30.yaml }]
       |  ^
    ");
    let doubling = (1..40).map(|n| {
        format!(
            "{{ a: {{ _var: v }}, b: {{ _ref: {{ path: {n}.yaml, vars: {{ v: [{{ _var: v }}, {{ _var: v }}] }} }} }} }}"
        )
    });
    let texts: Vec<String> = doubling.collect();
    let mut files = vec![("lowdefy.yaml", "pages: { _ref: { path: 0.yaml, vars: { v: [1] } } }"), ("39.yaml", "[]")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    assert_snapshot!(check(&files), @r"
    14.yaml:1:59: error: the app holds more than 200000 values, with all that it includes
       |
     1 | { a: { _var: v }, b: { _ref: { path: 15.yaml, vars: { v: [{ _var: v }, { _var: v }] } } } }
       |                                                           ^
    ");
}
