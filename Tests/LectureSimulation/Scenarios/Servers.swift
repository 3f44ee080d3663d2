import LectureDownload
import LectureModel

/// The servers of one scenario: they serve the lectures, apply the scenario's faults, and count what they did.
final class Servers {
    /// A lecture on its servers.
    final class Served {
        let lecture: Lecture
        /// The first server's current bytes.
        var bytes: [UInt8]
        /// All versions that were served as a whole.
        var versions: [[UInt8]]
        var tag = 1
        /// Requests for the media so far.
        var requests = 0
        /// Requests to the gateway or the resolver.
        var renewals = 0
        /// Requests since the URL was renewed.
        var urlUses = 0
        /// Applied faults.
        var faults: [Fault] = []
        /// Answers that broke or never came because of the network.
        var accidents = 0
        var hasChanged = false
        /// Wrong bytes were served that no client can detect.
        var isIndistinguishable = false
        /// Bytes of the media that were delivered.
        var delivered = 0

        init(_ lecture: Lecture, _ bytes: [UInt8]) {
            self.lecture = lecture
            self.bytes = bytes
            versions = [bytes]
        }

        /// Whether a server never comes back, as with a network that stays down, or an object without a length ends
        /// before the requested size, which looks like a broken connection.
        var neverComes: Bool {
            lecture.mirrors.contains(.gone) || (lecture.knowsSize && lecture.hidesLength && hasChanged)
        }

        /// Whether a client can detect that the object changed.
        var hasValidator: Bool { lecture.hasTag || lecture.hasDate }
    }

    private enum Route {
        case media(Int)
        case mirror(Int, Int)
        case gateway(Int)
        case picture(Int)
    }

    let scenario: Scenario
    let world: VirtualWorld
    let served: [Served]
    private var routes: [String: Route] = [:]

    init(_ scenario: Scenario, world: VirtualWorld) {
        self.scenario = scenario
        self.world = world
        served = scenario.lectures.enumerated().map { number, lecture in
            Served(lecture, lectureBytes(lecture.size, seed: scenario.seed &* 31 &+ UInt64(number)))
        }
        for (number, lecture) in scenario.lectures.enumerated() {
            routes[mediaURL(number)] = .media(number)
            routes["\(mediaURL(number))-moved"] = .media(number)
            for mirror in lecture.mirrors.indices { routes[mirrorURL(number, mirror)] = .mirror(number, mirror) }
            routes[gatewayURL(number)] = .gateway(number)
            routes["http://pics.example/\(number).jpg"] = .picture(number)
        }
    }

    /// Whether one of them has asked to wait for longer than a run lasts.
    var hasAskedForAYear: Bool { served.contains { $0.faults.contains(.waitYear) } }

    /// Whether a lecture is awaited that never comes.
    var neverComes: Bool { served.contains(where: \.neverComes) }

    // MARK: Addresses

    func mediaURL(_ number: Int) -> String { "http://s\(scenario.lectures[number].server).example/\(number).mp4" }
    func mirrorURL(_ number: Int, _ mirror: Int) -> String { "http://m\(mirror).example/\(number).mp4" }
    func gatewayURL(_ number: Int) -> String { "http://gate.example/s/\(number)" }

    /// The source of the request for a lecture.
    func sourceURL(_ number: Int) -> String {
        switch scenario.lectures[number].source {
        case .gateway: gatewayURL(number)
        case .direct: mediaURL(number)
        case .resolver: signedURL(number)
        }
    }

    /// A URL that expires after some requests.
    func signedURL(_ number: Int) -> String {
        let served = served[number]
        return served.lecture.urlRequests == nil ? mediaURL(number) : "\(mediaURL(number))?\(served.renewals)"
    }

    /// The lecture of a media URL; nil for other URLs.
    func lecture(of url: String) -> Int? {
        switch routes[Self.plain(url)] {
        case .media(let number), .mirror(let number, _): number
        case .gateway, .picture, nil: nil
        }
    }

    private static func plain(_ url: String) -> String {
        url.firstIndex(of: "?").map { String(url[..<$0]) } ?? url
    }

    /// The application's resolver is asked.
    func resolve(_ url: String) -> [String] {
        guard let number = lecture(of: url) else { return [] }
        served[number].renewals += 1
        served[number].urlUses = 0
        return [signedURL(number)]
    }

    // MARK: Answers

    func answer(to request: TransferRequest) -> Answer {
        switch routes[Self.plain(request.url)] {
        case .media(let number): media(request, served[number], number, mirror: nil)
        case .mirror(let number, let mirror): media(request, served[number], number, mirror: mirror)
        case .gateway(let number): descriptor(number)
        case .picture(let number):
            number % 2 == 0 ? ServedFile(lectureBytes(30_000, seed: 5)).answer(to: request) : Answer(404)
        case nil: Answer(404)
        }
    }

