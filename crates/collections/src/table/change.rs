//! Inserts, updates and deletes rows. Each is one statement, which changes all rows or none.

use super::{Statement, Table};
use crate::failure::DataError;
use crate::filter::Filter;
use serde_json::{Map, Value};

impl Table {
    /// Inserts records, and returns their ids.
    pub(crate) async fn insert(&self, records: &[Map<String, Value>]) -> Result<Vec<String>, DataError> {
        for field in records.iter().flat_map(Map::keys) {
            self.column(field)?;
        }
        // The database fills in columns that no record has.
        let is_used = |field: &str| records.iter().any(|record| record.contains_key(field));
        let used: Vec<_> = self.columns.iter().filter(|column| is_used(&column.field)).collect();
        let owner = self.owner.as_ref().map(|(column, _)| column);
        let names: Vec<_> =
            owner.into_iter().chain(used.iter().map(|column| &column.sql)).map(String::as_str).collect();
        if names.is_empty() {
            return Err(DataError::Invalid("A record has at least one field.".to_owned()));
        }
        let mut sql = Statement::new("INSERT INTO ");
        sql.push(&format!("{} ({}) VALUES ", self.name, names.join(", ")));
        for (index, record) in records.iter().enumerate() {
            sql.push(if index > 0 { ", (" } else { "(" });
            let owner = self.owner.as_ref().map(|(_, user_id)| Value::from(user_id.as_str()));
            let values = used.iter().map(|column| record.get(&column.field).cloned().unwrap_or_default());
            for (index, value) in owner.into_iter().chain(values).enumerate() {
                sql.push(if index > 0 { ", " } else { "" }).bind(value);
            }
            sql.push(")");
        }
        sql.push(&format!(" RETURNING CAST({} AS TEXT) AS k", self.key));
        let (_, rows) = self.connection.execute(&sql.text, &sql.values).await?;
        Ok(rows.iter().map(|row| row["k"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// Sets fields of the records with these ids that still pass the filter, and returns how many there
    /// were. `null` removes a field.
    pub(crate) async fn update(
        &self,
        ids: Vec<String>,
        filter: &Filter,
        changes: &Map<String, Value>,
    ) -> Result<u64, DataError> {
        let mut sql = Statement::new("UPDATE ");
        sql.push(&self.name).push(" SET ");
        for (index, (field, value)) in changes.iter().enumerate() {
            let column = self.column(field)?;
            if column.sql == self.key {
                return Err(DataError::Invalid(format!("`{field}` identifies a record and cannot be changed.")));
            }
            sql.push(if index > 0 { ", " } else { "" });
            sql.push(&format!("{} = ", column.sql)).bind(value.clone());
        }
        self.push_where(&mut sql, &Filter::All(vec![filter.clone(), Filter::Ids(ids)]))?;
        Ok(self.connection.execute(&sql.text, &sql.values).await?.0)
    }

    /// Deletes the records that pass the filter, at most `most` of them, and returns how many there were.
    pub(crate) async fn delete(&self, filter: &Filter, most: u32) -> Result<u64, DataError> {
        let mut sql = Statement::new("DELETE FROM ");
        sql.push(&format!("{0} WHERE {1} IN (SELECT {1} FROM {0}", self.name, self.key));
        self.push_where(&mut sql, filter)?;
        sql.push(&format!(" ORDER BY {} LIMIT {most})", self.key));
        Ok(self.connection.execute(&sql.text, &sql.values).await?.0)
    }
}
