//! Handlers: what runs the jobs of a kind.

use crate::context::JobContext;
use crate::kind::{Kind, Policy};
use crate::outcome::{JobError, Outcome};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The function of a handler: gets the payload as JSON.
type Work = dyn Fn(JobContext, String) -> BoxFuture<'static, Result<Outcome, JobError>> + Send + Sync;

/// A kind and the function that runs its jobs. [`crate::Workers::add`] takes it.
#[derive(Clone)]
pub struct Handler {
    pub(crate) policy: Policy,
    pub(crate) every: Option<Duration>,
    work: Arc<Work>,
}

impl Handler {
    /// The function runs each job of the kind. It may run more than once for a job: after an error,
    /// after a crash, and beside itself on a server that froze and woke up. So what it writes to the
    /// database goes through the context, which refuses the writes of an attempt that is over, and
    /// what it does elsewhere names the job's id, if that service tells repetitions apart.
    pub fn new<P, W, F>(kind: Kind<P>, work: W) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        W: Fn(JobContext, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome, JobError>> + Send + 'static,
    {
        let work = move |job: JobContext, payload: String| match serde_json::from_str(&payload) {
            Ok(payload) => work(job, payload).boxed(),
            Err(error) => {
                std::future::ready(Err(JobError::fail(format!("its payload cannot be read: {error}")))).boxed()
            }
        };
        Self { policy: kind.policy(), every: None, work: Arc::new(work) }
    }

    /// The function runs every `every`, on one of the servers of the database: first that long after
    /// the first start of a server that knows the kind, then that long after the end of each run. If
    /// all servers were down in the meantime, it runs once when one starts. If all attempts of a run
    /// fail, the next one is at its usual time.
    pub fn recurring<W, F>(kind: Kind<()>, every: Duration, work: W) -> Self
    where
        W: Fn(JobContext) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), JobError>> + Send + 'static,
    {
        let work = move |job: JobContext, ()| {
            let run = work(job);
            async move { run.await.map(|()| Outcome::DONE) }
        };
        Self { every: Some(every), ..Self::new(kind, work) }
    }

    pub(crate) fn run(&self, job: JobContext, payload: String) -> BoxFuture<'static, Result<Outcome, JobError>> {
        (self.work)(job, payload)
    }
}

/// Formats the kind.
impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("policy", &self.policy).field("every", &self.every).finish_non_exhaustive()
    }
}
