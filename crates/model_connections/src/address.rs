//! The addresses of providers: which are allowed.

use added_entries::address;

/// Checks the base address of a provider. With `allow_private` it may be on this machine and its networks, and use
/// `http://`.
///
/// # Errors
/// The problem of the address.
pub(crate) fn check_address(text: &str, allow_private: bool) -> Result<(), String> {
    let url = address::parse(text, allow_private, "modelConnections")?;
    if url.query().is_none() && url.fragment().is_none() {
        Ok(())
    } else {
        Err("the address must end with its path, such as `/v1`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_with_their_path() {
        let check = |text: &str, expected: &str| {
            let read = check_address(text, false).map_or_else(|problem| problem, |()| String::new());
            assert!(if expected.is_empty() { read.is_empty() } else { read.contains(expected) }, "{text}: {read}");
        };
        check("https://api.example.com/v1", "");
        check("https://api.example.com/v1?key=1", "must end with its path");
        check("https://api.example.com/#x", "must end with its path");
        check("https://127.0.0.1/v1", "`modelConnections: { allowPrivate: true }`");
    }
}
