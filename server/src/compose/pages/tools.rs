//! The tools that pages provide to agents, declared by the config or by pages that are written in
//! Rust. A browser names its page in each request and gets the tools that this page declares,
//! whatever else it sends.

use app::pages::{RustPage, ToolAnnotations};
use capability::annotated;
use config::Page;
use contract::{Annotations, ApprovalTerms, Tool};
use std::collections::HashMap;
use std::sync::Arc;
use tools::{PageTool, RESERVED_NAMES};

/// The tools of all pages, by page and agent.
#[derive(Default)]
pub(in crate::compose) struct PageTools(HashMap<(String, String), Vec<PageToolEntry>>);

/// A tool, and the chat that has it.
struct PageToolEntry {
    /// The block of the only chat that has it; `None` for every chat of the page with the agent.
    block_id: Option<String>,
    tool: Arc<dyn Tool>,
}

impl PageTools {
    /// Collects the tools of all pages.
    ///
    /// # Errors
    /// A page in Rust declares an invalid tool. The tools of the config were checked when it was
    /// loaded.
    pub(in crate::compose) fn new(pages: &[Page], in_rust: &[RustPage]) -> anyhow::Result<Self> {
        let mut tools = Self::default();
        for page in pages {
            for tool in &page.client_tools {
                let (asks, approval) = (tool.confirm.is_some(), ApprovalTerms::new(tool.confirm, None));
                let built = PageTool::new(&tool.name, &tool.description, tool.input_schema.clone(), asks, approval);
                let built = annotated(Arc::new(built), tool.annotations.into());
                tools.add(&page.definition.id, &tool.agent_id, Some(tool.block_id.clone()), built);
            }
        }
        for page in in_rust {
            for tool in page.client_tools {
                let schema = (tool.input_schema)();
                let is_object = schema.get("type").is_some_and(|kind| kind == "object");
                anyhow::ensure!(is_object, "{}: {}: its schema must be an object schema", page.id, tool.name);
                let is_free = is_tool_name(tool.name) && !RESERVED_NAMES.contains(&tool.name);
                anyhow::ensure!(is_free, "{}: {} cannot be the name of a tool", page.id, tool.name);
                let approval = ApprovalTerms::default();
                let built = PageTool::new(tool.name, tool.description, schema, tool.confirm, approval);
                let ToolAnnotations { reads_private, returns_untrusted, egress, reads_only } = tool.annotations;
                let marks =
                    Annotations { reads_private, returns_untrusted, egress, reads_only, ..Annotations::default() };
                let built = annotated(Arc::new(built), marks);
                tools.add(page.id, tool.agent_id, None, built);
            }
        }
        Ok(tools)
    }

    fn add(&mut self, page_id: &str, agent_id: &str, block_id: Option<String>, tool: Arc<dyn Tool>) {
        let key = (page_id.to_owned(), agent_id.to_owned());
        self.0.entry(key).or_default().push(PageToolEntry { block_id, tool });
    }

    /// Returns the tools of one chat of the config, with those of the whole page.
    pub(in crate::compose) fn for_chat(&self, page_id: &str, agent_id: &str, block_id: &str) -> Vec<Arc<dyn Tool>> {
        self.filtered(page_id, agent_id, |own| own.is_none_or(|own| own == block_id))
    }

    /// Returns the tools of a page that is written in Rust, for any of its chats with the agent.
    pub(in crate::compose) fn for_page(&self, page_id: &str, agent_id: &str) -> Vec<Arc<dyn Tool>> {
        self.filtered(page_id, agent_id, |own| own.is_none())
    }

    fn filtered(&self, page_id: &str, agent_id: &str, has: impl Fn(Option<&str>) -> bool) -> Vec<Arc<dyn Tool>> {
        let all = self.0.get(&(page_id.to_owned(), agent_id.to_owned())).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|entry| has(entry.block_id.as_deref())).map(|entry| entry.tool.clone()).collect()
    }
}

/// Returns whether models accept this tool name.
fn is_tool_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::pages::{PageRegions, RustTool};
    use serde_json::json;

    const TOOL: RustTool = RustTool {
        agent_id: "clerk",
        name: "publish",
        description: "Publishes the form.",
        input_schema: || json!({ "type": "object" }),
        confirm: true,
        annotations: ToolAnnotations { egress: true, ..ToolAnnotations::NONE },
    };

    /// Returns the tools of a page with this tool, or the error.
    fn made(tool: &'static [RustTool]) -> Result<Vec<Arc<dyn Tool>>, String> {
        let pages = [RustPage { id: "form", content: PageRegions::default, client_tools: tool }];
        let tools = PageTools::new(&[], &pages).map_err(|error| error.to_string())?;
        assert!(tools.for_page("form", "another").is_empty() && tools.for_page("another", "clerk").is_empty());
        Ok(tools.for_page("form", "clerk"))
    }

    #[test]
    fn tools_of_rust_pages_are_validated() {
        let tools = made(&[TOOL]).unwrap();
        let spec = tools[0].spec();
        assert!(spec.needs_approval && spec.execution == contract::Execution::Page);
        assert_eq!(spec.annotations, Annotations { egress: true, ..Annotations::default() });
        let wrong = |tool: &'static [RustTool]| made(tool).err();
        assert_eq!(
            wrong(const { &[RustTool { name: "pub lish", ..TOOL }] }).as_deref(),
            Some("form: pub lish cannot be the name of a tool")
        );
        assert_eq!(
            wrong(const { &[RustTool { name: "update-page-state", ..TOOL }] }).as_deref(),
            Some("form: update-page-state cannot be the name of a tool")
        );
        assert_eq!(
            wrong(const { &[RustTool { input_schema: || json!({ "type": "string" }), ..TOOL }] }).as_deref(),
            Some("form: publish: its schema must be an object schema")
        );
    }
}
