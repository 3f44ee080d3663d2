package import LectureHTTP

/// A request that was judged: its sender is known as far as it has proved anything.
package struct SiteRequest: Sendable {
    /// The head. Its method is never HEAD: that is answered as GET, without the body.
    package let head: HTTPRequestHead
    /// The segments of the path, percent-decoded; `/` has one empty segment. None is `.` or `..`, and none has a slash,
    /// a backslash or a control character.
    package let path: [String]
    /// The body, whole.
    package let body: [UInt8]
    /// Where the client is.
    package let peer: HTTPPeer?
    /// Who asks; nil for a client that has proved nothing.
    package let person: SitePerson?
    /// What a form has to send as `form_token` to change something; nil without a session.
    package let formToken: String?

    /// The fields of a form (`application/x-www-form-urlencoded`); empty for another body.
    package var form: FormFields {
        let type = head.value("content-type")?.prefix { $0 != ";" }.lowercased()
        return FormFields(type == "application/x-www-form-urlencoded" ? body : [])
    }
}

extension HTTPRequestHead {
    /// Path and query as they are written in an address.
    ///
    /// - Parameter names: fields of the query that are left out.
    /// - Returns: the address, without scheme and host.
    func address(without names: Set<String> = []) -> String {
        let path = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { FormFields.encoded(String($0)) }.joined(separator: "/")
        let fields = query.filter { !names.contains($0.name) }.map { ($0.name, $0.value) }
        return fields.isEmpty ? path : "\(path)?\(FormFields.text(fields))"
    }
}

/// What answers one method of a path.
package struct SiteRoute: Sendable {
    /// Who may ask.
    package enum Need: Sendable, Hashable {
        /// Everybody: for instance the sign-in page and the health of the service.
        case nothing
        /// A client with this role.
        case role(SiteRole)
    }

    /// Answers a request. An answer that is nil was, or will be, given through the exchange: an event stream, media.
    package typealias Answer = @Sendable (_ request: SiteRequest, _ exchange: HTTPExchange) async -> HTTPAnswer?

    /// Who may ask.
    package let need: Need
    /// Whether it is a page: links of other sites may lead to it, and a browser without a session is sent to the
    /// sign-in page first.
    package let isPage: Bool
    /// Answers.
    package let answer: Answer

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - need: who may ask.
    ///   - isPage: whether a browser shows the answer as a page.
    ///   - answer: answers; it may take time, and runs beside others.
    package init(_ need: Need, isPage: Bool = false, answer: @escaping Answer) {
        (self.need, self.isPage, self.answer) = (need, isPage, answer)
    }
}

/// A part of the site, with paths of its own.
package protocol SitePart: Sendable {
    /// Finds what answers a path. Called on the server's thread; never blocking.
    ///
    /// - Parameter path: as in ``SiteRequest/path``.
    /// - Returns: the routes by method (`GET`, `POST`, `DELETE`, …); nil for a path of another part. HEAD is answered
    ///   by the route of GET. Every other method than GET changes something, and needs proof that the sender means it.
    func routes(_ path: [String]) -> [String: SiteRoute]?
    /// A second has gone by. On a thread of the server's; never blocking.
    func tick()
    /// The server stops: what the part has opened is ended and stored.
    func stop() async
}

extension SitePart {
    /// Nothing.
    package func tick() {}
    /// Nothing.
    package func stop() async {}
}
