import LectureDownload
import LectureFormats
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// Random worlds: servers that drop, stall, wait and lie; programs that are killed; people who change their minds. The
/// same seed is the same run.
struct RandomScenarios {
    /// How a server lies.
    enum Lie: CaseIterable {
        case none
        case otherValidator
        case changedFile
        case shiftedRange
        case longBody
        case wrongTotal
        case page
    }

    /// One run.
    private struct Story {
        let seed: UInt64
        let scene: Scene
        let key: ContentKey
        /// All bytes that may validly get the final name.
        var lawful: [[UInt8]]
        let knowsDigest: Bool
        let lie: Lie
        /// Whether the server names a version of the file, or the digest is known.
        let canResume: Bool
        var crashes = 0
        /// Bytes received and not yet verified when a program was killed.
        var lost = 0
    }

    @Test(arguments: 0..<8)
    func `whatever happens, the bytes are right or the refusal is clear`(part: Int) throws {
        for seed in Self.seeds(part) { try run(seed: seed) }
    }

    @Test(arguments: 0..<4)
    func `whatever happens, no sealed file reuses a nonce`(part: Int) throws {
        for seed in Self.seeds(part) { try run(seed: seed, seals: true) }
    }

    /// The seeds of a part, so that parts run beside each other.
    private static func seeds(_ part: Int) -> Range<UInt64> {
        let count = UInt64(max(1, RunSize.count(32, soak: 500)))
        return UInt64(part) * count + 1..<UInt64(part + 1) * count + 1
    }

