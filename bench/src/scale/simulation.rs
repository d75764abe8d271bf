//! A discrete-event simulation of turns over several servers and one database: a closed or an open queueing network
//! with processors, and with the writers' lock, which admits one transaction at a time over all servers.
//!
//! Processor times are exponentially distributed around their measured means and served in the order of arrival; waits
//! for the disk and the network are constant. A writer forms its group before it waits for the lock, as the store does.

use crate::scale::parameters::{Arrivals, Costs, Hosts, Prediction, Setup};
use fastrand::Rng;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// The maximum number of writes in a transaction, as in the store.
const GROUP: usize = 64;
/// Turns that are simulated, and those before them, which are not counted.
const TURNS: usize = 8_000;
const WARM_UP: usize = 1_000;

/// Simulates some thousand turns. The same seed gives the same prediction.
pub(crate) fn predict(costs: &Costs, setup: &Setup, arrivals: Arrivals, seed: u64) -> Prediction {
    Simulation::new(*costs, *setup, arrivals, seed).run()
}

/// A step of a turn or of a transaction.
#[derive(Clone, Copy)]
enum Step {
    /// Uses a core of a host for this long on average.
    Cpu(usize, f64),
    Wait(f64),
    /// Waits until the writer has stored something.
    Write,
}

#[derive(Clone, Copy)]
enum Job {
    Arrival,
    Turn(usize),
    /// The transaction of a writer.
    Group(usize),
}

/// The end of a step.
struct Event {
    at: f64,
    /// Makes the order of events at the same time certain.
    number: u64,
    job: Job,
    /// The host whose core is free now.
    host: Option<usize>,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

#[derive(Default)]
struct Host {
    cores: usize,
    used: usize,
    waiting: VecDeque<(Job, f64)>,
    /// Core seconds so far.
    busy: f64,
}

struct Turn {
    begun: f64,
    server: usize,
    partition: usize,
    /// The steps that follow, the last one first.
    steps: Vec<Step>,
}

/// The writer of a server, for one partition.
#[derive(Default)]
struct Writer {
    inbox: VecDeque<usize>,
    group: Vec<usize>,
    steps: Vec<Step>,
    since: f64,
}

#[derive(Default)]
struct Lock {
    is_held: bool,
    waiting: VecDeque<usize>,
    busy: f64,
}

struct Simulation {
    costs: Costs,
    setup: Setup,
    arrivals: Arrivals,
    random: Rng,
    now: f64,
    number: u64,
    events: BinaryHeap<Reverse<Event>>,
    hosts: Vec<Host>,
    turns: Vec<Turn>,
    writers: Vec<Writer>,
    locks: Vec<Lock>,
    /// How long turns took.
    took: Vec<f64>,
    ended: usize,
    /// When the turns that count began to be counted.
    counted_from: f64,
}

impl Simulation {
    fn new(costs: Costs, setup: Setup, arrivals: Arrivals, seed: u64) -> Self {
        let host = |cores| Host { cores, ..Host::default() };
        let hosts = match setup.hosts {
            Hosts::Shared { cores } => vec![host(cores)],
            Hosts::Separate { server_cores, database_cores } => {
                let servers = (0..setup.servers).map(|_| host(server_cores));
                std::iter::once(host(database_cores)).chain(servers).collect()
            }
        };
        Self {
            costs,
            setup,
            arrivals,
            random: Rng::with_seed(seed),
            now: 0.0,
            number: 0,
            events: BinaryHeap::new(),
            hosts,
            turns: Vec::new(),
            writers: (0..setup.servers * setup.partitions).map(|_| Writer::default()).collect(),
            locks: (0..setup.partitions).map(|_| Lock::default()).collect(),
            took: Vec::new(),
            ended: 0,
            counted_from: 0.0,
        }
    }

    fn run(mut self) -> Prediction {
        match self.arrivals {
            Arrivals::Closed { users } => (0..users).for_each(|_| self.begin_turn()),
            Arrivals::Open { .. } => self.schedule(0.0, Job::Arrival, None),
        }
        while self.ended < WARM_UP + TURNS
            && let Some(Reverse(event)) = self.events.pop()
        {
            self.now = event.at;
            if let Some(host) = event.host {
                self.free_core(host);
            }
            self.advance(event.job);
        }
        self.prediction()
    }

    fn prediction(mut self) -> Prediction {
        self.took.sort_by(f64::total_cmp);
        let at = |percent: usize| self.took.get((self.took.len() * percent / 100).min(self.took.len().max(1) - 1));
        let busy = |hosts: &[Host]| {
            let cores: usize = hosts.iter().map(|host| host.cores).sum();
            hosts.iter().map(|host| host.busy).sum::<f64>() / (self.now * cores as f64)
        };
        // On a shared machine the database's host is that of the servers, too.
        let servers = if self.hosts.len() > 1 { &self.hosts[1..] } else { &self.hosts[..] };
        Prediction {
            per_second: self.took.len() as f64 / (self.now - self.counted_from),
            mean: self.took.iter().sum::<f64>() / self.took.len() as f64,
            p50: at(50).copied().unwrap_or_default(),
            p99: at(99).copied().unwrap_or_default(),
            servers: busy(servers),
            database: busy(&self.hosts[..1]),
            lock: self.locks.iter().map(|lock| lock.busy).sum::<f64>() / (self.now * self.locks.len() as f64),
        }
    }

    /// Returns the host of a server; the first host is the database's.
    fn server_host(&self, server: usize) -> usize {
        if self.hosts.len() > 1 { server + 1 } else { 0 }
    }

