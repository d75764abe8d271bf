//! The values of alerts.

use crate::section::Condition;
use crate::store;
use ::store::UsageFilter;
use capability::Context;
use chat::{Caller, QuotaUsage, quota_span};
use config::AuthMode;
use jobs::Jobs;
use settings::QuotaPeriod;
use std::collections::BTreeSet;

/// A day in milliseconds.
const DAY_MS: i64 = 86_400_000;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measurement {
    /// The id of the user whom it is about; empty for values that are not about a user.
    pub(crate) owner: String,
    pub(crate) value: f64,
}

/// Measures the value of a condition: a single one, or one for each user. `firing` are the users
/// for whom the alert is firing.
pub(crate) async fn measure(
    context: &Context,
    jobs: &Jobs,
    condition: &Condition,
    firing: Vec<String>,
    now: i64,
) -> anyhow::Result<Vec<Measurement>> {
    #[expect(clippy::cast_precision_loss, reason = "numbers and times of jobs are far below 2^52")]
    let value = match condition {
        Condition::Cost { per, agent_id, .. } => {
            let agent_id = agent_id.as_ref().map(|id| id.0.clone());
            let filter = UsageFilter { agent_id, ..days(*per, now) };
            context.store.total_usage(&filter).await?.cost_usd
        }
        Condition::Failures { within_minutes, at_least, agent_id, .. } => {
            let after = now - i64::from(*within_minutes) * 60_000;
            let agent = agent_id.as_ref().map(|id| id.0.as_str());
            let (answers, failed) = store::ended_runs(&context.store, after, agent).await?;
            if answers < i64::from(*at_least) { 0.0 } else { failed as f64 / answers as f64 * 100.0 }
        }
        Condition::WaitingJobs { .. } => jobs.count_due().await? as f64,
        Condition::JobDelay { .. } => jobs.status().await?.oldest_due_ms.unwrap_or_default() as f64 / 60_000.0,
        Condition::FailedWorkflowRuns { within_minutes, workflow_id, .. } => {
            let after = now - i64::from(*within_minutes) * 60_000;
            let workflow = workflow_id.as_ref().map(|id| id.0.as_str());
            workflows::count_failed(&context.store, after, workflow).await? as f64
        }
        Condition::UndecidedWorkflowRuns { .. } => workflows::count_undecided(&context.store).await? as f64,
        Condition::PausedTriggers { .. } => triggers::count_paused(&context.store).await? as f64,
        Condition::Quota { .. } => return used_quotas(context, firing, now).await,
    };
    Ok(vec![Measurement { owner: String::new(), value }])
}

/// Returns the usage of the current period.
fn days(period: QuotaPeriod, now: i64) -> UsageFilter {
    UsageFilter::days(quota_span(period, now).0, now.div_euclid(DAY_MS))
}

/// Returns the used share of quotas, for the users with the highest usage of this month and for
/// those for whom the alert is firing, who may no longer be among the highest.
async fn used_quotas(context: &Context, firing: Vec<String>, now: i64) -> anyhow::Result<Vec<Measurement>> {
    let has_accounts = matches!(context.current.config().auth.mode, AuthMode::Accounts(_));
    let most = context.store.usage_by_user(&days(QuotaPeriod::Month, now)).await?;
    let owners: BTreeSet<_> = most.into_iter().map(|usage| usage.user_id).chain(firing).collect();
    let mut measured = Vec::new();
    for owner in owners {
        // In other modes the roles of users are known during their requests only: quotas of roles
        // are left out.
        let roles = if has_accounts {
            match context.store.user_by_id(&owner).await? {
                Some((user, _)) => user.roles,
                None => continue,
            }
        } else {
            Vec::new()
        };
        let caller = Caller::signed_in(owner.clone()).with_roles(roles);
        let quotas = context.chat.quota_usage(&caller).await.map_err(|error| anyhow::anyhow!(error.message))?;
        let value = quotas.iter().map(QuotaUsage::percent).fold(0.0, f64::max);
        measured.push(Measurement { owner, value });
    }
    Ok(measured)
}
