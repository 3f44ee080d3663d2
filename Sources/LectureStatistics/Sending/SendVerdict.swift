package import LectureModel

/// What the target is configured to answer to a report it takes.
package enum AnswerForm: String, Sendable, CaseIterable {
    /// An empty body or any JSON.
    case emptyOrJSON = "json"
    /// An empty body or a JSON object with `"ok": true`.
    case ok
    /// An empty body or any text that is no page for people: some old receivers say `OK` or `1`.
    case text
    /// Anything at all, a page too. A captive portal cannot be told from such a target.
    case anything

    /// What a target answers unless it is configured otherwise.
    ///
    /// - Parameter format: how reports go to it.
    package init(_ format: ReportFormat) {
        switch format {
        case .kollus, .xapi: self = .emptyOrJSON
        case .json: self = .ok
        }
    }
}

/// What was sent, as far as the judgement of its answer depends on it.
package struct SendExpectation: Hashable, Sendable {
    /// What a good answer looks like.
    package var form: AnswerForm
    /// How many reports were in the request.
    package var count: Int
    /// The URL that it was sent to.
    package var url: String
    /// The id that it was sent under.
    package var id: String
    /// Whether ``id`` names the whole request, so that 409 speaks of all of it. With xAPI each statement has its own.
    package var isIDOfWhole: Bool
    /// How often these bytes were already answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// How many redirects led here.
    package var redirects: Int

    /// The number of tries after which 501, 505 and 511 are believed.
    package static let boundedTryLimit = 5
    /// The number of redirects that are followed.
    package static let redirectLimit = 5

    /// An expectation.
    ///
    /// - Parameters:
    ///   - form: what a good answer looks like.
    ///   - count: how many reports were in the request.
    ///   - url: the URL that it was sent to.
    ///   - id: the id that it was sent under.
    ///   - isIDOfWhole: whether the id names the whole request.
    ///   - boundedTries: how often these bytes had an answer that allows a bounded number of tries.
    ///   - redirects: how many redirects led here.
    package init(
        form: AnswerForm, count: Int, url: String, id: String, isIDOfWhole: Bool = true, boundedTries: Int = 0,
        redirects: Int = 0
    ) {
        (self.form, self.count, self.url, self.id, self.isIDOfWhole) = (form, count, url, id, isIDOfWhole)
        (self.boundedTries, self.redirects) = (boundedTries, redirects)
    }
}

/// How an exchange ended.
package enum SendEnd: Sendable, CaseIterable {
    /// The answer is here from its first byte to its last.
    case whole
    /// The answer is whole, and longer than the part of its body that was kept.
    case long
    /// The connection ended, or the time, after the request may have been read.
    case cut
    /// Nothing of the request can have been read: no address, no connection, no TLS.
    case unsent
}

/// What becomes of the reports of one request.
package enum SendVerdict: Hashable, Sendable {
    /// The target has them.
    case delivered
    /// They go out again, the same bytes under the same id, after a backoff and not before the server's wait.
    case keep(KeepReason, wait: Duration?)
    /// They go to another address of the same host at once, the same bytes under the same id.
    case follow(url: String)
    /// The request is surely refused because of its size: halves of it go out under new ids.
    case split
    /// The request is surely refused and one of its reports may be why: halves of it go out under new ids.
    case bisect
    /// The one report, or all of them after a bounded number of tries, are dead letters.
    case dead(DeadReason)
    /// They stay pending, and the target gets nothing more until it is resumed.
    case suspend(SuspendReason)
}
