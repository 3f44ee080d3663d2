package import LectureFormats
package import LectureModel

/// Which redirects are followed, and which fields are sent along (RFC 9110 section 15.4).
package enum RedirectPolicy {
    /// How many redirects one request may go through.
    package static let limit = 10

    /// The fields that are sent to another origin: everything else may be a credential.
    package static let harmless: Set<String> = ["accept", "accept-encoding", "range", "if-range", "user-agent"]

    /// Checks one redirect.
    ///
    /// - Parameters:
    ///   - url: where the redirect leads, absolute.
    ///   - origin: the origin that sent it.
    ///   - hop: the number of this redirect within its request, from 1.
    /// - Returns: the origin it leads to.
    /// - Throws: `LectureError(.redirectLoop)` after ten hops; `LectureError(.redirectRefused)` for another scheme than
    ///   http and https, for a step from https to http, for a URL that carries user information (RFC 9110 section
    ///   4.2.4: treat it as an error), and for a URL that cannot be read.
    package static func follow(_ url: String, from origin: Origin, hop: Int) throws(LectureError) -> Origin {
        if hop > limit { throw LectureError(.redirectLoop) }
        let target: Origin
        do throws(LectureError) {
            let parts = try URLParts(url)
            target = try Origin(parts)
            if parts.authority.utf8.contains(UInt8(ascii: "@")) {
                throw LectureError(.redirectRefused, detail: "a redirect with user information")
            }
        } catch {
            throw LectureError(.redirectRefused, detail: error.detail)
        }
        if origin.isSecure, !target.isSecure {
            throw LectureError(.redirectRefused, detail: "from \(origin) to \(target)")
        }
        return target
    }

    /// The request fields that are sent along.
    ///
    /// - Parameters:
    ///   - fields: the fields of the first request.
    ///   - start: the origin of the first request. Not that of the previous hop: a credential that was dropped must not
    ///     come back through a second redirect unless that leads to its own origin.
    ///   - target: where the redirect leads.
    /// - Returns: all fields within one origin, the harmless ones to another.
    package static func fields(_ fields: [HeaderField], from start: Origin, to target: Origin) -> [HeaderField] {
        start == target ? fields : fields.filter { harmless.contains(FieldText.lowercased($0.name)) }
    }
}
