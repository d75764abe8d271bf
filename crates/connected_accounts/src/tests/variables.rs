//! Tests of the values that users enter for variables.

use super::*;
use secrecy::ExposeSecret;
use settings::user_auth::{UserVariable, UserVariables};

#[tokio::test]
async fn entries_are_kept_for_one_user_and_address() {
    on_each_database(&[TABLES], async |store| {
        let accounts = accounts(store);
        let variable = |key: &str| UserVariable {
            key: key.to_owned(),
            name: "Database".to_owned(),
            description: String::new(),
            is_required: true,
        };
        let wanted = |url: &str| UserVariables {
            connection: "mongo".to_owned(),
            url: url.parse().unwrap(),
            variables: vec![variable("dburi"), variable("region")],
        };
        let here = wanted("https://tools.test/");
        let entered = async |wanted: &UserVariables, user: &str| {
            let values = ProvideTokens::variables(&accounts, wanted, &scope(user)).await.unwrap();
            values.into_iter().map(|(key, value)| format!("{key}={}", value.expose_secret())).collect::<Vec<_>>()
        };
        accounts.enter(&here, "ada", ("dburi", " mongodb://canary ")).await.unwrap();
        accounts.enter(&here, "ada", ("region", "eu")).await.unwrap();
        accounts.enter(&here, "ada", ("region", "us")).await.unwrap();
        assert_eq!(entered(&here, "ada").await, ["dburi=mongodb://canary", "region=us"]);
        assert!(entered(&here, "bob").await.is_empty());
        assert!(entered(&wanted("https://evil.test/"), "ada").await.is_empty());
        accounts.enter(&here, "ada", ("region", "")).await.unwrap();
        assert_eq!(entered(&here, "ada").await, ["dburi=mongodb://canary"]);
        for (key, value) in [("other", "x"), ("dburi", "a\r\nx-admin: 1"), ("dburi", "é"), ("dburi", &"x".repeat(5000))]
        {
            accounts.enter(&here, "ada", (key, value)).await.unwrap_err();
        }
        let rows = crate::store::variables(store, "ada", "mongo").await.unwrap();
        assert!(rows.len() == 1 && !rows[0].1.contains("canary"), "{rows:?}");
    })
    .await;
}
