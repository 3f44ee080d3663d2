import LectureFormats
package import LectureModel

/// A gateway's refusal in place of a descriptor: an error status with `{"error": n}` as its body.
///
/// The status alone decides what is done, as with every server; the number only gives the reason.
package enum GatewayRefusal {
    /// How much of such a body is read, in bytes. A longer one is ignored.
    package static let bodyLimit = 4096

    private static let limits = JSONScanner.Limits(depth: 4, items: 100)

    /// Whether the body of an answer may contain a number.
    ///
    /// - Parameter verdict: of an answer to a gateway link.
    /// - Returns: true for a refusal by status that a retry does not change.
    package static func mayBeReported(_ verdict: ResponseVerdict) -> Bool {
        switch verdict {
        case .renewLease: true
        case .refuse(let code): (8400...8599).contains(-code.number)
        case .body, .descriptor, .empty, .changed, .rangeBeyondEnd, .noRanges, .redirect, .wait, .retry: false
        }
    }

    /// Reads the number.
    ///
    /// - Parameter body: the whole body of a refusal.
    /// - Returns: nil unless it is an object with a number that gateways use.
    package static func code(in body: [UInt8]) -> LectureError.Code? {
        guard !body.isEmpty, body.count <= bodyLimit else { return nil }
        do throws(LectureError) {
            let value = try JSONScanner.value(of: body, limits: limits)
            guard let number = value["error"]?.integer.flatMap({ Int(exactly: $0) }),
                LectureError.Code.gatewayNumbers.contains(number)
            else { return nil }
            return .gateway(number)
        } catch {
            return nil
        }
    }

    /// The error of a refusal: the gateway's own number if it sent one, else the status.
    ///
    /// - Parameters:
    ///   - code: what the status means.
    ///   - body: the body, as far as it was read.
    ///   - host: the gateway.
    /// - Returns: the error.
    package static func error(_ code: LectureError.Code, body: [UInt8]?, host: String) -> LectureError {
        guard let reported = body.flatMap({ Self.code(in: $0) }) else { return LectureError(code, detail: host) }
        return LectureError(reported, detail: host, cause: "HTTP \(-code.number - 8000)")
    }
}
