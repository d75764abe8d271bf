//! The routes of the preset `dispatcher`, in the order in which they are taken if the model does not decide.

use super::{ATTACHMENT, CHAT, RAG_SEARCH, WEB_SEARCH};
use agent::{Route, RouteNeed};

/// The tools for documents, and those for the web.
const DOCUMENT_TOOLS: &[&str] = &["document_search", "document_read", "document_list", "graph_query", "graph_explore"];
const WEB_TOOLS: &[&str] = &["web_search", "web_fetch"];
const ALL_TOOLS: &[&str] =
    &["document_search", "document_read", "document_list", "graph_query", "graph_explore", "web_search", "web_fetch"];

/// The routes.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        name: "attachment",
        purpose: "the message is about the files that it has",
        instructions: ATTACHMENT,
        needs: RouteNeed::Files,
        // Attached documents are searched with the same tools as others.
        without_tools: WEB_TOOLS,
        without_sources: &["web"],
    },
    Route {
        name: "rag-search",
        purpose: "the answer is to be found in the documents of the organisation",
        instructions: RAG_SEARCH,
        needs: RouteNeed::Tool("document_search"),
        without_tools: WEB_TOOLS,
        without_sources: &["web"],
    },
    Route {
        name: "web-search",
        purpose: "the answer is to be found on the web: it is public, new, or about something outside of the organisation",
        instructions: WEB_SEARCH,
        needs: RouteNeed::Tool("web_search"),
        without_tools: DOCUMENT_TOOLS,
        without_sources: &["documents"],
    },
    Route {
        name: "chat",
        purpose: "nothing has to be looked up: a greeting, a text to write or to change, a question about what was said",
        instructions: CHAT,
        needs: RouteNeed::Nothing,
        without_tools: ALL_TOOLS,
        without_sources: &["documents", "web"],
    },
];
