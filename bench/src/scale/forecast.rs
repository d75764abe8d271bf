//! The figures of the simulation: compared with the measurement of several servers, and for machines that were not
//! measured.

use crate::results::{Table, figure};
use crate::scale::fleet::Usage;
use crate::scale::loads::percentile;
use crate::scale::parameters::{Arrivals, Costs, Hosts, Prediction, Setup};
use crate::scale::simulation::predict;

const SEED: u64 = 20_261_130;
/// Users who ask all the time: more than any of the simulated sites serves at once.
const MANY: usize = 1_000;
/// The share of the highest rate at which a site is run.
const SHARE: f64 = 0.7;

/// The bound of a round trip on one machine, in seconds, and how often the interval is halved.
const LONGEST_TRIP: f64 = 0.02;
const HALVINGS: usize = 14;

/// Machines of one site.
struct Site {
    name: &'static str,
    server_cores: usize,
    database_cores: usize,
    round_trip: f64,
    disk: f64,
    partitions: usize,
    /// Round trips of a write; none for those of today.
    trips_per_write: Option<f64>,
}

/// A server in the same rack, with a disk that keeps what it has accepted.
const TODAY: Site = Site {
    name: "as it is",
    server_cores: 4,
    database_cores: 8,
    round_trip: 0.000_3,
    disk: 0.001,
    partitions: 1,
    trips_per_write: None,
};

/// The compared sites, each with the numbers of servers.
const SITES: [Site; 5] = [
    TODAY,
    Site { name: "database further away (1 ms)", round_trip: 0.001, ..TODAY },
    Site { name: "a write is one round trip", trips_per_write: Some(1.0), ..TODAY },
    Site { name: "8 partitions", partitions: 8, ..TODAY },
    Site {
        name: "both, database with 32 cores",
        partitions: 8,
        trips_per_write: Some(1.0),
        database_cores: 32,
        ..TODAY
    },
];
const SERVERS: [usize; 4] = [1, 3, 10, 30];

/// The machine of the measurement.
pub(crate) struct Here {
    cores: usize,
    users: usize,
    /// The time of a round trip between a server and the database on it, beside the work of both: until each notices
    /// that the other has answered. With it, the simulation has the throughput that was measured with one server.
    round_trip: f64,
}

impl Here {
    /// Finds the round trip by halving. It is 0 if even then the simulation is not faster than the measurement.
    pub(crate) fn fit(costs: &Costs, cores: usize, users: usize, one_server: &Usage) -> Self {
        let (mut low, mut high) = (0.0, LONGEST_TRIP);
        for _ in 0..HALVINGS {
            let here = Self { cores, users, round_trip: f64::midpoint(low, high) };
            if here.predict(costs, 1).per_second > one_server.done.per_second() {
                low = here.round_trip;
            } else {
                high = here.round_trip;
            }
        }
        Self { cores, users, round_trip: low }
    }

    fn predict(&self, costs: &Costs, servers: usize) -> Prediction {
        let hosts = Hosts::Shared { cores: self.cores };
        let setup = Setup { servers, hosts, round_trip: self.round_trip, partitions: 1 };
        predict(costs, &setup, Arrivals::Closed { users: self.users }, SEED)
    }

    /// Compares the prediction for a number of servers with the measurement.
    pub(crate) fn check(&self, costs: &Costs, servers: usize, usage: &Usage) -> Table {
        let predicted = self.predict(costs, servers);
        let title = format!("{servers} servers on this machine, {} users", self.users);
        let mut table = Table::new(&title, &["simulated", "measured", "difference"]);
        let mut add = |name: &str, simulated: f64, measured: f64, unit: &str| {
            let difference = figure((simulated / measured - 1.0) * 1e2, "%");
            table.add(name, [figure(simulated, unit), figure(measured, unit), difference]);
        };
        let ends = &usage.done.ends;
        add("turns per second", predicted.per_second, usage.done.per_second(), "");
        add("whole turn, p50", predicted.p50 * 1e3, percentile(ends, 50), "ms");
        add("whole turn, p99", predicted.p99 * 1e3, percentile(ends, 99), "ms");
        table
    }
}

