//! What pages do for agents: declared by the config, or with a page that is written in Rust. A browser that asks for an agent names the
//! page that it shows, and gets what that page declares, whatever it sends besides.

use super::agent_settings::approval;
use super::marks::{marked, of_one};
use app::pages::{RustPage, ToolMarks};
use config::Page;
use contract::{ApprovalTerms, Marks, Tool};
use std::collections::HashMap;
use std::sync::Arc;
use tools::{PageTool, RESERVED_NAMES};

/// The tools of all pages, by page and agent.
#[derive(Default)]
pub(super) struct PageTools(HashMap<(String, String), Vec<PageToolEntry>>);

/// A tool, and who has it.
struct PageToolEntry {
    /// The only chat that has it; without one, every chat of the page with the agent.
    block_id: Option<String>,
    tool: Arc<dyn Tool>,
}

impl PageTools {
    /// # Errors
    /// A page in Rust declares something that cannot be a tool. What the config declares was checked as it was read.
    pub(super) fn new(pages: &[Page], in_rust: &[RustPage]) -> anyhow::Result<Self> {
        let mut tools = Self::default();
        for page in pages {
            for tool in &page.client_tools {
                let (asks, approval) = (tool.confirm.is_some(), approval(tool.confirm, None));
                let built = PageTool::new(&tool.name, &tool.description, tool.input_schema.clone(), asks, approval);
                let built = marked(Arc::new(built), of_one(tool.marks));
                tools.add(&page.definition.id, &tool.agent_id, Some(tool.block_id.clone()), built);
            }
        }
        for page in in_rust {
            for tool in page.client_tools {
                let schema = (tool.input_schema)();
                let is_object = schema.get("type").is_some_and(|kind| kind == "object");
                anyhow::ensure!(is_object, "{}: {}: its schema is not that of an object", page.id, tool.name);
                let is_free = is_name(tool.name) && !RESERVED_NAMES.contains(&tool.name);
                anyhow::ensure!(is_free, "{}: {} cannot be the name of a tool", page.id, tool.name);
                let approval = ApprovalTerms::default();
                let built = PageTool::new(tool.name, tool.description, schema, tool.confirm, approval);
                let ToolMarks { reads_private, returns_untrusted, egress } = tool.marks;
                let marks = Marks { reads_private, returns_untrusted, egress, ..Marks::default() };
                let built = marked(Arc::new(built), marks);
                tools.add(page.id, tool.agent_id, None, built);
            }
        }
        Ok(tools)
    }

    fn add(&mut self, page_id: &str, agent_id: &str, block_id: Option<String>, tool: Arc<dyn Tool>) {
        let key = (page_id.to_owned(), agent_id.to_owned());
        self.0.entry(key).or_default().push(PageToolEntry { block_id, tool });
    }

    /// What one chat of the config does for this agent, with what the whole page does.
    pub(super) fn of_chat(&self, page_id: &str, agent_id: &str, block_id: &str) -> Vec<Arc<dyn Tool>> {
        self.filtered(page_id, agent_id, |own| own.is_none_or(|own| own == block_id))
    }

    /// What a page that is written in Rust does for this agent, whichever of its chats asks.
    pub(super) fn of_page(&self, page_id: &str, agent_id: &str) -> Vec<Arc<dyn Tool>> {
        self.filtered(page_id, agent_id, |own| own.is_none())
    }

    fn filtered(&self, page_id: &str, agent_id: &str, has: impl Fn(Option<&str>) -> bool) -> Vec<Arc<dyn Tool>> {
        let all = self.0.get(&(page_id.to_owned(), agent_id.to_owned())).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|entry| has(entry.block_id.as_deref())).map(|entry| entry.tool.clone()).collect()
    }
}

/// As models take it.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::pages::{Parts, RustTool};
    use serde_json::json;

    const TOOL: RustTool = RustTool {
        agent_id: "clerk",
        name: "publish",
        description: "Publishes the form.",
        input_schema: || json!({ "type": "object" }),
        confirm: true,
        marks: ToolMarks { egress: true, ..ToolMarks::NONE },
    };

    /// What a page with this tool does for the agent, or why it cannot.
    fn made(tool: &'static [RustTool]) -> Result<Vec<Arc<dyn Tool>>, String> {
        let pages = [RustPage { id: "form", content: Parts::default, client_tools: tool }];
        let tools = PageTools::new(&[], &pages).map_err(|error| error.to_string())?;
        assert!(tools.of_page("form", "another").is_empty() && tools.of_page("another", "clerk").is_empty());
        Ok(tools.of_page("form", "clerk"))
    }

    #[test]
    fn tools_of_pages_in_rust() {
        let tools = made(&[TOOL]).unwrap();
        let spec = tools[0].spec();
        assert!(spec.needs_approval && spec.execution == contract::Execution::Page);
        assert_eq!(spec.marks, Marks { egress: true, ..Marks::default() });
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
            Some("form: publish: its schema is not that of an object")
        );
    }
}
