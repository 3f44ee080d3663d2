package import LectureFormats
package import LectureModel

/// What the target is configured to answer to a report it accepts.
package enum AnswerForm: String, Sendable, CaseIterable {
    /// An empty body or any JSON.
    case emptyOrJSON = "json"
    /// An empty body or a JSON object with `"ok": true`.
    case ok
    /// An empty body or any text that is not a web page: some old receivers send `OK` or `1`.
    case text
    /// An empty body, or JSON whose member `error` is missing or 0: a bookmark server. Another error is a refusal.
    case noError = "no_error"
    /// Any body, even a page. A captive portal cannot be distinguished from such a target.
    case anything

    /// The default form for a target.
    ///
    /// - Parameter format: the format of its reports.
    package init(_ format: ReportFormat) {
        switch format {
        case .kollus, .xapi: self = .emptyOrJSON
        case .json: self = .ok
        }
    }

    /// Whether the member `error` of an answer says that there is none.
    package static func isNoError(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .integer(0), .bool(false), .string("0"), .string(""): true
        default: false
        }
    }
}

/// What was sent, as far as the verdict on its answer depends on it.
package struct SendExpectation: Hashable, Sendable {
    /// What a good answer looks like.
    package var form: AnswerForm
    /// How many reports were in the request.
    package var count: Int
    /// The URL that it was sent to.
    package var url: String
    /// The id that it was sent under.
    package var id: String
    /// Whether ``id`` names the whole request, so that 409 applies to all of it. With xAPI each statement has its own.
    package var isIDOfWhole: Bool
    /// How often these bytes were already answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// How many redirects led here.
    package var redirects: Int

    /// The number of tries after which 501, 505 and 511 are accepted as final.
    package static let boundedTryLimit = 5
    /// The number of redirects that are followed.
    package static let redirectLimit = 5

    /// Makes an expectation.
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
    /// The whole answer was received.
    case whole
    /// The answer is longer than the part of its body that was kept.
    case long
    /// The connection ended or timed out after the request may have been read.
    case cut
    /// Nothing of the request can have been read: no address, no connection, no TLS.
    case unsent
}

/// What happens to the reports of one request.
package enum SendVerdict: Hashable, Sendable {
    /// The target has them.
    case delivered
    /// They are sent again, the same bytes under the same id, after a backoff and not before the server's wait.
    case keep(KeepReason, wait: Duration?)
    /// They are sent to another address of the same host at once, the same bytes under the same id.
    case follow(url: String)
    /// The request is certainly refused because of its size: its halves are sent under new ids.
    case split
    /// The request is certainly refused and one of its reports may be why: its halves are sent under new ids.
    case bisect
    /// The one report, or all of them after a bounded number of tries, are dead letters.
    case dead(DeadReason)
    /// They stay pending, and the target gets nothing more until it is resumed.
    case suspend(SuspendReason)
}
