//! The content of requests to the model.

use crate::Agent;
use crate::deferral::{self, Deferral};
use crate::model::prepare_step;
use crate::run::Run;
use contract::{Request, ToolChoice, ToolSpec};

impl Run<'_> {
    /// Returns the tool that the next reply must call by the execution mode and the tool strategy, or
    /// none; `None` if they leave the choice to the other settings.
    fn strategic_choice(&self) -> Option<ToolChoice> {
        let settings = &self.agent.settings;
        if settings.execution_mode.is_for_the_answer(self.total_steps()) {
            return Some(ToolChoice::None);
        }
        let turn = self.messages.get(self.turn_start.min(self.messages.len())..).unwrap_or_default();
        match settings.tool_strategy.next_choice(turn)? {
            ToolChoice::Tool(name) if !self.offer.has(&name) => {
                tracing::warn!(agent = self.agent.id, tool = name, "the pipeline ends: the agent has no such tool");
                Some(ToolChoice::None)
            }
            choice => Some(choice),
        }
    }

    /// Builds the next request.
    pub(crate) fn build_request(&mut self) -> Request {
        let settings = &self.agent.settings;
        let rule = prepare_step::rule(&settings.prepare_step, self.total_steps() + 1);
        let strategy = self.strategic_choice();
        // The reply may call the tools that are offered, and no others.
        match &strategy {
            Some(ToolChoice::Tool(name)) => self.offer.restrict_to(Some(std::slice::from_ref(name))),
            Some(_) => self.offer.restrict_to(Some(&[])),
            None => {
                let by_rule = rule.and_then(|rule| rule.active_tools.as_deref());
                self.offer.restrict_to(by_rule.or(settings.active_tools.as_deref()));
            }
        }
        let tools = self.agent.tools.iter().map(|tool| tool.spec());
        let tools = tools.chain(self.agent.agents.iter().map(|below| &below.spec));
        // For an answer without calls the tools are listed as before: some providers refuse a history
        // with calls of tools that the request does not have.
        let lists_all = strategy == Some(ToolChoice::None);
        let active = |spec: &&ToolSpec| lists_all || self.offer.offers(&spec.name);
        let is_listed = |spec: &&ToolSpec| !self.offer.is_refused(&spec.name) && !self.offer.is_deferred(&spec.name);
        let mut messages = self.context.projection.apply(&self.messages, settings.result_limit());
        if self.deferral.is_some() {
            messages = deferral::as_written(messages);
        }
        let declared = |spec: &ToolSpec| {
            if self.provider_search { deferral::for_provider(settings, spec.clone()) } else { spec.clone() }
        };
        let mut sampling = settings.sampling.clone();
        if let Some(rule) = rule {
            sampling.max_output_tokens = rule.max_output_tokens.or(sampling.max_output_tokens);
            sampling.temperature = rule.temperature.or(sampling.temperature);
        }
        Request {
            system: system(&self.agent, self.deferral.as_deref()),
            messages,
            tools: tools.filter(active).filter(is_listed).chain(&self.closed_tools).map(declared).collect(),
            provider_search: self.provider_search,
            tool_choice: self.possible_choice(strategy.unwrap_or_else(|| {
                rule.and_then(|rule| rule.tool_choice.as_ref()).unwrap_or(&settings.tool_choice).clone()
            })),
            sampling,
            response_format: settings.response_format.clone(),
            provider_options: settings.provider_options.clone(),
        }
    }
}

/// Returns the system prompt.
fn system(agent: &Agent, deferral: Option<&Deferral>) -> Option<String> {
    /// The keyword with which models such as Qwen3 skip their reasoning.
    const NO_THINK: &str = "/no_think";
    let before = agent.settings.no_think.unwrap_or_default().then_some(NO_THINK);
    let has_tools = !agent.tools.is_empty() || !agent.agents.is_empty();
    let after = agent.settings.tool_strategy.instruction().filter(|_| has_tools);
    let texts = [before, agent.instructions.as_deref(), deferral.map(Deferral::instructions), after];
    texts.into_iter().flatten().map(str::to_owned).reduce(|all, text| format!("{all}\n\n{text}"))
}
