use super::*;
use std::path::Path;

/// A database records the version, the description and the checksum of each migration.
#[tokio::test]
async fn all_files_are_listed_and_read_as_sqlx_reads_them() {
    for (folder, listed) in [("sqlite", sqlite()), ("postgres", postgres())] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
        let read = Migrator::new(folder).await.unwrap();
        let recorded = |migrations: &Migrator| -> Vec<_> {
            let recorded = migrations.iter().map(|it| (it.version, it.description.clone(), it.checksum.clone()));
            recorded.collect()
        };
        assert_eq!(recorded(&listed), recorded(&read));
        assert!(read.iter().all(|it| it.migration_type == MigrationType::Simple && !it.no_tx));
    }
}
