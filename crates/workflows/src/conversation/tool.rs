//! The tools with which an agent starts workflows.

use crate::service::{self, Runs, StartRequest, may_start};
use crate::store::{self, ConversationLink, RunCaller};
use chat::Caller;
use config::Config;
use contract::{
    ApprovalTerms, Exposure, OmittedTool, RunScope, SourceTools, Tool, ToolContext, ToolError, ToolSource, ToolSpec,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::workflow::ConversationRun;
use wire::{ErrorCode, UserError};
use workflow_definition::{AgentWorkflows, WhenDone, WorkflowEntry, WorkflowTool};
use workflow_definition::{Workflow, Workflows};

/// The end of the description of each tool.
const IN_THE_BACKGROUND: &str = "This starts a workflow that goes on in the background, maybe for days. The call \
    returns at once with the id of its run; the result comes into this conversation when the run has ended. Do not \
    wait for it, and do not start it twice for the same purpose.";

/// The result of the call that starts a run.
const STARTED: &str = "It goes on in the background. Its result comes into this conversation when it has ended; the \
    user sees how far it is.";

/// The result of the call that starts a run without a conversation.
const STARTED_ALONE: &str = "It goes on in the background. Its result can be read with its id.";

/// The workflows that an agent may start, as far as its user may.
struct StartTools {
    tools: Vec<(Workflow, Arc<dyn Tool>)>,
    left_out: Vec<OmittedTool>,
}

/// Returns the source of an agent's tools for workflows.
pub(crate) fn source(config: &Config, entries: &AgentWorkflows, runs: &Runs) -> Arc<dyn ToolSource> {
    let none = Workflows::default();
    let all = config.section::<Workflows>().unwrap_or(&none);
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    for settings in entries.0.iter().map(WorkflowEntry::tool) {
        match all.get(&settings.id.0) {
            Some(workflow) => {
                let tool: Arc<dyn Tool> = Arc::new(StartTool::new(workflow, all, &settings, runs));
                tools.push((workflow.clone(), tool));
            }
            None => left_out.push(OmittedTool {
                name: settings.name().to_owned(),
                reason: format!("no stored workflow `{}` is in use", settings.id.0),
            }),
        }
    }
    Arc::new(StartTools { tools, left_out })
}

impl ToolSource for StartTools {
    fn name(&self) -> &str {
        "workflows"
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let caller = Caller::from(scope);
        let allowed = self.tools.iter().filter(|(workflow, _)| may_start(workflow, &caller));
        let tools = allowed.map(|(_, tool)| tool.clone()).collect();
        let offered = SourceTools { tools, left_out: self.left_out.clone(), ..SourceTools::default() };
        std::future::ready(Ok(offered)).boxed()
    }
}

/// Starts a workflow.
struct StartTool {
    spec: ToolSpec,
    workflow: Workflow,
    goes_on: bool,
    runs: Runs,
}

impl StartTool {
    fn new(workflow: &Workflow, all: &Workflows, settings: &WorkflowTool, runs: &Runs) -> Self {
        let about = workflow.description.as_deref().unwrap_or_default();
        let description = format!("{}: {about}\n{IN_THE_BACKGROUND}", workflow.title());
        let schema = workflow.input.clone().map_or_else(|| json!({ "type": "object" }), Value::Object);
        let confirm = settings.confirm();
        let spec = ToolSpec {
            needs_approval: confirm.is_some(),
            approval: ApprovalTerms::new(confirm, None),
            annotations: settings.annotations(workflow, all),
            ..ToolSpec::new(settings.name(), description, schema)
        };
        let goes_on = settings.when_done == WhenDone::Continue;
        Self { spec, workflow: workflow.clone(), goes_on, runs: runs.clone() }
    }

    async fn start(&self, input: Value, context: &ToolContext) -> Result<Value, UserError> {
        let caller = Caller::from(&*context.scope);
        if !may_start(&self.workflow, &caller) {
            return Err(UserError::not_found());
        }
        let Value::Object(input) = input else {
            return Err(UserError::invalid("/", "The input of a workflow is a JSON object."));
        };
        let call_key = context.idempotency_key();
        if let Some(key) = &call_key {
            let known = store::run_of_call(&self.runs.store, &caller.user_id, key).await;
            if let Some(run_id) = known.map_err(web::admin::from_store_error)? {
                return Ok(self.started(&run_id, context).await);
            }
        }
        let conversation_id = Some(context.scope.conversation_id.clone()).filter(|id| !id.is_empty());
        let annotations = self.spec.annotations;
        let link = ConversationLink {
            run_id: String::new(),
            owner: caller.user_id.clone(),
            conversation_id,
            call_key,
            caller: RunCaller::from(&caller),
            goes_on: self.goes_on,
            exposure: Exposure {
                private: annotations.reads_private.then(|| self.spec.name.clone()),
                untrusted: annotations.returns_untrusted.then(|| self.spec.name.clone()),
            },
            is_delivered: false,
        };
        let causes = causes(&context.scope);
        let request = StartRequest { input, ..StartRequest::default() };
        let run =
            service::start_linked(&self.runs, &caller, self.workflow.clone(), request, (Some(link), causes)).await?;
        Ok(self.started(&run.id, context).await)
    }

    /// Returns what the model reads, and shows the run in the conversation.
    async fn started(&self, run_id: &str, context: &ToolContext) -> Value {
        let is_alone = context.scope.conversation_id.is_empty();
        if !is_alone {
            let run = ConversationRun { run_id: run_id.to_owned(), workflow: self.workflow.title().to_owned() };
            let data = serde_json::to_value(run).unwrap_or_default();
            context.reports.add_data("workflow-run", Some(run_id.to_owned()), data).await;
        }
        let note = if is_alone { STARTED_ALONE } else { STARTED };
        json!({ "runId": run_id, "workflow": self.workflow.title(), "state": "running", "note": note })
    }
}

impl Tool for StartTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move { self.start(input, &context).await.map_err(told) }.boxed()
    }
}

/// The workflows that led to the call, each once, so that the list stays short if runs start each other with tools.
fn causes(scope: &RunScope) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    for workflow_id in &scope.causes {
        if !causes.contains(workflow_id) {
            causes.push(workflow_id.clone());
        }
    }
    causes
}

/// Returns the error that the model reads when a run cannot start.
fn told(error: UserError) -> ToolError {
    match (error.code, error.path) {
        (ErrorCode::NotFound, _) => ToolError::new("The user may not start this workflow."),
        (_, Some(path)) => ToolError::new(format!("{path}: {}", error.message)),
        (_, None) => ToolError::new(error.message),
    }
}
