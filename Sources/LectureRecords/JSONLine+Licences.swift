package import LectureFormats
package import LectureKit
package import LectureModel

/// The lines about licences. See ``JSONLine``.
extension JSONLine {
    /// One licence.
    ///
    /// - Parameters:
    ///   - licence: as validated now.
    ///   - title: the lecture's title; nil when the lecture was removed.
    /// - Returns: the line.
    package static func licence(_ licence: LicenceStatus, title: String?) -> String {
        line { writer in
            writer.member("record", "licence")
            writer.member("key", licence.key.text)
            writer.member("title", title)
            judgement(licence, &writer)
            writer.member("server", licence.server.isEmpty ? nil : licence.server)
            writer.member("issued_ms", licence.issued?.milliseconds)
            writer.member("granted_ms", licence.granted?.milliseconds)
            writer.member("checked_ms", licence.checked?.milliseconds)
            writer.member("attempts", licence.attempts)
            writer.member("next_attempt_ms", licence.nextAttempt?.milliseconds)
            problem(licence.error, &writer)
        }
    }

    /// The member `licence`, the same in all lines about a lecture.
    ///
    /// - Parameters:
    ///   - licence: as validated now.
    ///   - writer: what it is written to.
    package static func judgement(_ licence: LicenceStatus, _ writer: inout JSONWriter) {
        writer.object("licence") { writer in
            writer.member("verdict", licence.isPlayable ? "playable" : "refused")
            writer.array("reasons") { writer in
                for reason in licence.reasons { writer.element(reason.name) }
            }
            writer.member("form", licence.form?.rawValue)
            writer.member("starts_ms", licence.policy?.startsAt?.milliseconds)
            writer.member("expires_ms", licence.policy?.expiresAt?.milliseconds)
            writer.member("check_ms", licence.policy?.checkAt?.milliseconds)
            if licence.policy?.checksEveryPlay == true { writer.member("checks_every_play", true) }
            writer.member("count_left", licence.countLeft)
            writer.member("count_used", licence.form == nil ? nil : licence.countUsed)
            writer.member("playtime_left_s", licence.playTimeLeft.map { $0.milliseconds / 1000 })
            writer.member("playtime_used_s", licence.form == nil ? nil : licence.playTimeUsed.milliseconds / 1000)
        }
    }

    /// A licence server has granted or ended a licence, or revoked a lecture.
    ///
    /// - Parameters:
    ///   - key: the lecture's key.
    ///   - change: `granted`, `ended` or `deleted`.
    /// - Returns: the line.
    package static func licenceChanged(_ key: ContentKey, change: String) -> String {
        line { writer in
            writer.member("event", "licence")
            writer.member("key", key.text)
            writer.member("change", change)
        }
    }

    /// A licence was renewed, or could not be and is unchanged.
    ///
    /// - Parameters:
    ///   - key: the lecture's key.
    ///   - current: 1…count, each once.
    ///   - count: the number of licences in the batch.
    ///   - licence: as validated now; nil when it failed.
    ///   - error: why it failed.
    /// - Returns: the line.
    package static func renewed(
        _ key: ContentKey, current: Int, count: Int, licence: LicenceStatus?, error: LectureError?
    ) -> String {
        line { writer in
            writer.member("event", error == nil ? "renewed" : "error")
            writer.member("key", key.text)
            writer.member("cur", current)
            writer.member("count", count)
            if let licence { judgement(licence, &writer) }
            problem(error, &writer)
        }
    }

    /// The last line of a renewal.
    ///
    /// - Parameters:
    ///   - summary: the result.
    ///   - elapsed: how long it took.
    /// - Returns: the line.
    package static func renewalSummary(_ summary: RenewalReport, elapsed: Duration) -> String {
        line { writer in
            writer.member("event", "summary")
            writer.member("total", summary.total)
            writer.member("renewed", summary.renewed)
            writer.member("failed", summary.failed)
            writer.member("waiting", summary.waiting)
            writer.member("playable", summary.playable)
            writer.member("need_grant", summary.unbelieved.count)
            writer.member("left", summary.left.count)
            writer.member("continued", summary.isContinued)
            writer.member("elapsed_s", Double(elapsed.milliseconds) / 1000)
        }
    }

    /// One licence of a renewal's plan.
    ///
    /// - Parameter planned: its key, server and deadline.
    /// - Returns: the line.
    package static func planned(_ planned: PlannedRenewal) -> String {
        line { writer in
            writer.member("record", "renewal")
            writer.member("key", planned.key.text)
            writer.member("server", planned.server)
            writer.member("deadline_ms", planned.deadline?.milliseconds)
            writer.member("request", planned.request)
            writer.member("next_attempt_ms", planned.notBefore?.milliseconds)
        }
    }

    /// A notice not yet delivered to a licence server.
    ///
    /// - Parameter callback: the pending notice.
    /// - Returns: the line.
    package static func pendingCallback(_ callback: PendingCallbackStatus) -> String {
        line { writer in
            writer.member("record", "debt")
            writer.member("key", callback.key.text)
            writer.member("kind", callback.kind)
            writer.member("since_ms", callback.since.milliseconds)
            writer.member("attempts", callback.attempts)
            writer.member("next_attempt_ms", callback.nextAttempt?.milliseconds)
            problem(callback.error, &writer)
        }
    }
}