    private func run(seed: UInt64, seals: Bool = false) throws {
        var story = try begin(seed, seals: seals)
        let world = story.scene.world
        let changesAt = world.some(1...4)
        try script(&story, changesAt: changesAt)
        story.crashes = world.some(0...3)
        for _ in 0..<story.crashes {
            for _ in 0..<world.some(1...25) {
                story.scene.program.step()
                story.scene.advance([story.scene.program])
            }
            if world.chance(10) {
                _ = try story.scene.index.targets.setTargetState(story.key, .pause, now: world.now)
                _ = try story.scene.index.targets.setTargetState(story.key, .fetch, now: world.now)
                story.scene.program.setNeedsStep()
            }
            let committed = Int(try #require(try story.scene.content(story.key)).committedBytes)
            story.lost = max(story.lost, story.scene.network.delivered - committed)
            try story.scene.crash(powerCut: world.chance(50))
        }
        try story.scene.rest(within: .seconds(1800))
        try judge(story)
    }

    /// Segment boundaries, and a byte more or less.
    private static let sealedLengths = [0, 1, 1_048_519, 1_048_520, 1_048_521, 2_097_080, 2_097_081, 3_145_640]

    private func begin(_ seed: UInt64, seals: Bool) throws -> Story {
        var settings = DownloadSettings()
        var randomness = SeededGenerator(seed: seed &* 77)
        settings.connections = [nil, 1, 2, 3].randomElement(using: &randomness) ?? nil
        // A few bytes are too short to recognise their type.
        settings.acceptsAny = true
        let scene = try Scene(seed: seed, settings: settings, seals: seals)
        var count = Int.random(in: 0...3_300_000, using: &randomness)
        if seals, seed % 3 == 0 { count = Self.sealedLengths[Int(seed / 3) % Self.sealedLengths.count] }
        let bytes = lectureBytes(count, seed: seed)
        var file = ServedFile(bytes)
        file.hasRanges = Int.random(in: 0..<4, using: &randomness) > 0
        file.hidesLength = !file.hasRanges && Bool.random(using: &randomness)
        if Int.random(in: 0..<5, using: &randomness) == 0 { file.etag = nil }
        scene.network.files[FetchingScenarios.url] = file
        let knowsDigest = Bool.random(using: &randomness)
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(FetchingScenarios.url) { $0.sha256 = knowsDigest ? digest : nil }
        let lies = Bool.random(using: &randomness)
        let lie = lies ? Lie.allCases.randomElement(using: &randomness) ?? .none : .none
        return Story(
            seed: seed, scene: scene, key: key, lawful: [bytes], knowsDigest: knowsDigest, lie: lie,
            canResume: file.etag != nil || knowsDigest)
    }

    private func script(_ story: inout Story, changesAt: Int) throws {
        let scene = story.scene
        let world = scene.world
        let lie = story.lie
        var file = try #require(scene.network.files[FetchingScenarios.url])
        let fresh = lectureBytes(max(1, file.bytes.count), seed: story.seed &+ 1000)
        // Also without a validator: an interrupted download then starts over, so that the two are never mixed.
        if lie == .changedFile { story.lawful.append(fresh) }
        // Without a length and a digest a body that is too long goes unnoticed.
        if lie == .longBody, file.hidesLength { story.lawful.append(file.bytes + Self.surplus) }
        scene.network.script = { request, number, _ in
            if lie == .changedFile, number == changesAt {
                file.bytes = fresh
                if file.etag != nil { file.etag = "\"v2\"" }
            }
            if lie == .otherValidator, file.etag != nil { file.etag = "\"v\(number / 3)\"" }
            if number < 40 {
                if world.chance(4) { return .failure(7) }
                if world.chance(4) { return Answer(503, world.chance(50) ? ["Retry-After": "3"] : [:]) }
                if world.chance(3) { return Answer(500) }
            }
            var answer = file.answer(to: request)
            answer.latency = .milliseconds(world.some(1...80))
            answer.pace = world.some(32...1024) << 10
            if number < 40, world.chance(45), answer.body.count > 1 {
                answer.breaksAfter = world.some(0...answer.body.count - 1)
                answer.curl = world.chance(50) ? 56 : 18
            }
            if number % 3 == 1 { Self.apply(lie, to: &answer) }
            return answer
        }
    }

    private static let surplus: [UInt8] = [1, 2, 3]

    private static func apply(_ lie: Lie, to answer: inout Answer) {
        func replace(_ name: String, _ value: String) {
            var fields = answer.fields.elements.filter { $0.name != name }
            fields.append(HeaderField(name: name, value: value))
            answer.fields = HeaderFields(fields)
        }
        switch lie {
        case .none, .otherValidator, .changedFile: return
        case .shiftedRange: if answer.status == 206 { replace("Content-Range", "bytes 1-2/3") }
        case .longBody:
            answer.body = (Array(answer.body) + surplus)[...]
        case .wrongTotal:
            if answer.status == 206, let text = answer.fields["Content-Range"] { replace("Content-Range", "\(text)9") }
        case .page:
            replace("Content-Type", "text/html")
        }
    }

    private func judge(_ story: Story) throws {
        let scene = story.scene
        let place = Comment(rawValue: "seed \(story.seed), \(story.lie), \(story.crashes) crashes")
        #expect(try scene.contradictions() == [], place)
        let content = try #require(try scene.content(story.key))
        switch content.state {
        case .completed:
            let bytes = try #require(try scene.bytes(story.key), place)
            let lawful = story.knowsDigest ? [story.lawful[0]] : story.lawful
            #expect(lawful.contains { areSame($0, bytes) }, place)
        case .failed:
            // A server that names no version and always breaks off cannot be downloaded from without a digest.
            let cannotResume = !story.canResume && content.error?.code == .resumeUnsafe
            // Nor from one that fails as often in a row as is tried.
            let isExhausted =
                content.attempts >= DownloadSettings().maxAttempts
                && content.error.map { RetryTable.entry(code: $0.code).decision == .retry } == true
            #expect(content.error != nil && (story.lie != .none || cannotResume || isExhausted), place)
        case .queued, .loading, .downloading, .verifying, .stopped, .removing:
            Issue.record("\(content.state) at the end; \(place)")
        }
        guard content.state == .completed, story.lie == .none, story.canResume else { return }
        // Verified bytes are never fetched again; a server that sends the whole or nothing leaves no choice.
        let network = scene.network
        let hasRanges = network.files[FetchingScenarios.url]?.hasRanges ?? false
        let size = story.lawful[0].count
        let bound = hasRanges ? size + story.lost : size * network.requests.count
        #expect(network.delivered <= bound + network.requests.count << 14, place)
    }
}
