//! The limits of the server.

use super::*;
use insta::assert_debug_snapshot;

#[test]
fn limits_have_defaults() {
    let (config, _) = load("limits: { turnMs: 1000, parallelTools: 2 }\n");
    assert_debug_snapshot!(config.limits, @"
    Limits {
        header_read: 10s,
        body_read: 30s,
        body_bytes: 1048576,
        text_bytes: 262144,
        file_bytes: 20971520,
        user_file_bytes: 524288000,
        connections: 8000,
        connections_per_address: 200,
        write: 30s,
        heartbeat: 15s,
        drain: 25s,
        runs: 2000,
        runs_per_user: None,
        memory_bytes: None,
        turn: 1s,
        first_byte: 60s,
        idle: 60s,
        tool: 60s,
        parallel_tools: 2,
        parallel_agents: 3,
        invocation_tiers: InvocationTiers {
            simple: 30s,
            complex: 300s,
            batch: 1800s,
            simple_bytes: 536870912,
            complex_bytes: 2147483648,
            batch_bytes: 4294967296,
        },
    }
    ");
}
