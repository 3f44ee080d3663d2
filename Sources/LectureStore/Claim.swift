import LectureModel

/// The one rule for what a process has claimed: lectures, licences of a batch renewal, pending callbacks, in-flight
/// batches, events on their way to webhooks. ``SharedClaim`` is the rule for streams, which several processes may claim
/// at once.
///
/// A claim is the number of the process's row of `owner` in the claimed row:
///
///     free (NULL) ── take: by anyone ──► held (owner.id) ── release, settle: by its owner ──► free
///                                          │  ▲  └───── the owner's row is deleted ─────────► free
///                                          └──┘ take: by its owner
///
/// * One statement checks that a row is free and writes the owner, so that one of two processes gets it.
/// * A row that waits (``RetryWait``) is due, and found by those who look for work, when its wait is over.
/// * The row of an owner is deleted when its process ends or is found dead by its lock, and the schema frees with it
///   what it had claimed. So no claim expires, and no clock is involved.
/// * A lecture has a fence as well: a number that every take increments. A process works on a lecture in many
///   transactions, and each of them names the fence, so that one that slept through the loss of its claim changes
///   nothing, even if the row has an owner again. Everything else is settled by one answer, which counts even if the
///   claim is lost by then.
struct Claim {
    /// The table of the rows that are claimed.
    let table: String
    /// The column with the owner.
    let owner: String
    /// The column with the number of the last claim; nil for rows that have none.
    let fence: String?

    /// A lecture that is downloaded, repaired or removed.
    static let content = Claim(table: "content", owner: "lease_owner", fence: "lease_fence")
    /// A licence that a batch renews.
    static let renewal = Claim(table: "renewal", owner: "owner_id", fence: nil)
    /// A callback that is sent.
    static let callback = Claim(table: "debt", owner: "owner_id", fence: nil)
    /// A request with reports whose result is unknown.
    static let inFlightBatch = Claim(table: "lms_flight", owner: "owner_id", fence: nil)
    /// An event that is sent to an endpoint.
    static let webhookDelivery = Claim(table: "webhook_delivery", owner: "owner_id", fence: nil)

    // MARK: Conditions

    /// No process has claimed the row.
    var isFree: String { "\(table).\(owner) IS NULL" }

    /// A process has claimed the row.
    var isHeld: String { "\(table).\(owner) IS NOT NULL" }

    /// This owner has claimed the row.
    ///
    /// - Parameter value: the parameter with the owner.
    /// - Returns: a condition, NULL for a free row.
    func isHeld(by value: String) -> String { "\(table).\(owner) = \(value)" }

    /// Another owner has claimed the row.
    ///
    /// - Parameter value: the parameter with the owner.
    /// - Returns: a condition.
    func isHeld(byOtherThan value: String) -> String { "\(isHeld) AND \(table).\(owner) <> \(value)" }

    /// A lecture is still held under the claim with this number.
    ///
    /// - Parameter value: the parameter with the fence.
    /// - Returns: a condition.
    static func isHeld(under value: String) -> String { "content.lease_fence = \(value) AND \(content.isHeld)" }

    /// The row is free, and does not wait.
    ///
    /// - Parameter now: the parameter with the wall clock.
    /// - Returns: a condition.
    func isDue(_ now: String) -> String { "\(isFree) AND \(RetryWait.isOver(now, of: table))" }

    /// The row is free, and in one of the groups that are due.
    ///
    /// - Parameter group: which; for queues that are read in an order.
    /// - Returns: a condition, with the wall clock as its only parameter where ``Waiting/takesNow``.
    func isDue(_ group: Waiting) -> String { "\(isFree) AND \(group.sql)" }

    // MARK: Changes

    /// Claims rows: follows `SET`.
    ///
    /// - Parameter value: the parameter with the owner.
    /// - Returns: assignments.
    func taken(by value: String) -> String {
        "\(owner) = \(value)" + (fence.map { ", \($0) = \($0) + 1" } ?? "")
    }

