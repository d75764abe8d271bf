//! The names of browsers.

/// Returns the browser and the operating system that a `User-Agent` names.
pub fn browser_name(agent: &str) -> String {
    let first =
        |names: &[(&str, &'static str)]| names.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name);
    let browser = first(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("Windows", "Windows"),
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => "A browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_names_are_detected() {
        let check = |agent: &str, expected: &str| assert_eq!(browser_name(agent), expected);
        check("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux");
        check(
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0",
            "Edge on Windows",
        );
        check("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone");
        check("curl/8.5", "A browser");
        check("", "A browser");
    }
}
