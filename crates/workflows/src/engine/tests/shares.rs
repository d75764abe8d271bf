//! Whatever starts and ends in whatever order, calls and children cannot exceed a limit together.

use crate::engine::Remaining;
use crate::store::Used;
use proptest::prelude::*;
use workflow_definition::RunLimits;

/// The next event in one of the open runs.
#[derive(Clone, Debug)]
enum Event {
    /// Steps start together: calls and children.
    Start { calls: usize, children: usize },
    /// A call ends, having used this part, in percent, of what it may use.
    EndCall { percent: u64 },
    /// The run ends, if nothing of it runs.
    End,
}

#[derive(Default)]
struct SimulatedRun {
    parent: Option<usize>,
    limits: RunLimits,
    used: Used,
    calls: Vec<Remaining>,
    has_ended: bool,
}

/// Runs with their children, of which the first one is above all.
struct Simulation(Vec<SimulatedRun>);

impl Simulation {
    fn chain(&self, run: usize) -> Vec<usize> {
        std::iter::successors(Some(run), |run| self.0[*run].parent).collect()
    }

    fn open_children(&self, of: usize) -> Vec<(RunLimits, Used)> {
        let children = self.0.iter().filter(|run| run.parent == Some(of) && !run.has_ended);
        children.map(|run| (run.limits, run.used)).collect()
    }

    fn start(&mut self, run: usize, calls: usize, children: usize) {
        let facts: Vec<_> = self.chain(run).into_iter().map(|run| (self.0[run].limits, self.0[run].used)).collect();
        let Ok(left) = Remaining::of(&facts) else { return };
        let open = self.open_children(run);
        let is_alone = self.0[run].calls.is_empty() && open.is_empty();
        let of_calls = self.0[run].calls.iter().fold(Remaining::default(), |sum, one| sum.plus(one));
        let free = left.without(&of_calls.plus(&Remaining::of_children(&open)));
        let most = if is_alone { free.max_calls().max(1) } else { free.max_calls() };
        let calls = calls.min(most);
        let children = children.min(most - calls);
        let share = free.share(calls + children);
        self.0[run].calls.extend(std::iter::repeat_n(share, calls));
        let child = || SimulatedRun {
            parent: Some(run),
            limits: RunLimits::default().stricter(&share.run_limits()),
            ..SimulatedRun::default()
        };
        self.0.extend(std::iter::repeat_with(child).take(children));
    }

    fn end_call(&mut self, run: usize, percent: u64) {
        let Some(share) = self.0[run].calls.pop() else { return };
        let part = |most: Option<u64>| most.map_or(1, |most| most * percent / 100);
        for above in self.chain(run) {
            let used = &mut self.0[above].used;
            used.requests += part(share.requests);
            used.total_tokens += part(share.total_tokens);
            used.tool_calls += part(share.tool_calls);
            used.cost_usd += share.cost_usd.unwrap_or(0.01) * percent as f64 / 100.0;
        }
    }

    fn apply(&mut self, run: usize, event: &Event) {
        if self.0[run].has_ended {
            return;
        }
        match *event {
            Event::Start { calls, children } => self.start(run, calls, children),
            Event::EndCall { percent } => self.end_call(run, percent),
            Event::End if self.0[run].calls.is_empty() && self.open_children(run).is_empty() => {
                self.0[run].has_ended = true;
            }
            Event::End => {}
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..4_usize, 0..4_usize).prop_map(|(calls, children)| Event::Start { calls, children }),
        (0..=100_u64).prop_map(|percent| Event::EndCall { percent }),
        Just(Event::End),
    ]
}

proptest! {
    #[test]
    fn calls_and_nested_children_stay_within_the_limits(
        requests in proptest::option::of(1..40_u32),
        total_tokens in proptest::option::of(1..5_000_u64),
        tool_calls in proptest::option::of(0..10_u32),
        cost_usd in proptest::option::of(0.01..2.0_f64),
        events in proptest::collection::vec((any::<prop::sample::Index>(), event()), 1..80),
    ) {
        let limits = RunLimits { requests, total_tokens, tool_calls, cost_usd, ..RunLimits::default() };
        let mut simulation = Simulation(vec![SimulatedRun { limits, ..SimulatedRun::default() }]);
        for (run, event) in events {
            simulation.apply(run.index(simulation.0.len()), &event);
            for SimulatedRun { limits, used, .. } in &simulation.0 {
                prop_assert!(limits.requests.is_none_or(|most| used.requests <= most.into()), "{:?} {:?}", limits, used);
                prop_assert!(limits.total_tokens.is_none_or(|most| used.total_tokens <= most), "{:?} {:?}", limits, used);
                prop_assert!(limits.tool_calls.is_none_or(|most| used.tool_calls <= most.into()), "{:?} {:?}", limits, used);
                prop_assert!(limits.cost_usd.is_none_or(|most| used.cost_usd <= most + 1e-9), "{:?} {:?}", limits, used);
            }
        }
    }
}