/// Returns the parameters of the simulation as a table.
pub(crate) fn costs_table(costs: &Costs, here: &Here) -> Table {
    let mut table = Table::new("A turn in the simulation", &["cost"]);
    let transaction = &costs.transaction;
    for (name, seconds) in [
        ("CPU of the server, outside of transactions", costs.server),
        ("CPU of the server, for each write", transaction.server_per_write),
        ("CPU of the database, outside of transactions that write", costs.reads),
        ("CPU of the database, for each transaction", transaction.database),
        ("CPU of the database, for each write", transaction.database_per_write),
        ("the disk, for each transaction", transaction.disk),
        ("CPU of client and provider", costs.client),
    ] {
        table.add(name, [figure(seconds * 1e3, "ms")]);
    }
    table.add("a round trip on this machine, fitted", [figure(here.round_trip * 1e3, "ms")]);
    table.add("writes", [figure(costs.writes, "")]);
    table.add("round trips of a transaction", [figure(transaction.trips, "")]);
    table.add("round trips of each write in it", [figure(transaction.trips_per_write, "")]);
    table
}

/// Predicts what servers on machines of their own carry.
pub(crate) fn forecast(costs: &Costs) -> Table {
    let columns = [
        "most turns per second",
        "cores of servers in use",
        "cores of the database in use",
        "lock in use",
        "p99 of a turn at 70 % of it",
    ];
    let mut table = Table::new("Servers of 4 cores, a database of 8", &columns);
    for site in &SITES {
        for servers in SERVERS {
            let (costs, setup) = site.of(costs, servers);
            let most = predict(&costs, &setup, Arrivals::Closed { users: MANY }, SEED);
            let usual = predict(&costs, &setup, Arrivals::Open { per_second: most.per_second * SHARE }, SEED);
            let percent = |share: f64| figure(share * 1e2, "%");
            table.add(
                &format!("{servers}, {}", site.name),
                [
                    figure(most.per_second, ""),
                    percent(most.servers),
                    percent(most.database),
                    percent(most.lock),
                    figure(usual.p99 * 1e3, "ms"),
                ],
            );
        }
    }
    table
}

impl Site {
    fn of(&self, costs: &Costs, servers: usize) -> (Costs, Setup) {
        let mut costs = *costs;
        costs.transaction.disk = self.disk;
        costs.transaction.trips_per_write = self.trips_per_write.unwrap_or(costs.transaction.trips_per_write);
        let hosts = Hosts::Separate { server_cores: self.server_cores, database_cores: self.database_cores };
        (costs, Setup { servers, hosts, round_trip: self.round_trip, partitions: self.partitions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::loads::Done;
    use crate::scale::parameters::Transaction;

    /// A measurement that the simulation itself has made is found again.
    #[test]
    fn the_round_trip_of_one_server_is_fitted_and_several_are_checked_with_it() {
        let transaction = Transaction { database: 0.001, trips: 2.0, trips_per_write: 8.0, ..Transaction::default() };
        let costs = Costs { server: 0.010, reads: 0.001, client: 0.002, writes: 2.0, transaction };
        let real = Here { cores: 2, users: 8, round_trip: 0.000_8 };
        let usage = |servers| {
            let predicted = real.predict(&costs, servers);
            let ends = vec![predicted.p50 * 1e3; 100];
            let done = Done { count: (predicted.per_second * 1e4) as usize, seconds: 1e4, ends, ..Done::default() };
            Usage { done, ..Usage::default() }
        };
        let here = Here::fit(&costs, 2, 8, &usage(1));
        assert!((here.round_trip / real.round_trip - 1.0).abs() < 0.02, "{}", here.round_trip);
        let table = here.check(&costs, 3, &usage(3));
        let difference = table.rows[0].cells[2].as_ref().unwrap();
        assert!(difference.value.abs() < 2.0 && difference.unit == "%", "{difference:?}");
    }
}
