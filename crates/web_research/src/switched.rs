//! The tools of an agent whose user switches the web on and off.

use contract::{RunScope, SourceTools, Tool, ToolError, ToolSource};
use futures::future::BoxFuture;
use settings::UserSwitch;
use std::sync::Arc;

/// Offers the tools while the switch is on.
pub(crate) struct SwitchedTools {
    pub(crate) switch: UserSwitch,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
}

impl ToolSource for SwitchedTools {
    fn name(&self) -> &str {
        "web"
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let tools = if self.switch.is_on(scope.web) { self.tools.clone() } else { Vec::new() };
        Box::pin(std::future::ready(Ok(SourceTools { tools, ..SourceTools::default() })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{ToolContext, ToolSpec};
    use serde_json::Value;

    struct Search(ToolSpec);

    impl Tool for Search {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
            Box::pin(std::future::ready(Ok(Value::Null)))
        }
    }

    #[tokio::test]
    async fn tools_are_offered_while_the_switch_is_on() {
        let check = async |switch: UserSwitch, web: Option<bool>, expected: usize| {
            let tool: Arc<dyn Tool> = Arc::new(Search(ToolSpec::new("web_search", "Searches", Value::Null)));
            let source = SwitchedTools { switch, tools: vec![tool] };
            let scope = RunScope { web, ..RunScope::default() };
            assert_eq!(source.tools(&scope).await.unwrap().tools.len(), expected, "{switch:?} {web:?}");
        };
        check(UserSwitch::OptIn, None, 0).await;
        check(UserSwitch::OptIn, Some(true), 1).await;
        check(UserSwitch::OptIn, Some(false), 0).await;
        check(UserSwitch::OptOut, None, 1).await;
        check(UserSwitch::OptOut, Some(true), 1).await;
        check(UserSwitch::OptOut, Some(false), 0).await;
    }
}
