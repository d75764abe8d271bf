//! Replies that were recorded from a model provider: an agent of a config answers with them.

use crate::compose::ReplayedConfig;
use anyhow::{anyhow, bail};
use clap::ValueEnum;
use providers::recorded::Api;
use recordings::format::{AnyFile, ProviderReply, RecordedScope, Recording, read_any};
use recordings::import::{header, record_reply};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The user's message, if the command does not say it.
const DEFAULT_MESSAGE: &str = "(The message is not in the recording.)";

/// The arguments of commands that read the reply of a provider.
#[derive(clap::Args)]
pub(crate) struct ProviderReplyArguments {
    /// The agent that answers with the reply of a provider. Default: the only agent of the config.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The provider whose reply the file has. Default: recognised by its events.
    #[arg(long, value_enum)]
    provider: Option<ProviderArgument>,
    /// The user's message before the reply of a provider.
    #[arg(long, value_name = "TEXT", default_value = DEFAULT_MESSAGE)]
    message: String,
}

/// An API whose replies are read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProviderArgument {
    /// Anthropic's Messages API.
    Anthropic,
    /// The Gemini API.
    Google,
    /// OpenAI's Chat Completions, and gateways that are compatible with it.
    #[value(name = "openai-chat")]
    OpenAiChat,
    /// OpenAI's Responses API.
    #[value(name = "openai-responses")]
    OpenAiResponses,
}

impl From<ProviderArgument> for Api {
    fn from(argument: ProviderArgument) -> Self {
        match argument {
            ProviderArgument::Anthropic => Self::Anthropic,
            ProviderArgument::Google => Self::Google,
            ProviderArgument::OpenAiChat => Self::OpenAiChat,
            ProviderArgument::OpenAiResponses => Self::OpenAiResponses,
        }
    }
}

impl ProviderReplyArguments {
    /// Reads a file of recordings, or the reply of a provider.
    ///
    /// # Errors
    /// The file cannot be read, or has problems, each with its line and column.
    pub(crate) fn read(&self, path: &Path) -> anyhow::Result<AnyFile> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| anyhow!("{name}: {error}"))?;
        read_any(BufReader::new(file), self.provider.map(Into::into)).map_err(|error| anyhow!(error.in_file(&name)))
    }

    /// Lets the agent of this config answer with the reply of a provider. `version` is the config's hash.
    ///
    /// # Errors
    /// The config has no such agent, or the agent cannot answer with it.
    pub(crate) async fn record(
        &self,
        reply: &ProviderReply,
        config: &ReplayedConfig,
        version: &str,
    ) -> anyhow::Result<Recording> {
        let agent_id = match (&self.agent, config.agent_ids()) {
            (Some(id), _) => id,
            (None, [only]) => only,
            (None, ids) => bail!("the config has several agents; `--agent` names one of them: {}", ids.join(", ")),
        };
        let scope =
            RecordedScope { user_id: auth::LOCAL_OWNER.to_owned(), is_authenticated: true, ..RecordedScope::default() };
        let mut header = header(reply, agent_id, version);
        header.input.page_id = config.page_for(agent_id, &scope);
        let agent = config.agent(&header, scope.clone()).await?;
        let stop = CancellationToken::new();
        Ok(record_reply(&agent, reply, (header, scope), &self.message, stop).await?)
    }
}
