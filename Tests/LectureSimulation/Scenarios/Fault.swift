/// What a server may do to one request.
package enum Fault: String, Codable, Sendable, CaseIterable {
    // Below HTTP.
    case refused
    case unresolved
    case broken
    case cut
    case stalled
    case silent
    case streamReset
    case untrusted
    // Statuses without the object.
    case noContent
    case notModified
    case unauthorised
    case forbidden
    case missing
    case gone
    case proxyCredentials
    case timeout
    case precondition
    case unsatisfied
    case unsatisfiedOtherTotal
    case legal
    case broke
    case badGateway
    // Waits.
    case waitSeconds
    case waitDate
    case waitNonsense
    case waitNothing
    case waitYear
    case tooMany
    // Redirects.
    case moved
    case movedRound
    case movedNowhere
    // Bodies that differ from the request.
    case ignoresRange
    case shiftedRange
    case shiftedBytes
    case wrongTotal
    case otherValidator
    case page
    case coded
    case multipart
    case shortRange
    case longBody
    case garbageRange
    case noRange
    case twoLengths
    case badLength
    case emptyBody

    /// What a fault excuses.
    package enum Kind: Sendable {
        /// Transient: an attempt.
        case passing
        /// The server asks to wait.
        case wait
        /// The answer is valid, only unusual.
        case lawful
        /// The item may fail at once.
        case final
        /// The URL has expired.
        case urlOver
        /// Nothing in the answer shows that the bytes are wrong; only a digest does.
        case indistinguishable
    }

    /// What it excuses.
    package var kind: Kind {
        switch self {
        case .refused, .unresolved, .broken, .cut, .stalled, .silent, .streamReset, .timeout, .broke, .badGateway:
            .passing
        case .waitSeconds, .waitDate, .waitNonsense, .waitNothing, .waitYear, .tooMany: .wait
        case .moved, .ignoresRange, .shortRange: .lawful
        case .unauthorised, .forbidden, .missing, .gone: .urlOver
        case .shiftedBytes: .indistinguishable
        case .untrusted, .noContent, .notModified, .proxyCredentials, .precondition, .unsatisfied,
            .unsatisfiedOtherTotal, .legal, .movedRound, .movedNowhere, .shiftedRange, .wrongTotal, .otherValidator,
            .page, .coded, .multipart, .longBody, .garbageRange, .noRange, .twoLengths, .badLength, .emptyBody:
            .final
        }
    }
}
