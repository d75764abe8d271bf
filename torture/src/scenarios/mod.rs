//! The list of all scenarios.

mod account_sweep;
mod attacks;
mod context_sweep;
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
mod swept;
mod workflows;

use crate::scenario::Scenario;

/// All scenarios in the order in which they run.
pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "kill-random", run: |options| Box::pin(kill::kill_at_random(options)) },
    Scenario { name: "kill-sweep", run: |options| Box::pin(sweep::kill_at_every_point(options)) },
    Scenario { name: "account-sweep", run: |options| Box::pin(account_sweep::kill_at_every_commit(options)) },
    Scenario { name: "context-sweep", run: |options| Box::pin(context_sweep::kill_at_every_commit(options)) },
    Scenario { name: "panic-sweep", run: |options| Box::pin(sweep::panic_at_every_point(options)) },
    Scenario { name: "write-sweep", run: |options| Box::pin(storage::write_sweep(options)) },
    Scenario { name: "lost-answer", run: |options| Box::pin(attacks::lost_answer(options)) },
    Scenario { name: "slow-reader", run: |options| Box::pin(slow::slow_reader(options)) },
    Scenario { name: "strangers", run: |options| Box::pin(attacks::strangers(options)) },
    Scenario { name: "drip", run: |options| Box::pin(attacks::drip(options)) },
    Scenario { name: "redirect", run: |options| Box::pin(attacks::redirect(options)) },
    Scenario { name: "sibling-path", run: |options| Box::pin(attacks::sibling_path(options)) },
    Scenario { name: "changed-tool", run: |options| Box::pin(attacks::changed_tool(options)) },
    Scenario { name: "costly-schemas", run: |options| Box::pin(costly::costly_schemas(options)) },
    Scenario { name: "synced", run: |options| Box::pin(storage::synced(options)) },
    Scenario { name: "disk-full", run: |options| Box::pin(storage::disk_full(options)) },
    Scenario { name: "read-only", run: |options| Box::pin(storage::read_only(options)) },
    Scenario { name: "locked", run: |options| Box::pin(storage::locked(options)) },
    Scenario { name: "corrupt", run: |options| Box::pin(storage::corrupt(options)) },
    Scenario { name: "second-server", run: |options| Box::pin(second_server::second_server(options)) },
    Scenario { name: "long-reader", run: |options| Box::pin(storage::long_reader(options)) },
    Scenario { name: "postgres-cut", run: |options| Box::pin(postgres::cut_connections(options)) },
    Scenario { name: "slow-heads", run: |options| Box::pin(sockets::slow_heads(options)) },
    Scenario { name: "few-files", run: |options| Box::pin(sockets::few_files(options)) },
    Scenario { name: "idle", run: |options| Box::pin(sockets::idle(options)) },
    Scenario { name: "load-100", run: |options| Box::pin(load::hundred(options)) },
    Scenario { name: "load-500", run: |options| Box::pin(load::five_hundred(options)) },
    Scenario { name: "load-1000", run: |options| Box::pin(load::thousand(options)) },
    Scenario { name: "reconnect-storm", run: |options| Box::pin(load::reconnect_storm(options)) },
    Scenario { name: "idle-streams", run: |options| Box::pin(idle_streams::idle_streams(options)) },
    Scenario { name: "overload", run: |options| Box::pin(overload::overload(options)) },
    Scenario { name: "long-conversation", run: |options| Box::pin(long::long_conversation(options)) },
    Scenario { name: "sign-ins", run: |options| Box::pin(sign_ins::sign_ins(options)) },
    Scenario { name: "replicas", run: |options| Box::pin(replicas::replicas(options)) },
    Scenario { name: "workflows", run: |options| Box::pin(workflows::kill_sqlite(options)) },
    Scenario { name: "workflow-sweep", run: |options| Box::pin(workflows::kill_at_every_commit(options)) },
    Scenario { name: "workflow-replicas", run: |options| Box::pin(workflows::replicas(options)) },
    Scenario { name: "soak", run: |options| Box::pin(soak::soak(options)) },
];
