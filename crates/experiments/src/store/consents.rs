//! Which users agree that their rated answers become cases as they are.

use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

const FIND: &str = "SELECT agreed_at FROM eval_consents WHERE owner = $1";
/// Finds the row and locks it until the end of the transaction.
const HOLD: &str = "UPDATE eval_consents SET agreed_at = agreed_at WHERE owner = $1";
const AGREE: &str = "INSERT INTO eval_consents (owner, agreed_at) VALUES ($1, $2) ON CONFLICT (owner) DO NOTHING";
const WITHDRAW: &str = "DELETE FROM eval_consents WHERE owner = $1";

/// Results of cases that were kept as they are.
const DELETE_RESULTS: &str = "
    DELETE FROM experiment_results WHERE owner = $1
    AND case_id IN (SELECT case_id FROM eval_cases WHERE owner = $1 AND is_masked = 0)";

const DELETE_CASES: &str = "DELETE FROM eval_cases WHERE owner = $1 AND is_masked = 0";

/// Returns whether a user agrees.
pub(crate) async fn has_consent(store: &Store, owner: &str) -> Result<bool, StoreError> {
    let find = sql::query(FIND).bind(owner.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.is_some()) })).await
}

/// Returns whether a user agrees. If so, a withdrawal waits for the end of the transaction, and then deletes what was
/// stored in it.
pub(crate) async fn hold_consent(db: &mut Db, owner: &str) -> Result<bool, StoreError> {
    Ok(sql::query(HOLD).bind(owner.to_owned()).execute(db).await?.rows_affected() > 0)
}

/// Stores whether a user agrees. A withdrawal deletes the user's cases that are not masked, and their results.
pub(crate) async fn set_consent(store: &Store, owner: &str, agrees: bool, now: i64) -> Result<(), StoreError> {
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            if agrees {
                sql::query(AGREE).bind(owner).bind(now).execute(db).await?;
                return Ok(());
            }
            for statement in [WITHDRAW, DELETE_RESULTS, DELETE_CASES] {
                sql::query(statement).bind(owner.clone()).execute(&mut *db).await?;
            }
            Ok(())
        })
    });
    write.await
}
