//! The queue beside a simple model of it in memory, with random operations.

use super::{WORK, job};
use crate::context::Fence;
use crate::new_job::{Due, Enqueued, OnPending};
use crate::outcome::End;
use crate::table::{self, JobFilter, JobState, Wanted};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use store::sql::Db;
use store::{Store, StoreError};

#[derive(Clone, Debug)]
enum Op {
    /// Enqueues a job with one of three keys, or none.
    Enqueue {
        key: Option<u8>,
        is_due: bool,
        on_pending: OnPending,
    },
    /// Claims up to this many jobs.
    Claim(usize),
    /// Ends an attempt that was claimed some time ago, which may be over.
    End {
        attempt: usize,
        end: End,
    },
    Cancel(usize),
    Retry(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let on_pending = prop_oneof![Just(OnPending::Earlier), Just(OnPending::Replace), Just(OnPending::Keep)];
    let end = prop_oneof![
        Just(End::Done),
        Just(End::Failed("x".to_owned())),
        Just(End::Retry(Duration::ZERO, "x".to_owned())),
        Just(End::Again(Due::At(0))),
        Just(End::Cancelled),
        Just(End::Released),
    ];
    prop_oneof![
        4 => (proptest::option::of(0..3_u8), any::<bool>(), on_pending)
            .prop_map(|(key, is_due, on_pending)| Op::Enqueue { key, is_due, on_pending }),
        3 => (1..4_usize).prop_map(Op::Claim),
        4 => (0..40_usize, end).prop_map(|(attempt, end)| Op::End { attempt, end }),
        1 => (0..20_usize).prop_map(Op::Cancel),
        1 => (0..20_usize).prop_map(Op::Retry),
    ]
}

/// A job in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    key: Option<u8>,
    state: JobState,
    is_due: bool,
    fence: i64,
    attempts: i64,
    /// Whether it is due again when it ends, if it was enqueued while it ran.
    again: Option<bool>,
    is_cancelled: bool,
}

#[derive(Default)]
struct Models {
    jobs: BTreeMap<String, Model>,
    /// All jobs in the order in which they were enqueued.
    ids: Vec<String>,
    attempts: Vec<Fence>,
}

impl Models {
    fn pending(&self, key: u8) -> Option<String> {
        let is_pending =
            |job: &Model| job.key == Some(key) && matches!(job.state, JobState::Waiting | JobState::Running);
        self.jobs.iter().find(|(_, job)| is_pending(job)).map(|(id, _)| id.clone())
    }

    async fn apply(&mut self, db: &mut Db, op: &Op) -> Result<(), StoreError> {
        match op {
            Op::Enqueue { key, is_due, on_pending } => self.enqueue(db, *key, *is_due, *on_pending).await,
            Op::Claim(most) => {
                let wanted = [Wanted { kind: WORK.name(), most: *most }];
                let due = self.jobs.values().filter(|job| job.state == JobState::Waiting && job.is_due).count();
                let claimed = table::claim(db, "worker", &wanted, &mut table::Turns::default(), |_| true).await?;
                assert_eq!(claimed.len(), due.min(*most));
                for claimed in claimed {
                    let job = self.jobs.get_mut(&claimed.id).unwrap();
                    assert!(job.state == JobState::Waiting && job.is_due, "{job:?}");
                    (job.state, job.fence, job.attempts) = (JobState::Running, job.fence + 1, job.attempts + 1);
                    job.is_cancelled = false;
                    assert_eq!((claimed.fence, i64::from(claimed.attempts)), (job.fence, job.attempts));
                    self.attempts.push(Fence { job_id: claimed.id, number: claimed.fence });
                }
                Ok(())
            }
            Op::End { attempt, end } => {
                let Some(fence) = self.attempts.get(*attempt) else { return Ok(()) };
                let job = self.jobs.get_mut(&fence.job_id).unwrap();
                let is_current = job.state == JobState::Running && job.fence == fence.number;
                assert_eq!(table::is_running(&mut *db, fence).await?, is_current);
                assert_eq!(table::end(db, fence, None, end).await?, is_current, "{fence:?} {job:?}");
                if is_current {
                    job.end(end);
                }
                Ok(())
            }
            Op::Cancel(number) => {
                let Some(id) = self.ids.get(*number) else { return Ok(()) };
                table::cancel(db, id).await?;
                let job = self.jobs.get_mut(id).unwrap();
                match job.state {
                    JobState::Waiting => job.state = JobState::Cancelled,
                    JobState::Running => (job.is_cancelled, job.again) = (true, None),
                    _ => {}
                }
                Ok(())
            }
            Op::Retry(number) => {
                let Some(id) = self.ids.get(*number) else { return Ok(()) };
                let key = self.jobs[id].key;
                let is_taken = key.and_then(|key| self.pending(key)).is_some_and(|other| other != *id);
                match table::retry(db, id).await {
                    Ok(is_due) => {
                        let job = self.jobs.get_mut(id).unwrap();
                        let can = matches!(job.state, JobState::Waiting | JobState::Failed | JobState::Cancelled);
                        assert_eq!((is_due, is_taken), (can, false), "{job:?}");
                        if can {
                            (job.state, job.is_due, job.attempts) = (JobState::Waiting, true, 0);
                        }
                    }
                    Err(error) => assert!(is_taken, "{error}"),
                }
                Ok(())
            }
        }
    }

