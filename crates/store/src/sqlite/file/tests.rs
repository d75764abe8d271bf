use super::*;

#[test]
fn database_urls_are_parsed() {
    let check = |url: &str, expected: Result<(&str, bool), &str>| {
        let found = SqliteLocation::parse(url).map_err(|error| error.to_string());
        let expected = expected.map(|(path, create)| match path {
            ":memory:" => SqliteLocation::Memory,
            path => SqliteLocation::File { path: path.into(), create },
        });
        assert_eq!(found, expected.map_err(str::to_owned), "{url}");
    };
    check("sqlite::memory:", Ok((":memory:", true)));
    check("sqlite://:memory:", Ok((":memory:", true)));
    check("sqlite:data/chat.db", Ok(("data/chat.db", true)));
    check("sqlite://data/chat.db", Ok(("data/chat.db", true)));
    check("sqlite:///var/chat.db?mode=rwc", Ok(("/var/chat.db", true)));
    check("sqlite:///var/chat.db?mode=rw", Ok(("/var/chat.db", false)));
    check("sqlite:///a%20b%3F.db", Ok(("/a b?.db", true)));
    check("sqlite://", Err("the database URL names no file; use `sqlite://PATH`"));
    check("sqlite://x?mode=ro", Err("`?mode=ro` is not supported; use `?mode=rw` or `?mode=rwc`"));
    check("mysql://u:secret@h/db", Err("`mysql:` databases are not supported; use `sqlite://PATH` or `postgres://…`"));
}
