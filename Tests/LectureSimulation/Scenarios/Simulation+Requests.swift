import LectureDownload
import LectureModel
import LectureStore

// The users' requests, and their changes.

extension Simulation {
    /// The digest of bytes.
    func sha256(_ bytes: [UInt8]) -> [UInt8] {
        guard let running = try? disk.digests.sha256() else { return [] }
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
        return (try? running.finish()) ?? []
    }

    /// A lecture as the store has it.
    func item(_ number: Int) throws -> ItemRecord? {
        if scenario.lectures[number].source == .gateway,
            let described = try onlooker.contents.item(try ContentKey("lecture-\(number)"))
        {
            return described
        }
        return try onlooker.contents.item(try ContentKey("request-\(number)"))
    }

    /// Registers the request for a lecture.
    func want(_ number: Int, digest: [UInt8]? = nil) {
        let lecture = scenario.lectures[number]
        let url = servers.sourceURL(number)
        var request = DownloadRequest(url: url)
        if lecture.knowsDigest, expectedDigest[number] == nil {
            expectedDigest[number] = sha256(servers.served[number].bytes)
        }
        if let digest { expectedDigest[number] = digest }
        request.sha256 = expectedDigest[number]
        if lecture.knowsSize, digest == nil { request.size = Int64(lecture.size) }
        if lecture.source != .gateway {
            request.mirrors = lecture.mirrors.indices.map { servers.mirrorURL(number, $0) }
        }
        if lecture.hasOutput { request.outputPath = "/out/\(number)" }
        do {
            let request = try onlooker.requests.enqueue(
                request,
                source: RequestSource(
                    derivedKey: try ContentKey("request-\(number)"), identity: Array("lecture \(number)".utf8),
                    isGateway: lecture.source == .gateway), check: .list, now: world.now)
            for program in programs { try onlooker.owners.join(program.run, content: request.id) }
            watch.requests[number] = .fetch
            watch.requested(request.id)
        } catch {
            // The store is busy, or the lecture is just being removed.
            world.record("    the request for \(number) was refused: \(error)")
        }
    }

    func carryOut(_ request: Request) {
        let number = request.lecture
        world.record("    \(request.kind) \(number)")
        interruptions += 1
        switch request.kind {
        case .pause: targetState(.pause, number)
        case .resume: targetState(.fetch, number)
        case .cancel: targetState(.cancel, number)
        case .remove: targetState(.remove, number)
        case .first: if let key = try? item(number)?.content.key { _ = try? onlooker.targets.setPriority(key, 50) }
        case .again: want(number)
        case .otherDigest:
            let served = servers.served[number]
            servers.turn(served, growing: 0, keepingValidators: false)
            want(number, digest: sha256(served.bytes))
        case .wrongDigest: want(number, digest: [UInt8](repeating: 7, count: 32))
        case .pauseAll: for number in scenario.lectures.indices { targetState(.pause, number) }
        case .resumeAll: for number in scenario.lectures.indices { targetState(.fetch, number) }
        }
        if request.isReported { for program in programs { program.setNeedsStep() } }
    }

    private func targetState(_ targetState: TargetState, _ number: Int) {
        do {
            guard let item = try item(number) else { return }
            // A removal continues, unless the lecture is requested again before it has started.
            if item.targetState == .remove, targetState != .fetch || item.content.state == .removing { return }
            if item.content.state == .completed, targetState == .pause || targetState == .cancel { return }
            guard try onlooker.targets.setTargetState(item.content.key, targetState, now: world.now) else { return }
            for program in programs { try onlooker.owners.join(program.run, content: item.id) }
            watch.requests[number] = targetState
            watch.requested(item.id)
        } catch {
            world.record("    the request was refused: \(error)")
        }
    }
}