    /// Frees rows: follows `SET`. The fence stays.
    var freed: String { "\(owner) = NULL" }

    /// Claims one row if it is free, or held by the same owner; otherwise it changes nothing.
    ///
    /// - Parameters:
    ///   - row: the condition that finds the row, with the parameters from `?2` on.
    ///   - changes: other columns that change with the claim, with a comma before.
    /// - Returns: a statement with the owner as its first parameter.
    func take(_ row: String, changing changes: String = "") -> String {
        """
        UPDATE \(table) SET \(taken(by: "?1"))\(changes) WHERE \(row) AND (\(isFree) OR \(isHeld(by: "?1")))
        """
    }
}

/// The rule for what several processes may claim at once: streams, nothing of which is evicted meanwhile. A claim is a
/// row with the claimed row and the owner, and is deleted with its owner.
struct SharedClaim {
    /// The table of the claims.
    let table: String
    /// The column with the claimed row.
    let row: String

    /// A version of media that is streamed.
    static let stream = SharedClaim(table: "stream_use", row: "item_id")

    /// No process has claimed a row.
    ///
    /// - Parameter value: the parameter or the column with the row.
    /// - Returns: a condition.
    func isFree(_ value: String) -> String { "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(table).\(row) = \(value))" }

    /// Claims a row; nothing changes for one that this owner has claimed.
    ///
    /// - Returns: a statement with the row and the owner as its parameters.
    var take: String { "INSERT OR IGNORE INTO \(table)(\(row), owner_id) VALUES (?, ?)" }

    /// Frees a row from the claim of one owner.
    ///
    /// - Returns: a statement with the row and the owner as its parameters.
    var release: String { "DELETE FROM \(table) WHERE \(row) = ? AND owner_id = ?" }
}

/// What claims rows and checks claims; made once, since it runs for each row.
enum ClaimStatements {
    /// Claims a lecture, with the time as third parameter.
    static let takeContent = Claim.content.take("id = ?2", changing: ", updated_ms = ?3")
    /// Whether a lecture is held under a fence.
    static let holdsContent = "SELECT 1 FROM content WHERE id = ? AND \(Claim.isHeld(under: "?"))"
    /// Releases a lecture held under a fence.
    static let releaseContent =
        "UPDATE content SET \(Claim.content.freed) WHERE id = ? AND \(Claim.isHeld(under: "?"))"
    /// Claims a licence of a run.
    static let takeRenewal = Claim.renewal.take("run_id = ?2 AND licence_id = ?3")
    /// Claims licences of a run.
    static let takeRenewals = ListedStatement { Claim.renewal.take("run_id = ?2 AND licence_id IN \($0)") }
    /// Claims a callback.
    static let takeCallback = Claim.callback.take("id = ?2")
    /// Claims a request.
    static let takeInFlightBatch = Claim.inFlightBatch.take("id = ?2")
    /// Claims an event on its way.
    static let takeWebhookDelivery = Claim.webhookDelivery.take("id = ?2")
    /// Releases an event on its way.
    static let releaseWebhookDelivery = """
        UPDATE webhook_delivery SET \(Claim.webhookDelivery.freed)
        WHERE id = ? AND \(Claim.webhookDelivery.isHeld(by: "?"))
        """
    /// Whether an owner holds a request.
    static let holdsInFlightBatch =
        "SELECT 1 FROM lms_flight WHERE id = ? AND \(Claim.inFlightBatch.isHeld(by: "?"))"
    /// Deletes a request of an owner that has no reports any more.
    static let endInFlightBatch = """
        DELETE FROM lms_flight WHERE id = ?1 AND \(Claim.inFlightBatch.isHeld(by: "?2"))
            AND NOT EXISTS (SELECT 1 FROM report WHERE flight_id = ?1)
        """
    /// Releases a request of an owner.
    static let releaseInFlightBatch = """
        UPDATE lms_flight SET \(Claim.inFlightBatch.freed) WHERE id = ? AND \(Claim.inFlightBatch.isHeld(by: "?"))
        """
}
