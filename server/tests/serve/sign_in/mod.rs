//! Tests of authentication, and of the rights of callers.

mod account_rows;
pub(crate) mod accounts;
pub(crate) mod callers;
mod embed;
mod groups;
mod invitations;
mod keys;
pub(crate) mod openid;
mod passed_on;
mod rates;
mod redefined;
mod scim;
mod two_step;
