//! Requests to the model: what each contains, retries and fallback models, and reading the reply.

mod ask;
pub(crate) mod circuit;
pub(crate) mod prepare_step;
pub(crate) mod prune;
pub(crate) mod reply;
mod request;
pub(crate) mod retry;
pub(crate) mod side_question;
