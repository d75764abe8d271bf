//! The parameters and the results of the simulation.

/// The cost of a turn, in seconds and numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Costs {
    /// Processor time of the client and of the scripted provider.
    pub(crate) client: f64,
    /// Processor time of the server outside of transactions that write.
    pub(crate) server: f64,
    /// Processor time of the database outside of these.
    pub(crate) reads: f64,
    /// Writes, one after the other.
    pub(crate) writes: f64,
    pub(crate) transaction: Transaction,
}

/// The cost of a transaction of the writer while it has the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Transaction {
    /// Processor time of the database, and how much more for each write.
    pub(crate) database: f64,
    pub(crate) database_per_write: f64,
    /// Processor time of the server for each write.
    pub(crate) server_per_write: f64,
    /// The wait for the disk.
    pub(crate) disk: f64,
    /// Round trips to the database, and how many more for each write.
    pub(crate) trips: f64,
    pub(crate) trips_per_write: f64,
}

/// The simulated servers and their load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setup {
    pub(crate) servers: usize,
    pub(crate) hosts: Hosts,
    /// The time of a round trip to the database.
    pub(crate) round_trip: f64,
    /// The number of locks, of which each owner has one; one in the product.
    pub(crate) partitions: usize,
}

/// Where the parts run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hosts {
    /// All of them, and the client, on one machine.
    Shared { cores: usize },
    /// Each server and the database on a machine of its own. The client costs nothing.
    Separate { server_cores: usize, database_cores: usize },
}

/// How turns begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrivals {
    /// A number of users, each of whom asks again at once.
    Closed { users: usize },
    /// At random times.
    Open { per_second: f64 },
}

/// The predictions of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) per_second: f64,
    /// How long turns take, in seconds.
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// How much of the time the processors of the servers and of the database, and the locks are used.
    pub(crate) servers: f64,
    pub(crate) database: f64,
    pub(crate) lock: f64,
}