    private func descriptor(_ number: Int) -> Answer {
        let served = served[number]
        served.renewals += 1
        served.urlUses = 0
        let licence = scenario.work.isWhole == true ? ",\"drm\":{\"callback_url\":\"\(PartnerServers.licences)\"}" : ""
        let mirrors = served.lecture.mirrors.indices.map { "\"\(mirrorURL(number, $0))\"" }.joined(separator: ",")
        let picture = served.lecture.hasPicture ? ",\"snapshot_url\":\"http://pics.example/\(number).jpg\"" : ""
        return .document(
            """
            {"version":1,"media_content_key":"lecture-\(number)","title":"Week \(number)",\
            "content_type":"downloading","downloadable":true,\
            "media":{"url":"\(signedURL(number))","mirrors":[\(mirrors)]}\(picture)\(licence)}
            """, type: ContentDescriptor.mediaType)
    }

    private func media(_ request: TransferRequest, _ served: Served, _ number: Int, mirror: Int?) -> Answer {
        served.requests += 1
        follow(served)
        let kind = mirror.map { served.lecture.mirrors[$0] }
        if kind == .gone { return gone(served) }
        if mirror == nil, let limit = served.lecture.urlRequests {
            served.urlUses += 1
            let isStale = request.url != signedURL(number) && !request.url.hasSuffix("-moved")
            if served.urlUses > limit || isStale {
                served.faults.append(.forbidden)
                return Answer(403)
            }
        }
        var file = ServedFile(served.bytes)
        file.etag = served.lecture.hasTag ? "\"v\(served.tag)\"" : nil
        file.lastModified = served.lecture.hasDate ? Self.dates[served.tag % Self.dates.count] : nil
        file.hasRanges = served.lecture.hasRanges
        file.hidesLength = served.lecture.hidesLength
        if kind == .otherTag, file.etag != nil { file.etag = "\"other\(served.tag)\"" }
        if kind == .otherBytes {
            file.bytes = lectureBytes(file.bytes.count, seed: scenario.seed &+ 4711)
            if !served.versions.contains(where: { areSame($0, file.bytes) }) { served.versions.append(file.bytes) }
        }
        var answer = file.answer(to: request)
        answer.latency = .milliseconds(world.some(1...max(1, scenario.weather.latency)))
        let pace = scenario.weather.pace
        answer.pace = world.some(pace[0]...max(pace[0], pace[1])) << 10
        for trouble in scenario.troubles where trouble.lecture == number {
            guard (trouble.request..<trouble.request + trouble.count).contains(served.requests) else { continue }
            served.faults.append(trouble.fault)
            world.record("    \(trouble.fault) \(trouble.value)")
            apply(trouble, to: &answer, request, served, file)
            return answer
        }
        return weathered(answer, served)
    }

    private func gone(_ served: Served) -> Answer {
        served.accidents += 1
        return .failure(7)
    }

    /// A day for each version; strong validators need a day between the two dates of an answer.
    private static let dates = [
        "Sun, 12 Nov 2023 10:00:00 GMT", "Mon, 13 Nov 2023 10:00:00 GMT", "Fri, 10 Nov 2023 10:00:00 GMT",
    ]

    private func follow(_ served: Served) {
        for change in served.lecture.changes where change.request == served.requests {
            turn(served, growing: change.grows, keepingValidators: change.keepsValidators)
        }
    }

    /// The object changes.
    func turn(_ served: Served, growing: Int, keepingValidators: Bool) {
        let size = max(0, served.bytes.count + growing)
        served.bytes = lectureBytes(size, seed: scenario.seed &* 31 &+ UInt64(1000 + served.versions.count))
        served.versions.append(served.bytes)
        served.hasChanged = true
        if keepingValidators || !served.hasValidator { served.isIndistinguishable = true } else { served.tag += 1 }
        world.record("    the object is another one now, \(size) bytes")
    }

    private func weathered(_ answer: Answer, _ served: Served) -> Answer {
        guard served.requests <= scenario.weather.untilRequest else { return answer }
        var answer = answer
        if world.chance(scenario.weather.losses) {
            served.accidents += 1
            return world.chance(70) ? .failure(world.chance(50) ? 7 : 56) : Answer(503)
        }
        if answer.body.count > 1, world.chance(scenario.weather.breaks) {
            served.accidents += 1
            answer.breaksAfter = world.some(0...answer.body.count - 1)
            answer.curl = world.chance(50) ? 56 : 18
        }
        return answer
    }
}
