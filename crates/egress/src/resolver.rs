//! DNS resolution that refuses private addresses.

use crate::address::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::SocketAddr;

/// Refuses a name if one of its addresses is not public, because the client chooses which of them
/// it connects to.
pub(crate) struct PublicResolver;

/// The error for a name with an address that is not public.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to an address that is not public")]
pub(crate) struct PrivateAddress;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.iter().any(|address| !is_public(address.ip())) {
                return Err(PrivateAddress.into());
            }
            Ok::<Addrs, _>(Box::new(found.into_iter()))
        })
    }
}