    fn schedule(&mut self, delay: f64, job: Job, host: Option<usize>) {
        self.number += 1;
        self.events.push(Reverse(Event { at: self.now + delay, number: self.number, job, host }));
    }

    /// Returns an exponentially distributed time.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    fn begin_turn(&mut self) {
        let server = self.turns.len() % self.setup.servers;
        let partition = self.random.usize(0..self.setup.partitions);
        let steps = self.steps_of_turn(server);
        self.turns.push(Turn { begun: self.now, server, partition, steps });
        self.advance(Job::Turn(self.turns.len() - 1));
    }

    /// Returns the steps of a turn, the last one first.
    fn steps_of_turn(&mut self, server: usize) -> Vec<Step> {
        let writes = self.costs.writes.floor() as usize + usize::from(self.random.f64() < self.costs.writes.fract());
        let slice = 1.0 / (writes + 1) as f64;
        let host = self.server_host(server);
        let work = [Step::Cpu(host, self.costs.server * slice), Step::Cpu(0, self.costs.reads * slice)];
        let client = matches!(self.setup.hosts, Hosts::Shared { .. }).then_some(Step::Cpu(0, self.costs.client / 2.0));
        let mut steps: Vec<_> = client.into_iter().chain(work).collect();
        for _ in 0..writes {
            steps.push(Step::Write);
            steps.extend(work);
        }
        steps.extend(client);
        steps
    }

    fn advance(&mut self, job: Job) {
        let step = match job {
            Job::Arrival => {
                self.begin_turn();
                if let Arrivals::Open { per_second } = self.arrivals {
                    let pause = self.exponential(1.0 / per_second);
                    self.schedule(pause, Job::Arrival, None);
                }
                return;
            }
            Job::Turn(turn) => self.turns[turn].steps.pop(),
            Job::Group(writer) => self.writers[writer].steps.pop(),
        };
        match (step, job) {
            (Some(Step::Cpu(host, mean)), _) => {
                let time = self.exponential(mean);
                self.use_core(host, job, time);
            }
            (Some(Step::Wait(time)), _) => self.schedule(time, job, None),
            (Some(Step::Write), Job::Turn(turn)) => self.write(turn),
            (Some(Step::Write), _) | (None, Job::Arrival) => {}
            (None, Job::Turn(turn)) => self.end_turn(turn),
            (None, Job::Group(writer)) => self.end_group(writer),
        }
    }

    fn use_core(&mut self, host: usize, job: Job, time: f64) {
        let station = &mut self.hosts[host];
        if station.used == station.cores {
            station.waiting.push_back((job, time));
            return;
        }
        station.used += 1;
        station.busy += time;
        self.schedule(time, job, Some(host));
    }

    fn free_core(&mut self, host: usize) {
        self.hosts[host].used -= 1;
        if let Some((job, time)) = self.hosts[host].waiting.pop_front() {
            self.use_core(host, job, time);
        }
    }

    fn write(&mut self, turn: usize) {
        let Turn { server, partition, .. } = self.turns[turn];
        let writer = server * self.setup.partitions + partition;
        self.writers[writer].inbox.push_back(turn);
        if self.writers[writer].group.is_empty() {
            self.form_group(writer);
        }
    }

    /// Forms a group of the writes that wait for a writer, and waits for the lock.
    fn form_group(&mut self, index: usize) {
        let writer = &mut self.writers[index];
        let count = writer.inbox.len().min(GROUP);
        writer.group.extend(writer.inbox.drain(..count));
        let lock = &mut self.locks[index % self.setup.partitions];
        if lock.is_held {
            lock.waiting.push_back(index);
        } else {
            lock.is_held = true;
            self.begin_group(index);
        }
    }

    fn begin_group(&mut self, index: usize) {
        let host = self.server_host(index / self.setup.partitions);
        let (cost, count) = (self.costs.transaction, self.writers[index].group.len() as f64);
        let trips = cost.trips_per_write.mul_add(count, cost.trips) * self.setup.round_trip;
        let writer = &mut self.writers[index];
        writer.since = self.now;
        writer.steps = vec![
            Step::Wait(cost.disk + trips),
            Step::Cpu(host, cost.server_per_write * count),
            Step::Cpu(0, cost.database_per_write.mul_add(count, cost.database)),
        ];
        self.advance(Job::Group(index));
    }

    fn end_group(&mut self, index: usize) {
        let held = self.now - self.writers[index].since;
        let lock = &mut self.locks[index % self.setup.partitions];
        lock.busy += held;
        match lock.waiting.pop_front() {
            Some(next) => self.begin_group(next),
            None => lock.is_held = false,
        }
        let group = std::mem::take(&mut self.writers[index].group);
        // The waiting writes are the next group, before the users that were answered can write again.
        if !self.writers[index].inbox.is_empty() {
            self.form_group(index);
        }
        for turn in group {
            self.advance(Job::Turn(turn));
        }
    }

    fn end_turn(&mut self, index: usize) {
        self.ended += 1;
        match self.ended.cmp(&WARM_UP) {
            Ordering::Less => {}
            Ordering::Equal => self.counted_from = self.now,
            Ordering::Greater => self.took.push(self.now - self.turns[index].begun),
        }
        if let Arrivals::Closed { .. } = self.arrivals {
            let server = self.turns[index].server;
            let steps = self.steps_of_turn(server);
            let partition = self.random.usize(0..self.setup.partitions);
            self.turns[index] = Turn { begun: self.now, server, partition, steps };
            self.advance(Job::Turn(index));
        }
    }
}

#[cfg(test)]
mod tests;
