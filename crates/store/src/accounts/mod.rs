//! Users who sign in here with their groups, and the sessions and API keys of all users.

pub(crate) mod api_keys;
pub(crate) mod group_members;
pub(crate) mod groups;
pub(crate) mod identities;
pub(crate) mod invitations;
pub(crate) mod outside_keys;
pub(crate) mod scim_users;
pub(crate) mod second_factors;
pub(crate) mod sessions;
pub(crate) mod users;
