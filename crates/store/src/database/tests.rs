use std::collections::BTreeSet;
use std::path::Path;

/// A migration must exist for both databases.
#[test]
fn both_databases_have_the_same_migrations() {
    let numbers = |folder: &str| -> BTreeSet<u32> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
        let names = folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        names.map(|name| name.split('_').next().unwrap().parse().unwrap()).collect()
    };
    // The first PostgreSQL migration created the schema that SQLite had by then.
    let sqlite: BTreeSet<_> = numbers("sqlite").into_iter().filter(|number| *number >= 11).collect();
    assert_eq!(sqlite, numbers("postgres"), "give each migration its number in both folders");
}
