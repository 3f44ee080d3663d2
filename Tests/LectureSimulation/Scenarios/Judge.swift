import LectureDownload
import LectureModel
import LectureSQLite
import LectureStore

/// Judges a run that has become idle.
struct Judge {
    let simulation: Simulation

    private var world: VirtualWorld { simulation.world }
    private var scenario: Scenario { simulation.scenario }

    func judge() throws {
        for finding in try StoreMaintenance.check(simulation.place.location) { world.found(finding) }
        for number in scenario.lectures.indices { try judge(number) }
        try judgeFiles()
        try judgeRequests()
        try simulation.judgePartners()
        let owners = try simulation.onlooker.owners.all().count
        if owners > 0 { world.found("\(owners) owners are left") }
        let discarded = try simulation.onlooker.versions.discardedVersions().count
        if discarded > 0, !simulation.watch.hasDiskFailed { world.found("\(discarded) discarded versions are left") }
    }

    // MARK: One lecture

    private func judge(_ number: Int) throws {
        let served = simulation.servers.served[number]
        let item = try simulation.item(number)
        let request = simulation.watch.requests[number]
        guard let item else {
            if request != nil, request != .remove { world.found("lecture \(number) is gone") }
            return
        }
        if request == .remove { return world.found("lecture \(number) was to be removed and is \(item.content.state)") }
        switch item.content.state {
        case .completed: try judgeComplete(number, item, served)
        case .failed: judgeFailure(number, item, served)
        case .stopped: judgeStop(number, item, served)
        case .queued, .loading, .downloading, .verifying, .removing:
            let isPostponed = item.content.nextAttempt.map { $0 > world.now + .seconds(3600) } ?? false
            if !isPostponed { world.found("lecture \(number) is \(item.content.state.name) at the end") }
        }
    }

    private func judgeComplete(_ number: Int, _ item: ItemRecord, _ served: Servers.Served) throws {
        guard let version = item.currentVersion,
            let media = try simulation.onlooker.versions.resources(version).first(where: { $0.role == .media })
        else { return world.found("lecture \(number) is complete without a version") }
        guard let node = simulation.disk.node(media.path) else {
            return world.found("lecture \(number) is complete and its file is not there")
        }
        let damaged = try simulation.disk.verify(
            path: media.path, resource: media.id, total: media.total ?? 0, grid: media.grid, cipher: nil,
            proofs: try simulation.onlooker.resources.chunks(media.id), pace: { _ in true })
        if !damaged.isEmpty { world.found("lecture \(number) is complete and damaged") }
        if media.total != UInt64(node.bytes.count) || media.committedBytes != media.total {
            world.found("lecture \(number) has \(node.bytes.count) bytes, its row says \(media.committedBytes)")
        }
        // The digest of a later request is not checked against bytes that were complete before it.
        let isExpected = !scenario.requests.contains { $0.kind == .wrongDigest || $0.kind == .otherDigest }
        if isExpected, let digest = simulation.expectedDigest[number] {
            if simulation.sha256(node.bytes) != digest { world.found("lecture \(number) has a wrong digest") }
        } else if !served.isIndistinguishable, !served.versions.contains(where: { areSame($0, node.bytes) }) {
            world.found("lecture \(number) has bytes that no server ever had")
        }
        // After a death the caller has to request the output again.
        if served.lecture.hasOutput, !simulation.watch.hasDiskFailed, !simulation.watch.hasStoreFailed,
            scenario.requests.isEmpty, scenario.deaths.isEmpty
        {
            let output = simulation.disk.outputs["/out/\(number)"]
            if output.map({ areSame($0, node.bytes) }) != true { world.found("lecture \(number) was not published") }
        }
        judgeWaste(number, item, served)
    }

