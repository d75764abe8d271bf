//! Compares the simulation with what queueing theory knows.

use super::*;
use crate::scale::parameters::Transaction;

const ALONE: Setup =
    Setup { servers: 1, hosts: Hosts::Separate { server_cores: 1, database_cores: 1 }, round_trip: 0.0, partitions: 1 };

/// Returns the mean time in a queue with several servers (Erlang C) and in service.
fn erlang(arrivals: f64, service: f64, cores: usize) -> f64 {
    let load = arrivals * service;
    let (mut term, mut sum) = (1.0, 0.0);
    for at in 0..cores {
        sum += term;
        term *= load / (at + 1) as f64;
    }
    let waiting = term / (1.0 - load / cores as f64);
    let share = waiting / (sum + waiting);
    service + share * service / (cores as f64 - load)
}

fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    let error = (measured / expected - 1.0).abs();
    assert!(error < tolerance, "{measured} is not {expected}: {:.1} % off", error * 1e2);
}

#[test]
fn random_arrivals_at_several_cores_wait_as_erlang_says() {
    let costs = Costs { server: 0.010, ..Costs::default() };
    for (cores, per_second) in [(1, 50.0), (2, 140.0), (4, 320.0)] {
        let hosts = Hosts::Separate { server_cores: cores, database_cores: 1 };
        let prediction = predict(&costs, &Setup { hosts, ..ALONE }, Arrivals::Open { per_second }, 7);
        assert_near(prediction.per_second, per_second, 0.05);
        assert_near(prediction.mean, erlang(per_second, 0.010, cores), 0.10);
        assert_near(prediction.servers, per_second * 0.010 / cores as f64, 0.05);
    }
}

#[test]
fn many_users_use_all_cores() {
    let costs = Costs { server: 0.010, reads: 0.001, ..Costs::default() };
    let hosts = Hosts::Separate { server_cores: 2, database_cores: 1 };
    let setup = Setup { servers: 3, hosts, ..ALONE };
    let prediction = predict(&costs, &setup, Arrivals::Closed { users: 100 }, 7);
    assert_near(prediction.per_second, 600.0, 0.03);
    // By Little's law.
    assert_near(prediction.mean, 100.0 / 600.0, 0.05);
    assert!(prediction.p50 < prediction.p99);
}

/// A lock that is held for 2 ms admits 500 transactions per second, however many servers there are. A group holds what
/// waited during the last one: those who were answered wait for the group after it, so 64 users share two.
#[test]
fn the_lock_bounds_the_writes_of_all_servers() {
    let transaction = Transaction { disk: 0.002, ..Transaction::default() };
    let costs = Costs { writes: 1.0, transaction, ..Costs::default() };
    let rate = |servers, users| predict(&costs, &Setup { servers, ..ALONE }, Arrivals::Closed { users }, 7);
    assert_near(rate(1, 1).per_second, 500.0, 0.01);
    assert_near(rate(1, 64).per_second, 16_000.0, 0.02);
    assert_near(rate(2, 2).per_second, 500.0, 0.01);
    assert_near(rate(2, 2).lock, 1.0, 0.01);
}

#[test]
fn partitions_are_written_at_the_same_time() {
    let transaction = Transaction { disk: 0.002, ..Transaction::default() };
    let costs = Costs { writes: 1.0, transaction, ..Costs::default() };
    let setup = Setup { servers: 200, ..ALONE };
    let rate =
        |partitions| predict(&costs, &Setup { partitions, ..setup }, Arrivals::Closed { users: 200 }, 7).per_second;
    assert_near(rate(1), 500.0, 0.01);
    assert_near(rate(4), 2_000.0, 0.05);
}

#[test]
fn round_trips_are_part_of_the_transaction_time() {
    let transaction = Transaction { trips: 2.0, trips_per_write: 3.0, ..Transaction::default() };
    let costs = Costs { writes: 1.0, transaction, ..Costs::default() };
    let setup = Setup { round_trip: 0.001, ..ALONE };
    assert_near(predict(&costs, &setup, Arrivals::Closed { users: 1 }, 7).per_second, 200.0, 0.01);
}

#[test]
fn the_same_seed_gives_the_same_prediction() {
    let costs = Costs { server: 0.003, reads: 0.001, writes: 2.5, ..Costs::default() };
    let run = |seed| predict(&costs, &ALONE, Arrivals::Open { per_second: 200.0 }, seed);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
