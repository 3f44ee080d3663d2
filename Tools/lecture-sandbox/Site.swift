import FoundationEssentials

/// All request handlers: shared by all connections of both ports.
final class Site: Sendable {
    let course: Course
    let log = RequestLog()
    let pacing: Pacing
    let drm: DRMCallback
    let play: PlayCallback
    let lms = LMSReceiver()
    private let bookmarks = BookmarkServer()
    private let root: String
    /// Created on first use, because its keys take time that most runs do not need.
    private let issuer = Locked<Issuer?>(nil)
    private let gateway: Gateway
    private let faults: Locked<FaultBoard>
    private let globalFaults: [Fault]
    private let digests: DigestHeaders
    private let requiresLease: Bool

    /// Builds the site.
    ///
    /// - Parameters:
    ///   - options: the options of the command line.
    ///   - secret: signs tokens and leases.
    ///   - root: the directory of the issuer.
    ///   - drm: the callback that grants licences.
    ///   - play: the callback that permits plays of streams.
    ///   - pacing: delays answers.
    /// - Throws: ``Problem`` when the course cannot be read.
    init(
        options: ServeOptions, secret: Secret, root: String, drm: DRMCallback, play: PlayCallback, pacing: Pacing
    ) throws {
        course = try Course(directory: options.course, generated: options.generated)
        gateway = Gateway(
            secret: secret, course: course, leaseMilliseconds: Int64(options.leaseSeconds) * 1000,
            licensesAll: options.licensesAll, reportsAll: options.reportsAll, describesAll: options.describesAll)
        (self.drm, self.play) = (drm, play)
        self.root = root
        faults = Locked(FaultBoard())
        globalFaults = options.faults
        digests = options.digests
        requiresLease = options.requiresLease
        self.pacing = pacing
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - number: the number of its log entry, which gets the status and the faults.
    /// - Returns: the answer.
    func reply(to request: Request, logNumber number: Int) -> Reply {
        let reply: Reply
        do {
            reply = try route(request, logNumber: number)
        } catch {
            reply = .text(400, "\((error as? Problem)?.text ?? "\(error)")\n")
        }
        log.update(number) { $0.status = reply.status }
        return reply
    }

    private func route(_ request: Request, logNumber number: Int) throws -> Reply {
        let path = request.target.path
        guard Self.isLoopback(request.fields["host"]) else { return .text(421, "only for this machine\n") }
        if path.hasPrefix("/_") { return try control(request) }
        let isCallback = DRMCallback.isPath(path)
        let isPlay = PlayCallback.isPath(path)
        let reportForm = LMSReceiver.form(path)
        let isBookmarks = path == BookmarkServer.path
        let takesPosts = isCallback || isPlay || reportForm != nil || isBookmarks
        guard ["GET", "HEAD"].contains(request.method) || takesPosts else {
            var reply = Reply.text(405, "GET and HEAD only\n")
            reply.fields.append(("Allow", "GET, HEAD"))
            return reply
        }
        let own = try Fault.list(request.target.query("fault") ?? "")
        let met = faults.withLock { $0.meet(path, own: globalFaults + own) }
        if !met.isEmpty { log.update(number) { $0.faults = met.map(\.word.text).joined(separator: ",") } }
        let replacement = Reply.replacement(met, for: request)
        if isCallback {
            // Called even when a fault replaces its answer, so that its log has every request.
            var reply = drm.reply(to: request, logNumber: number, fault: replacement)
            reply.apply(met)
            return reply
        }
        if isPlay {
            var reply = play.reply(to: request, fault: replacement)
            reply.apply(met)
            return reply
        }
        if let reportForm {
            var reply = replacement ?? lms.reply(to: request, reportForm)
            reply.apply(met)
            return reply
        }
        if var reply = replacement {
            reply.apply(met)
            return reply
        }
        if isBookmarks {
            // A fault may lose the answer; the changes are applied all the same.
            var reply = try bookmarks.reply(to: request)
            reply.apply(met)
            return reply
        }
        if let name = Self.mediaName(path) { return media(name, request, met) }
        var reply = try plain(request)
        reply.apply(met)
        return reply
    }

    /// A name of this machine, with or without a port, so that foreign web pages cannot reach the server.
    private static func isLoopback(_ host: String?) -> Bool {
        guard let host else { return true }
        let name = host.split(separator: ":").first ?? ""
        return name == "localhost" || name == "127.0.0.1"
    }

    // MARK: Lectures

    /// The last component of `/media/NAME` or `/mirror…/media/NAME`.
    private static func mediaName(_ path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        switch parts.count {
        case 2 where parts[0] == "media": return String(parts[1])
        case 3 where parts[0].hasPrefix("mirror") && parts[1] == "media": return String(parts[2])
        default: return nil
        }
    }

    private func media(_ name: String, _ request: Request, _ faults: [Fault]) -> Reply {
        guard let media = course.media(named: name) else { return .text(404, "no such lecture\n") }
        let isLeased = request.target.query("exp") != nil || request.target.query("sig") != nil
        if isLeased || requiresLease {
            guard gateway.secret.accepts(request.target, now: nowMilliseconds()) else {
                return .text(403, "this URL has expired; ask the gateway for a new one\n")
            }
        }
        return MediaOrigin(
            request: request, media: media, faults: faults, digests: digests,
            sha256: { [course] in course.sha256($0) }
        ).reply()
    }

    // MARK: Everything else

    private func plain(_ request: Request) throws -> Reply {
        let path = request.target.path
        if path == "/s" || path == "/si" || path.hasPrefix("/i/") { return gateway.reply(request) }
        if let list = course.list(String(path.dropFirst()), base: request.base, link: gateway.link) {
            return .text(200, list.text, type: list.type)
        }
        if path.hasPrefix("/digest/") { return try digest(request) }
        if path.hasPrefix(Extras.path), let reply = extra(path) { return reply }
        if path == "/" { return .text(200, "lecture-sandbox: see /course.jsonl and docs/sandbox.md\n") }
        return .text(404, "nothing is here\n")
    }

    /// An image or a text of a lecture.
    private func extra(_ path: String) -> Reply? {
        let parts = path.dropFirst(Extras.path.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entry = course.entry(key: String(parts[0])) else { return nil }
        return Extras(key: entry.key).reply(String(parts[1]))
    }

    /// The SHA-256 of a lecture as `sha256sum` writes it; `?version=1` for the changed one, `&bytes=N` as in the fault.
    private func digest(_ request: Request) throws -> Reply {
        let path = String(request.target.path.dropFirst("/digest".count))
        guard let name = Self.mediaName(path), var media = course.media(named: name) else {
            return .text(404, "no such lecture\n")
        }
        if let version = request.target.query("version").flatMap({ Int($0) }) {
            media = media.changed(toVersion: version, changedCount: request.target.query("bytes").flatMap { Int($0) })
        }
        return .text(200, "\(Text.hex(course.sha256(media)))  \(name)\n")
    }

    // MARK: Control

    private func issue(_ request: Request) throws -> Reply {
        let order = try LicenceOrder(StrictJSON.value(of: request.body), now: nowSeconds())
        let token = try issuer.withLock { held in
            let issuer = try held ?? Issuer(in: root)
            held = issuer
            return try issuer.issue(order)
        }
        return .text(200, token, type: "application/jwt")
    }

    private struct ControlRequest: Decodable {
        let path: String
        let fault: String?
    }

    private func control(_ request: Request) throws -> Reply {
        switch (request.method, request.target.path) {
        case ("POST", "/_control"):
            guard let order = try? JSONDecoder().decode(ControlRequest.self, from: Data(request.body)) else {
                throw Problem.input("expected {\"path\": …, \"fault\": …}")
            }
            let list = try Fault.list(order.fault ?? "")
            faults.withLock { $0.set(order.path, list) }
            return Reply(status: 204)
        case ("POST", "/_reset"):
            faults.withLock { $0.reset() }
            log.reset()
            drm.reset()
            play.reset()
            lms.reset()
            bookmarks.reset()
            return Reply(status: 204)
        case ("GET", "/_log"):
            return .text(200, log.lines(path: request.target.query("path")), type: "application/jsonl; charset=utf-8")
        case ("POST", "/_issue"): return try issue(request)
        case ("GET", "/_status"): return .json(200, log.sums)
        default:
            let reply =
                try drm.control(request) ?? play.control(request) ?? lms.control(request) ?? bookmarks.control(request)
            return reply ?? .text(404, "nothing is here\n")
        }
    }
}
