//! Databases on which a scenario kills the server at each occurrence of its fault points.

/// A database, and how many occurrences of a point are skipped between two kills.
pub(crate) struct SweptDatabase {
    /// None for SQLite.
    pub(crate) url: Option<String>,
    pub(crate) step: u64,
}

impl SweptDatabase {
    /// Returns SQLite and, if it is installed, PostgreSQL, with the steps of each.
    pub(crate) async fn all([sqlite, postgres]: [u64; 2]) -> Vec<Self> {
        let mut all = vec![Self { url: None, step: sqlite }];
        all.extend(test_postgres::new_database().await.map(|url| Self { url: Some(url), step: postgres }));
        all
    }

    /// Describes for the record how often the server was killed.
    pub(crate) fn kills(&self, kills: u64) -> String {
        let name = if self.url.is_some() { "PostgreSQL" } else { "SQLite" };
        format!("{kills} kills on {name} (in steps of {})", self.step)
    }
}
