//! The time that a call may take, which stands still while the call waits for the user.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long the time of one call stands still in all, while the call waits for the user.
pub const MAX_USER_WAIT: Duration = Duration::from_secs(600);

/// The time of one call; a cheap handle. The time of a sub-agent's call is below that of the task, which stands
/// still as well.
#[derive(Clone, Debug)]
pub struct CallTime {
    /// The number of questions to the user that are open.
    waits: Arc<watch::Sender<usize>>,
    above: Option<Arc<CallTime>>,
}

impl Default for CallTime {
    fn default() -> Self {
        Self { waits: Arc::new(watch::Sender::new(0)), above: None }
    }
}

impl CallTime {
    /// Creates the time of a call that is made during this one.
    #[must_use]
    pub fn below(&self) -> Self {
        Self { above: Some(Arc::new(self.clone())), ..Self::default() }
    }

    /// Stops the time until the returned value is dropped, for [`MAX_USER_WAIT`] in all.
    pub fn wait_for_user(&self) -> UserWait {
        let all = std::iter::successors(Some(self), |time| time.above.as_deref());
        let stopped: Vec<_> = all.map(|time| time.waits.clone()).collect();
        stopped.iter().for_each(|waits| waits.send_modify(|open| *open += 1));
        UserWait(stopped)
    }

    /// Resolves when the call has taken this long, without the time for which it has waited for the user.
    pub async fn run_out(&self, limit: Duration) {
        let (mut left, mut wait_left) = (limit, MAX_USER_WAIT);
        let mut waits = self.waits.subscribe();
        while !left.is_zero() {
            let begun = Instant::now();
            let is_waiting = *waits.borrow_and_update() > 0 && !wait_left.is_zero();
            let budget = if is_waiting { &mut wait_left } else { &mut left };
            tokio::select! {
                () = tokio::time::sleep(*budget) => *budget = Duration::ZERO,
                Ok(()) = waits.changed() => *budget = budget.saturating_sub(begun.elapsed()),
            }
        }
    }
}

/// While it exists, the time of a call stands still.
#[derive(Debug)]
pub struct UserWait(Vec<Arc<watch::Sender<usize>>>);

impl Drop for UserWait {
    fn drop(&mut self) {
        self.0.iter().for_each(|waits| waits.send_modify(|open| *open -= 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn call_time_pauses_while_the_call_waits_for_the_user() {
        let seconds = Duration::from_secs;
        // When each wait begins and how long it takes, and when a call of 10 s ends.
        let check = async |waits: &'static [(u64, u64)], expected: u64| {
            let begun = Instant::now();
            let task = CallTime::default();
            let call = task.below();
            for (from, length) in waits {
                let call = call.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(seconds(*from)).await;
                    let _waiting = call.wait_for_user();
                    tokio::time::sleep(seconds(*length)).await;
                });
            }
            tokio::join!(task.run_out(seconds(10)), call.run_out(seconds(10)));
            assert_eq!(begun.elapsed().as_secs(), expected, "{waits:?}");
        };
        check(&[], 10).await;
        check(&[(2, 30)], 40).await;
        check(&[(2, 30), (10, 50)], 68).await;
        check(&[(20, 30)], 10).await;
        check(&[(2, 100_000)], 610).await;
        check(&[(1, 400), (402, 400)], 610).await;
    }
}
