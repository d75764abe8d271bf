//! Gives the facts about users to other capabilities, which show them.

use crate::page;
use crate::service::Memory;
use capability::{RememberFacts, RememberedFact, RememberedFacts};
use futures::FutureExt;
use futures::future::BoxFuture;
use wire::UserError;

impl RememberFacts for Memory {
    fn known<'a>(
        &'a self,
        user_id: &'a str,
        agent_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RememberedFacts>, UserError>> {
        async move {
            let Some(options) = self.agent(agent_id).filter(|_| self.settings().enabled) else { return Ok(None) };
            let (switches, facts) = self.load_facts(user_id).await?;
            let facts_agent = options.facts_agent(agent_id);
            let facts = facts.into_iter().filter(|fact| fact.agent_id == facts_agent);
            let facts = facts.map(|fact| RememberedFact { id: fact.id, content: fact.content }).collect();
            Ok(Some(RememberedFacts { is_on: switches.is_on(), facts, page: page::PATH }))
        }
        .boxed()
    }

    fn forget<'a>(&'a self, user_id: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), UserError>> {
        self.delete(user_id, id).boxed()
    }

    fn set_enabled<'a>(&'a self, user_id: &'a str, is_enabled: bool) -> BoxFuture<'a, Result<(), UserError>> {
        async move { Self::set_enabled(self, user_id, is_enabled).await }.boxed()
    }
}
