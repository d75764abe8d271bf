//! Durations that are written as a number of some unit.
//!
//! Each module is for `#[serde(with = "…")]` of a `Duration`, an `Option<Duration>` or durations by name. The schema
//! needs `#[schemars(with = "u64", range(…))]` or `#[schemars(with = "Option<u64>", range(…))]`.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// A duration, a duration that may be absent, or durations by name.
pub trait DurationValue: Sized {
    /// Reads the number and converts it.
    ///
    /// # Errors
    /// The value is not a whole number.
    fn read<'de, D: Deserializer<'de>>(deserializer: D, to_duration: fn(u64) -> Duration) -> Result<Self, D::Error>;

    /// Writes the number.
    ///
    /// # Errors
    /// The errors of the serializer.
    fn write<S: Serializer>(&self, serializer: S, to_number: fn(Duration) -> u64) -> Result<S::Ok, S::Error>;
}

impl DurationValue for Duration {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, to_duration: fn(u64) -> Duration) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(to_duration)
    }

    fn write<S: Serializer>(&self, serializer: S, to_number: fn(Duration) -> u64) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(to_number(*self))
    }
}

impl DurationValue for Option<Duration> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, to_duration: fn(u64) -> Duration) -> Result<Self, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(to_duration))
    }

    fn write<S: Serializer>(&self, serializer: S, to_number: fn(Duration) -> u64) -> Result<S::Ok, S::Error> {
        self.map(to_number).serialize(serializer)
    }
}

/// Durations by name.
impl DurationValue for IndexMap<String, Duration> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, to_duration: fn(u64) -> Duration) -> Result<Self, D::Error> {
        let numbers = IndexMap::<String, u64>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|(name, number)| (name, to_duration(number))).collect())
    }

    fn write<S: Serializer>(&self, serializer: S, to_number: fn(Duration) -> u64) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, time)| (name, to_number(*time))))
    }
}

/// Defines the module of a unit.
macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $to_duration:expr, $to_number:expr) => {
        $(#[$doc])*
        pub mod $name {
            use super::{Deserializer, Duration, DurationValue, Serializer};

            /// Reads the number.
            ///
            /// # Errors
            /// The value is not a whole number.
            pub fn deserialize<'de, T: DurationValue, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
                let to_duration: fn(u64) -> Duration = $to_duration;
                T::read(deserializer, to_duration)
            }

            /// Writes the number.
            ///
            /// # Errors
            /// The errors of the serializer.
            pub fn serialize<T: DurationValue, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
                let to_number: fn(Duration) -> u64 = $to_number;
                value.write(serializer, to_number)
            }
        }
    };
}

unit!(
    /// A number of milliseconds.
    milliseconds,
    Duration::from_millis,
    |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
);
unit!(
    /// A number of seconds.
    seconds,
    Duration::from_secs,
    |time| time.as_secs()
);
unit!(
    /// A number of hours.
    hours,
    |hours| Duration::from_secs(hours.saturating_mul(60 * 60)),
    |time| time.as_secs() / (60 * 60)
);
unit!(
    /// A number of days.
    days,
    |days| Duration::from_secs(days.saturating_mul(24 * 60 * 60)),
    |time| time.as_secs() / (24 * 60 * 60)
);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, Serialize)]
    struct Times {
        #[serde(with = "milliseconds")]
        first: Duration,
        #[serde(with = "days", default)]
        second: Option<Duration>,
    }

    #[test]
    fn durations_are_numbers() {
        let check = |value: serde_json::Value, expected: Times| {
            let read: Times = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(read, expected);
            assert_eq!(serde_json::from_value::<Times>(serde_json::to_value(&read).unwrap()).unwrap(), expected);
        };
        let first = Duration::from_millis(1500);
        check(json!({ "first": 1500 }), Times { first, second: None });
        let second = Some(Duration::from_secs(2 * 24 * 60 * 60));
        check(json!({ "first": 1500, "second": 2 }), Times { first, second });
    }
}
