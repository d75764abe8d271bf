//! Finds the secrets that are written in a config.

use super::query::Shape;
use config_source::{Node, NodeKind};

/// Returns the texts that stand where the schema also allows `{ _secret: NAME }`.
pub(crate) fn written_secrets<'n>(node: &'n Node, shape: Shape<'_>) -> Vec<&'n Node> {
    let mut found = Vec::new();
    collect(node, shape, &mut found);
    found
}

fn collect<'n>(node: &'n Node, shape: Shape<'_>, found: &mut Vec<&'n Node>) {
    let fitting = fitting_shapes(node, shape);
    match &node.kind {
        NodeKind::Text(_) if fitting.iter().any(|shape| is_secret(*shape)) => found.push(node),
        NodeKind::List(items) => {
            for shape in fitting.iter().filter_map(|shape| shape.items()) {
                items.iter().for_each(|item| collect(item, shape, found));
            }
        }
        NodeKind::Map(entries) => {
            for entry in entries {
                let inside =
                    fitting.iter().filter_map(|shape| shape.property(&entry.key).or_else(|| shape.additional()));
                inside.for_each(|shape| collect(&entry.value, shape, found));
            }
        }
        _ => {}
    }
}

/// Returns a shape with its alternatives, without those of another tag.
fn fitting_shapes<'s>(node: &Node, shape: Shape<'s>) -> Vec<Shape<'s>> {
    let tag = shape.tag();
    let written = tag.and_then(|tag| node.get(tag)?.value.text());
    let fits = |alternative: &Shape<'s>| {
        let own = tag.and_then(|tag| alternative.property(tag)?.text("const"));
        own.is_none() || written.is_none() || own == written
    };
    let alternatives = shape.alternatives().filter(fits).flat_map(|alternative| fitting_shapes(node, alternative));
    std::iter::once(shape).chain(alternatives).collect()
}

/// Whether it is the shape of `{ _secret: NAME }`, and not that of an operator, which may be one of many.
fn is_secret(shape: Shape<'_>) -> bool {
    !shape.is_operator() && shape.property("_secret").is_some()
}

#[cfg(test)]
mod tests {
    use crate::Language;
    use config_source::{ConfigSource, SourceText};

    #[test]
    fn written_secrets_are_not_shown() {
        let text = "
connections:
  - { id: a, type: Anthropic, properties: { apiKey: sk-one, baseURL: 'https://a.example.com', headers: { X-Team: red-team } } }
  - { id: b, type: Sql, properties: { url: 'postgres://ada:pass@host/db' } }
  - id: c
    type: RemoteAgent
    properties:
      baseURL: https://c.example.com
      apiKey: { _secret: NAME }
      variables: { region: north-pole }
agents:
  - { id: x, type: Agent, connectionId: a, properties: { model: red-team-model, instructions: Say sk-one. } }
";
        let file = SourceText { name: "chatwright.yaml".into(), text: text.into() };
        let source = ConfigSource { folder: None, files: vec![file] };
        let shown = Language::default().shown_texts(&source, None);
        assert_eq!(shown.len(), 1);
        insta::assert_snapshot!(shown[0].lines.join("\n").trim_start(), @r"
        connections:
          - { id: a, type: Anthropic, properties: { apiKey: ***, baseURL: 'https://a.example.com', headers: { X-Team: *** } } }
          - { id: b, type: Sql, properties: { url: *** } }
          - id: c
            type: RemoteAgent
            properties:
              baseURL: https://c.example.com
              apiKey: { _secret: NAME }
              variables: { region: *** }
        agents:
          - { id: x, type: Agent, connectionId: a, properties: { model: ***-model, instructions: Say ***. } }
        ");
    }
}
