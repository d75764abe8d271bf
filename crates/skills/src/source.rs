//! Tells an agent's model about its skills.

use crate::catalog::CatalogSkill;
use crate::content;
use crate::in_use;
use contract::{NoteQuery, RunScope, SourceTools, ToolError, ToolSource};
use futures::future::BoxFuture;
use std::sync::Arc;

/// The names and descriptions for the instructions of an agent, and the skills that its conversation uses.
pub(crate) struct SkillSource {
    list: String,
    skills: Vec<Arc<CatalogSkill>>,
}

impl SkillSource {
    pub(crate) fn new(skills: Vec<Arc<CatalogSkill>>) -> Self {
        Self { list: content::list(&skills), skills }
    }
}

impl ToolSource for SkillSource {
    fn name(&self) -> &str {
        "skills"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let context = Some(self.list.clone());
        Box::pin(std::future::ready(Ok(SourceTools { context, ..SourceTools::default() })))
    }

    fn reads_history(&self) -> bool {
        true
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        let NoteQuery { messages, history, .. } = asked;
        Box::pin(std::future::ready(in_use::note(&self.skills, messages, history)))
    }
}
