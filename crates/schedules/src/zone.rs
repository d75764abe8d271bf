//! Time zones by name.

use crate::ScheduleError;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// The database that is part of the program. That of the machine may be another version, and two
/// servers would disagree about when a tick is.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The longest name that is compared with the known ones.
const MAX_COMPARED: usize = 64;

/// Returns the time zone with a name.
///
/// # Errors
/// There is none; the help is the most similar name.
pub(crate) fn parse(name: &str) -> Result<TimeZone, ScheduleError> {
    if let Ok(zone) = DATABASE.get(name) {
        return Ok(zone);
    }
    let help = match nearest(name) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "write a name of the IANA database, such as `Europe/Berlin` or `UTC`".to_owned(),
    };
    Err(ScheduleError::zone(format!("there is no time zone `{name}`"), Some(help)))
}

/// Returns the zone whose name, or whose city, is most similar.
fn nearest(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > MAX_COMPARED {
        return None;
    }
    let folded = fold(name);
    let distance = |known: &str| {
        let known = fold(known);
        let city = known.rsplit('/').next().unwrap_or(&known);
        strsim::damerau_levenshtein(&folded, &known).min(strsim::damerau_levenshtein(&folded, city))
    };
    let known = DATABASE.available().map(|known| known.as_str().to_owned());
    let nearest = known.map(|known| (distance(&known), known)).min()?;
    (nearest.0 * 3 <= folded.chars().count()).then_some(nearest.1)
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}
