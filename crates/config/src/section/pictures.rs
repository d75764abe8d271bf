//! The section `pictures`: other sites whose images pages may show.

use super::Context;
use super::embed::parse_origin;
use super::value::Text;
use crate::agent::Agent;
use crate::config::Page;
use config_source::{Node, NodeKind, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// Other sites whose images pages may show: images in results of remote agents, and avatars and
/// icons that operators yield. Images of all other sites are shown as links. The sites of avatars
/// and icons that are written in the config need not be listed.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PicturesEntry {
    /// The origins of the sites: scheme, host and port as browsers send them, such as
    /// `https://images.example.com`.
    #[schemars(length(min = 1))]
    origins: Vec<Text>,
}

/// Reads the section and adds the sites of the avatars and icons in `pages`, and of the pictures of `agents`.
pub(super) fn read(
    section: &Node,
    pages: &[Page],
    agents: &IndexMap<String, Agent>,
    context: &mut Context<'_, '_>,
) -> Vec<String> {
    let mut all = declared_origins(section, context);
    for block in pages.iter().flat_map(|page| &page.definition.blocks) {
        collect_image_origins(&serde_json::to_value(block).unwrap_or_default(), &mut all);
    }
    all.extend(agents.values().filter_map(|agent| image_origin(agent.picture.as_deref()?)));
    all.sort();
    all.dedup();
    all
}

fn declared_origins(section: &Node, context: &mut Context<'_, '_>) -> Vec<String> {
    if matches!(section.kind, NodeKind::Null) {
        return Vec::new();
    }
    let entry = context.decode::<PicturesEntry>(section);
    let origins = entry.map(|PicturesEntry { origins }| origins).unwrap_or_default();
    let mut named = Vec::new();
    for (i, Text(text)) in origins.iter().enumerate() {
        let at = section.span_at(&[PathStep::Key("origins"), PathStep::Index(i)]);
        if text.starts_with("http://") {
            context.report.error(at, "pictures of other sites are shown over `https` alone", None);
        } else {
            named.extend(parse_origin(text, at, context));
        }
    }
    named
}

/// Collects the sites of all avatars and icons in a block.
fn collect_image_origins(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let addresses = ["avatar", "icon"].into_iter().filter_map(|key| fields.get(key)?.as_str());
            all.extend(addresses.filter_map(image_origin));
            fields.values().for_each(|value| collect_image_origins(value, all));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_image_origins(value, all)),
        _ => {}
    }
}

/// Returns the site of an image's address, if it is one over `https`.
fn image_origin(address: &str) -> Option<String> {
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "https")?;
    Some(url.origin().ascii_serialization())
}
