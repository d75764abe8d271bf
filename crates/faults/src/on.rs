//! Injects faults.

use crate::Point;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The configured fault.
struct Fault {
    point: Point,
    panics: bool,
    /// The occurrence of the point at which it is injected; counts from 1.
    at: u64,
    seen: AtomicU64,
}

/// Parses `POINT=kill@N` or `POINT=panic@N`.
fn parse(text: &str) -> Option<Fault> {
    let (name, (action, at)) = text.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once('@')?)))?;
    let point = Point::ALL.iter().copied().find(|point| point.name() == name)?;
    let panics = match action {
        "kill" => false,
        "panic" => true,
        _ => return None,
    };
    Some(Fault { point, panics, at: at.parse().ok()?, seen: AtomicU64::new(0) })
}

/// Injects the fault that is configured for this point.
///
/// # Panics
/// If that is the fault, and if the environment variable is invalid: a torture test without faults
/// must not pass.
pub fn point(point: Point) {
    static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
    let fault = FAULT.get_or_init(|| {
        let text = std::env::var("CHATWRIGHT_FAULT").ok()?;
        Some(parse(&text).unwrap_or_else(|| panic!("CHATWRIGHT_FAULT={text} is invalid")))
    });
    let Some(fault) = fault.as_ref().filter(|fault| fault.point == point) else { return };
    if fault.seen.fetch_add(1, Relaxed) + 1 != fault.at {
        return;
    }
    if fault.panics {
        panic!("injected at {}", point.name());
    }
    // Ends the process without flushing or dropping anything.
    std::process::abort();
}