    async fn enqueue(
        &mut self,
        db: &mut Db,
        key: Option<u8>,
        is_due: bool,
        on_pending: OnPending,
    ) -> Result<(), StoreError> {
        let new = job("x").due(Due::At(if is_due { 0 } else { i64::MAX / 2 })).on_pending(on_pending);
        let new = match key {
            Some(key) => new.key(key.to_string()),
            None => new,
        };
        let enqueued = table::enqueue(db, new).await?;
        let Some(pending) = key.and_then(|key| self.pending(key)) else {
            let Enqueued::New(id) = enqueued else { panic!("{enqueued:?}") };
            let model = Model {
                key,
                state: JobState::Waiting,
                is_due,
                fence: 0,
                attempts: 0,
                again: None,
                is_cancelled: false,
            };
            self.jobs.insert(id.clone(), model);
            self.ids.push(id);
            return Ok(());
        };
        assert_eq!(enqueued, Enqueued::Pending(pending.clone()));
        let job = self.jobs.get_mut(&pending).unwrap();
        match (job.state, on_pending) {
            (_, OnPending::Keep) => {}
            (JobState::Running, OnPending::Earlier) => job.again = Some(is_due || job.again == Some(true)),
            (JobState::Running, OnPending::Replace) => job.again = Some(is_due),
            (_, OnPending::Earlier) => (job.is_due, job.attempts) = (job.is_due || is_due, 0),
            (_, OnPending::Replace) => (job.is_due, job.attempts) = (is_due, 0),
        }
        Ok(())
    }
}

impl Model {
    fn end(&mut self, end: &End) {
        let again = self.again.take();
        let is_cancelled = std::mem::take(&mut self.is_cancelled);
        self.state = match end {
            End::Cancelled => JobState::Cancelled,
            End::Done if is_cancelled => JobState::Done,
            _ if is_cancelled => JobState::Cancelled,
            End::Done if again.is_none() => JobState::Done,
            End::Failed(_) if again.is_none() => JobState::Failed,
            _ => JobState::Waiting,
        };
        match end {
            End::Released => self.attempts -= 1,
            End::Again(_) => self.attempts = 0,
            _ if again.is_some() && *end != End::Cancelled => self.attempts = 0,
            _ => {}
        }
        if self.state == JobState::Waiting {
            self.is_due = again.unwrap_or(true) || matches!(end, End::Again(_) | End::Released);
        }
    }
}

async fn check(store: &Store, ops: Vec<Op>) {
    let write = store.write(move |db| {
        Box::pin(async move {
            store::sql::query("DELETE FROM jobs").execute(&mut *db).await?;
            let mut models = Models::default();
            for op in &ops {
                models.apply(&mut *db, op).await?;
                let rows = table::list(&mut *db, JobFilter::default(), 1_000).await?;
                assert_eq!(rows.len(), models.jobs.len());
                for row in rows {
                    let job = &models.jobs[&row.id];
                    let found = (row.state, row.attempts, row.due_at < i64::MAX / 4 || row.state != JobState::Waiting);
                    let expected = (job.state, job.attempts, job.is_due || job.state != JobState::Waiting);
                    assert_eq!(found, expected, "{op:?} of {ops:?}");
                }
            }
            Ok(())
        })
    });
    write.await.unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Checks one case in a database of its own.
fn check_in_memory(ops: Vec<Op>) {
    runtime().block_on(async {
        let store = Store::open("sqlite::memory:").await.unwrap();
        check(&store, ops).await;
        store.close().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn the_table_does_what_the_model_does(ops in proptest::collection::vec(op(), 1..60)) {
        check_in_memory(ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    #[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
    fn the_table_does_what_the_model_does_thoroughly(ops in proptest::collection::vec(op(), 1..60)) {
        check_in_memory(ops);
    }
}

/// The same on PostgreSQL, with fewer cases in one database.
#[test]
fn postgres_does_what_the_model_does() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
    let runtime = runtime();
    let Some(store) = runtime.block_on(async {
        let url = test_postgres::new_database().await?;
        Some(Store::open(&url).await.unwrap())
    }) else {
        return;
    };
    let ops = proptest::collection::vec(op(), 1..40);
    runner
        .run(&ops, |ops| {
            runtime.block_on(check(&store, ops));
            Ok(())
        })
        .unwrap();
    runtime.block_on(store.close());
}
