//! Conversations with scripted models, on the database that `CHATWRIGHT_TEST_STORE` names.

mod audit;
mod branches;
mod context;
mod conversations;
mod gates;
mod invocations;
mod keep_alive;
mod prefix;
mod quotas;
mod replicas;
mod retention;
mod titles;