    /// A refusal is allowed when a fault excuses it.
    private func judgeFailure(_ number: Int, _ item: ItemRecord, _ served: Servers.Served) {
        guard let error = item.content.error else { return world.found("lecture \(number) failed without an error") }
        if error.code == .bug { world.found("lecture \(number) failed with a bug: \(error.cause)") }
        let excuses = served.faults.contains { fault in
            switch fault.kind {
            case .final, .urlOver, .indistinguishable: true
            case .passing, .wait, .lawful: false
            }
        }
        let attempts = served.accidents + served.faults.count { $0.kind == .passing }
        let waits = served.faults.count { $0.kind == .wait }
        let mirrors = served.lecture.mirrors.contains { $0 != .agrees }
        let requests = scenario.requests.contains { $0.kind == .wrongDigest || $0.kind == .otherDigest }
        // A file shorter than the first box of a film is not recognised as one.
        let isNoMedia =
            error.code == .notMedia
            && served.versions.contains { bytes in
                FirstBytes.refusal(Array(bytes.prefix(FirstBytes.length)), mediaType: "video/mp4") != nil
            }
        let isUnsafe = error.code == .resumeUnsafe && !namesVersions(served)
        // The licence server did not answer, or refused.
        let isLicence = simulation.partners.refusedLectures.contains(number)
        let isExcused =
            isLicence || isNoMedia || isUnsafe || excuses || attempts + waits >= 5 || served.hasChanged || mirrors
            || requests
        if !isExcused { world.found("lecture \(number) failed without a reason: \(error)") }
    }

    private func judgeStop(_ number: Int, _ item: ItemRecord, _ served: Servers.Served) {
        let request = simulation.watch.requests[number]
        switch item.content.stopReason {
        case .user:
            if request == .fetch { world.found("lecture \(number) is paused without a request") }
        case .serverWait:
            if !simulation.servers.hasAskedForAYear { world.found("lecture \(number) waits for a server forever") }
        case .network where served.neverComes: return
        case nil, .network, .space, .schedule, .licenceRefused, .dependency, .quota:
            world.found("lecture \(number) stopped forever: \(item.content.stopReason?.name ?? "no reason")")
        }
    }

    /// Whether a validator shows that a range belongs to the earlier bytes. Without it an interrupted download
    /// starts over.
    private func namesVersions(_ served: Servers.Served) -> Bool {
        served.lecture.hasTag || served.lecture.hasDate || served.lecture.knowsDigest
    }

    // MARK: What was fetched too often

    /// Committed bytes are never fetched again. Where only the network failed, and the server has ranges:
    ///
    ///     delivered since the last death ≤ size − committed at that time
    ///         + interruptions × connections × chunk + requests × 16 KiB
    private func judgeWaste(_ number: Int, _ item: ItemRecord, _ served: Servers.Served) {
        let isPlain =
            served.lecture.hasRanges && !served.lecture.hasPicture && served.lecture.mirrors.isEmpty
            && served.lecture.changes.isEmpty
            && scenario.work.programs == 1 && scenario.diskFaults.isEmpty && scenario.storeFaults.isEmpty
            && scenario.clockSteps.isEmpty && served.faults.allSatisfy { $0.kind == .passing || $0.kind == .urlOver }
            && !scenario.requests.contains { [.again, .otherDigest, .wrongDigest, .remove].contains($0.kind) }
        guard isPlain, namesVersions(served) else { return }
        let since = simulation.sinceDeath[number] ?? (0, 0)
        let connections = scenario.work.connections ?? 2
        let due = served.bytes.count - since.committed
        let loss = (simulation.interruptions + simulation.watch.pauses) * connections << 20
        let renewals = served.faults.count { $0.kind == .urlOver }
        let bound = due + loss + served.requests << 14 + (renewals * connections) << 20
        let delivered = served.delivered - since.delivered
        if delivered > bound {
            world.found("lecture \(number) was delivered \(delivered) bytes where \(due) were due, bound \(bound)")
        }
    }

    /// Every request gains bytes, or follows one of a known number of disturbances.
    private func judgeRequests() throws {
        let disturbances =
            scenario.deaths.count + scenario.requests.count + scenario.storeFaults.count + scenario.clockSteps.count
            + scenario.diskFaults.reduce(0) { $0 + $1.count }
        for number in scenario.lectures.indices {
            let served = simulation.servers.served[number]
            // A lecture that never comes is requested every minute.
            if served.neverComes { continue }
            let wrong = served.faults.count + served.accidents + served.lecture.changes.count
            let chunks = served.versions.reduce(0) { max($0, $1.count) } >> 20 + 1
            let bound = (8 + 2 * chunks) * (1 + disturbances * scenario.work.programs) + 8 * wrong
            if served.requests > bound {
                world.found("lecture \(number) was requested \(served.requests) times, bound \(bound)")
            }
        }
    }

    // MARK: Files

    /// No file without a row is left.
    private func judgeFiles() throws {
        guard !simulation.watch.hasDiskFailed else { return }
        for name in try simulation.disk.listing() {
            let path = MemoryDisk.final(of: name)
            if try simulation.onlooker.isOrphan(path: path) { world.found("\(name) belongs to no row") }
        }
    }
}
