//! The state that all routes share.

use crate::Site;
use crate::compose::Composition;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;

/// The state that all routes share.
#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) composition: Arc<Composition>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) site: Site,
}
