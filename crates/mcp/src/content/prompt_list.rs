//! The prompts that a server lists.

use crate::clean;
use contract::is_name;
use rmcp::model::Prompt;
use std::sync::Arc;

/// The maximum number of prompts of a server.
pub(super) const MAX_PROMPTS: usize = 50;
/// The maximum number of arguments of a prompt.
pub(super) const MAX_ARGUMENTS: usize = 20;
/// The maximum size of a description in bytes.
const MAX_ABOUT: usize = 200;

/// A prompt of a server, within limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptInfo {
    /// The server's name for it.
    pub(crate) name: String,
    /// Its purpose.
    pub(crate) about: String,
    /// The names of its arguments, with whether they are required.
    pub(crate) arguments: Vec<(String, bool)>,
}

/// Reads the prompts of a server. Those whose names cannot be typed as a command are left out.
pub(crate) fn read_prompts(server: &str, listed: Vec<Prompt>) -> Vec<PromptInfo> {
    let mut prompts = Vec::new();
    for prompt in listed {
        let arguments = prompt.arguments.unwrap_or_default();
        let is_usable = is_name(&prompt.name)
            && arguments.len() <= MAX_ARGUMENTS
            && arguments.iter().all(|argument| is_name(&argument.name));
        if !is_usable || prompts.len() == MAX_PROMPTS {
            let prompt = clean(&prompt.name, MAX_ABOUT);
            tracing::warn!(
                server,
                prompt,
                "left out a prompt of an MCP server: its names cannot be used, or there are too many"
            );
            continue;
        }
        let about = prompt.description.or(prompt.title).unwrap_or_default();
        let arguments = arguments.into_iter().map(|argument| (argument.name, argument.required == Some(true)));
        let about = clean(&about, MAX_ABOUT).replace('\n', " ");
        prompts.push(PromptInfo { name: prompt.name, about, arguments: arguments.collect() });
    }
    prompts
}

/// The prompts of a server, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct KnownPrompts {
    pub(super) list: Option<Arc<Vec<PromptInfo>>>,
    /// Whether composers do not have this list yet.
    pub(super) is_new: bool,
}

impl KnownPrompts {
    /// Records what a server has listed.
    pub(crate) fn record(&mut self, prompts: &Arc<Vec<PromptInfo>>) {
        if self.list.as_ref() != Some(prompts) {
            self.is_new = self.list.is_some() || !prompts.is_empty();
            self.list = Some(prompts.clone());
        }
    }
}
