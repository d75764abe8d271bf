//! Finds the costs of a turn for the simulation in what was measured with one server: with one user, where nothing waits
//! for anything else, and with many.

use crate::scale::fleet::Usage;
use crate::scale::parameters::{Costs, Transaction};

/// The round trips of a transaction itself: one begins it and takes the lock, one commits.
const TRIPS: f64 = 2.0;

/// The measurements with one server.
pub(crate) struct Measured<'m> {
    pub(crate) one_user: &'m Usage,
    pub(crate) many_users: &'m Usage,
    /// The seconds that the disk takes to store a page.
    pub(crate) disk: f64,
    /// Round trips of the writing connection, a turn.
    pub(crate) trips: f64,
}

/// Returns the costs of a turn.
pub(crate) fn costs(Measured { one_user, many_users, disk, trips }: &Measured<'_>) -> Costs {
    // The costs of a transaction and of a write in it: many users share transactions, one user does not.
    let of_writers = |usage: &Usage| usage.each(usage.database.writers);
    let (alone, shared) = (one_user.each(one_user.groups), many_users.each(many_users.groups));
    let writes = many_users.each(many_users.writes);
    let saved =
        if alone - shared > 0.05 { (of_writers(one_user) - of_writers(many_users)) / (alone - shared) } else { 0.0 };
    let database = saved.clamp(0.0, of_writers(many_users) / shared);
    let database_per_write = (shared.mul_add(-database, of_writers(many_users)) / writes).max(0.0);
    // The time of a transaction of one user, without the disk and the database, is the work of the server in it.
    let size = one_user.each(one_user.writes) / alone;
    let taken = one_user.writing / one_user.groups;
    let server = many_users.each(many_users.servers);
    let in_transaction = (taken - disk - database - database_per_write * size) / size;
    let server_per_write = in_transaction.clamp(0.0, server / 2.0 / writes);
    Costs {
        client: many_users.each(many_users.client),
        server: server - server_per_write * writes,
        reads: many_users.each(many_users.database.others),
        writes,
        transaction: Transaction {
            database,
            database_per_write,
            server_per_write,
            disk: *disk,
            trips: TRIPS,
            trips_per_write: ((trips - TRIPS * shared) / writes).max(0.0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::database::DatabaseCpu;
    use crate::scale::loads::Done;

    fn usage(count: usize, groups: f64, writers: f64, writing: f64) -> Usage {
        let turns = count as f64;
        Usage {
            done: Done { count, seconds: 10.0, ..Done::default() },
            servers: turns * 0.020,
            client: turns * 0.004,
            database: DatabaseCpu { writers, others: turns * 0.003 },
            groups,
            writes: turns * 5.0,
            writing,
            seconds: 10.0,
            ..Usage::default()
        }
    }

    /// A transaction costs 0.4 ms and a write 0.6 ms of the database; 1 ms of the server belongs to a write, and the disk
    /// takes 2 ms.
    #[test]
    fn costs_that_were_put_in_are_found() {
        // Five writes in five transactions, and in one.
        let (turn, shared) = (0.005, 0.0034);
        let transaction = 0.0004 + 0.0006 + 0.001 + 0.002;
        let one_user = usage(100, 500.0, 100.0 * turn, 500.0 * transaction);
        let many_users = usage(1_000, 1_000.0, 1_000.0 * shared, 9.0);
        let measured = Measured { one_user: &one_user, many_users: &many_users, disk: 0.002, trips: 17.0 };
        let costs = costs(&measured);
        let assert_near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        assert_near(costs.transaction.database, 0.0004);
        assert_near(costs.transaction.database_per_write, 0.0006);
        assert_near(costs.transaction.server_per_write, 0.001);
        assert_near(costs.transaction.trips_per_write, 3.0);
        assert_near(costs.server, 0.015);
        assert_near(costs.reads, 0.003);
        assert_near(costs.client, 0.004);
        assert_near(costs.writes, 5.0);
    }
}
