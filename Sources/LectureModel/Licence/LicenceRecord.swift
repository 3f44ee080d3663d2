/// The stored licence of one lecture: the policy, its usage, and what a server or a clock has reported since. A row of
/// the ledger, without the raw token it came from.
package struct LicenceRecord: Hashable, Sendable {
    /// How the right was proven.
    package enum Form: Int, Sendable, CaseIterable {
        /// The signed answer of a DRM callback.
        case callback = 0
        /// A licence file.
        case file = 1
    }

    /// How the right was proven.
    package var form: Form
    /// What is permitted.
    package var policy: LicencePolicy
    /// How many plays were used.
    package var countUsed = 0
    /// How much play time was used, in the unit of the policy.
    package var playTimeUsed: Duration = .zero
    /// Whether its token verified when it was stored.
    package var isVerified: Bool
    /// The thumbprint (RFC 7638) of the device key it is bound to (`cnf`, RFC 7800); `nil` when it is bound to none.
    package var deviceThumbprint: [UInt8]?
    /// Whether a server has ended it (`content_expired`).
    package var isForceExpired = false
    /// Whether a server has ordered the file's removal (`content_delete`).
    package var isDeleted = false
    /// Whether it was once seen past its end at a trusted time. A clock that is set back does not revive it.
    package var wasSeenExpired = false

    /// Creates an unused licence.
    ///
    /// - Parameters:
    ///   - form: how the right was proven.
    ///   - policy: what is permitted.
    ///   - isVerified: whether its token verified.
    package init(form: Form, policy: LicencePolicy, isVerified: Bool) {
        (self.form, self.policy, self.isVerified) = (form, policy, isVerified)
    }

    /// How many plays are left; `nil` for no limit.
    package var countLeft: Int? { policy.countLimit.map { max(0, $0 - countUsed) } }

    /// How much play time is left; `nil` for no limit.
    package var playTimeLeft: Duration? { policy.playTimeLimit.map { max(.zero, $0 - playTimeUsed) } }
}
