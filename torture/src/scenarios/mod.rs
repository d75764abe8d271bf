//! All scenarios.

mod account_sweep;
mod attacks;
mod costly;
mod idle_streams;
mod kill;
mod load;
mod long;
mod overload;
mod postgres;
mod replicas;
mod second_server;
mod sign_ins;
mod slow;
mod soak;
mod sockets;
mod storage;
mod sweep;

use crate::scenario::Scenario;
use faults::Break;

/// In the order in which they run.
pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "kill-random", run: |given| Box::pin(kill::random(given)) },
    Scenario { name: "kill-sweep", run: |given| Box::pin(sweep::kills(given)) },
    Scenario { name: "account-sweep", run: |given| Box::pin(account_sweep::kills(given)) },
    Scenario { name: "panic-sweep", run: |given| Box::pin(sweep::panics(given)) },
    Scenario { name: "write-sweep", run: |given| Box::pin(storage::write_sweep(given)) },
    Scenario { name: "lost-answer", run: |given| Box::pin(attacks::lost_answer(given)) },
    Scenario { name: "slow-reader", run: |given| Box::pin(slow::reader(given)) },
    Scenario { name: "strangers", run: |given| Box::pin(attacks::strangers(given)) },
    Scenario { name: "drip", run: |given| Box::pin(attacks::drip(given)) },
    Scenario { name: "redirect", run: |given| Box::pin(attacks::redirect(given)) },
    Scenario { name: "sibling-path", run: |given| Box::pin(attacks::sibling_path(given)) },
    Scenario { name: "changed-tool", run: |given| Box::pin(attacks::changed_tool(given)) },
    Scenario { name: "costly-schemas", run: |given| Box::pin(costly::schemas(given)) },
    Scenario { name: "synced", run: |given| Box::pin(storage::synced(given)) },
    Scenario { name: "disk-full", run: |given| Box::pin(storage::full(given)) },
    Scenario { name: "read-only", run: |given| Box::pin(storage::read_only(given)) },
    Scenario { name: "locked", run: |given| Box::pin(storage::locked(given)) },
    Scenario { name: "corrupt", run: |given| Box::pin(storage::corrupt(given)) },
    Scenario { name: "second-server", run: |given| Box::pin(second_server::second_server(given)) },
    Scenario { name: "long-reader", run: |given| Box::pin(storage::long_reader(given)) },
    Scenario { name: "postgres-cut", run: |given| Box::pin(postgres::cut(given)) },
    Scenario { name: "slow-heads", run: |given| Box::pin(sockets::slow_heads(given)) },
    Scenario { name: "few-files", run: |given| Box::pin(sockets::few_files(given)) },
    Scenario { name: "idle", run: |given| Box::pin(sockets::idle(given)) },
    Scenario { name: "load-100", run: |given| Box::pin(load::hundred(given)) },
    Scenario { name: "load-500", run: |given| Box::pin(load::five_hundred(given)) },
    Scenario { name: "load-1000", run: |given| Box::pin(load::thousand(given)) },
    Scenario { name: "reconnect-storm", run: |given| Box::pin(load::storm(given)) },
    Scenario { name: "idle-streams", run: |given| Box::pin(idle_streams::idle_streams(given)) },
    Scenario { name: "overload", run: |given| Box::pin(overload::overload(given)) },
    Scenario { name: "long-conversation", run: |given| Box::pin(long::long_conversation(given)) },
    Scenario { name: "sign-ins", run: |given| Box::pin(sign_ins::sign_ins(given)) },
    Scenario { name: "replicas", run: |given| Box::pin(replicas::replicas(given)) },
    Scenario { name: "soak", run: |given| Box::pin(soak::soak(given)) },
];

/// Each defect, and the scenario that must find it.
pub(crate) const BROKEN: &[(Break, &str)] = &[
    (Break::EmitBeforePersist, "kill-sweep"),
    (Break::OwnerClause, "strangers"),
    (Break::LaggedWatcher, "slow-reader"),
    (Break::BlindRetry, "lost-answer"),
    (Break::SynchronousOff, "synced"),
    (Break::PathPrefix, "sibling-path"),
    (Break::Redirects, "redirect"),
    (Break::ApprovalWithoutHash, "changed-tool"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_has_a_scenario_that_must_find_it() {
        let found: Vec<_> =
            Break::ALL.iter().filter(|defect| BROKEN.iter().any(|(known, _)| known == *defect)).collect();
        assert_eq!(found.len(), Break::ALL.len());
        for (_, name) in BROKEN {
            assert!(ALL.iter().any(|scenario| scenario.name == *name), "{name}");
        }
    }
}
