//! Users, and how they sign in.

mod identities;
mod invitations;
mod users;
