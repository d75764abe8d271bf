//! Audit entries about sign-ins and accounts. Their tool names start with `account:`; names of
//! agents' tools contain no colon.

use super::token_parts::now_millis;
use config::AuditAddresses;
use ipnet::IpNet;
use serde_json::{Map, Value};
use std::net::IpAddr;
use store::{AuditEntry, AuditOutcome};
use uuid::Uuid;

/// An action on an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccountAction {
    /// Creating the first account, that of an administrator.
    FirstAccount,
    /// Creating an account of one's own.
    SignUp,
    /// Creating an account with an invitation.
    AcceptInvitation,
    /// Signing in with name and password, or at a provider.
    SignIn,
    /// Signing out.
    SignOut,
    /// Ending another session of the account.
    EndSession,
    /// Changing the password.
    ChangePassword,
    /// Creating an API key.
    AddKey,
    /// Deleting an API key.
    DeleteKey,
    /// Linking an identity at a provider.
    LinkIdentity,
    /// Removing an identity at a provider.
    UnlinkIdentity,
    /// Signing in at a provider with other groups than before.
    ChangeGroupRoles,
    /// Setting up an authenticator app, the first one or another one.
    SetUpSecondFactor,
    /// Removing the authenticator app.
    RemoveSecondFactor,
    /// Getting new recovery codes.
    ReplaceRecoveryCodes,
}

impl AccountAction {
    /// All actions with their names in the log.
    pub const ALL: [(Self, &'static str); 15] = [
        (Self::FirstAccount, "account:first_account"),
        (Self::SignUp, "account:sign_up"),
        (Self::AcceptInvitation, "account:accept_invitation"),
        (Self::SignIn, "account:sign_in"),
        (Self::SignOut, "account:sign_out"),
        (Self::EndSession, "account:end_session"),
        (Self::ChangePassword, "account:change_password"),
        (Self::AddKey, "account:add_key"),
        (Self::DeleteKey, "account:delete_key"),
        (Self::LinkIdentity, "account:link_identity"),
        (Self::UnlinkIdentity, "account:unlink_identity"),
        (Self::ChangeGroupRoles, "account:change_group_roles"),
        (Self::SetUpSecondFactor, "account:set_up_second_factor"),
        (Self::RemoveSecondFactor, "account:remove_second_factor"),
        (Self::ReplaceRecoveryCodes, "account:replace_recovery_codes"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    /// Returns the entry for a successful action of a user. `address` is the user's address as
    /// recorded in the log.
    pub fn success_entry(self, user_id: &str, address: Option<&str>, about: Map<String, Value>) -> AuditEntry {
        self.entry(user_id, AuditOutcome::Ok, address, about)
    }

    /// Returns the entry for refused attempts, for example with a wrong password.
    pub(super) fn refused_entry(self, user_id: &str, address: Option<&str>, about: Map<String, Value>) -> AuditEntry {
        self.entry(user_id, AuditOutcome::Refused, address, about)
    }

    fn entry(
        self,
        user_id: &str,
        outcome: AuditOutcome,
        address: Option<&str>,
        mut about: Map<String, Value>,
    ) -> AuditEntry {
        if let Some(address) = address {
            about.insert("address".to_owned(), address.into());
        }
        AuditEntry { outcome, ..audit_row(user_id, self.name(), "", about.into()) }
    }
}

/// Returns an entry for an action that no agent did.
pub fn audit_row(user_id: &str, what: &str, conversation_id: &str, about: Value) -> AuditEntry {
    AuditEntry {
        at: now_millis(),
        user_id: user_id.to_owned(),
        agent_id: String::new(),
        conversation_id: conversation_id.to_owned(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: Uuid::now_v7().to_string(),
        tool: what.to_owned(),
        arguments: about,
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

/// Returns an address as the audit log records it.
pub fn audit_address(address: IpAddr, how: AuditAddresses) -> Option<String> {
    let prefix = match (how, address) {
        (AuditAddresses::None, _) => return None,
        _ if address.is_unspecified() => return Some("unknown".to_owned()),
        (AuditAddresses::Full, _) => return Some(address.to_string()),
        _ if address.is_loopback() => return Some(address.to_string()),
        (AuditAddresses::Network, IpAddr::V4(_)) => 24,
        (AuditAddresses::Network, IpAddr::V6(_)) => 48,
    };
    IpNet::new(address, prefix).ok().map(|network| network.trunc().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_recorded_as_configured() {
        let check = |address: &str, full: &str, network: &str| {
            let address = address.parse().unwrap();
            let seen = [AuditAddresses::Full, AuditAddresses::Network, AuditAddresses::None]
                .map(|how| audit_address(address, how));
            assert_eq!(seen, [Some(full.to_owned()), Some(network.to_owned()), None], "{address}");
        };
        check("203.0.113.77", "203.0.113.77", "203.0.113.0/24");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::/48");
        check("127.0.0.1", "127.0.0.1", "127.0.0.1");
        check("0.0.0.0", "unknown", "unknown");
    }

    #[test]
    fn audit_entries_have_action_and_address() {
        let entry = AccountAction::SignIn.success_entry("ada", Some("203.0.113.0/24"), Map::new());
        assert_eq!(
            (entry.user_id.as_str(), entry.tool.as_str(), entry.outcome),
            ("ada", "account:sign_in", AuditOutcome::Ok)
        );
        assert_eq!(entry.arguments, json!({ "address": "203.0.113.0/24" }));
        assert_eq!(AccountAction::DeleteKey.refused_entry("ada", None, Map::new()).arguments, json!({}));
        for (action, name) in AccountAction::ALL {
            assert_eq!(action.name(), name);
        }
    }
}
