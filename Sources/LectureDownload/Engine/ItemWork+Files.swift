import LectureEngine
import LectureModel

/// What the machine of a file decides, as far as its lecture is concerned.
extension ItemWork {
    /// Has the part file of a file opened, once.
    mutating func openPartIfNeeded(
        _ resource: PartToken, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        guard self[resource].machine.needsOpening else { return }
        if let error = try self[resource].findCipher(for: record, step) {
            return try end(machine.failed(error), &shared, &step)
        }
        let found = try self[resource].restorePieces(shared.settings, &step)
        shared.statistics.bytesReused += reuse.found(found)
        let isEncrypted = SegmentActions.mustInspect(resource, of: self, shared.settings)
        let ruling = try self[resource].openPart(shared.settings, isEncrypted: isEncrypted, &step)
        if ruling == .bug { try endForBug(&shared, &step) }
    }

    /// Carries out what the machine of a file decided.
    mutating func follow(
        _ ruling: ResourceMachine.Ruling, _ resource: PartToken, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws {
        switch ruling {
        case .nothing: return
        case .digest(let total): self[resource].command(.digest(total: total), &step)
        case .check(let chunks, let total): try self[resource].check(chunks, total: total, &step)
        case .inspect: try SegmentActions.inspect(resource, of: &self, &shared, &step)
        case .finalize(let total): self[resource].command(.finalize(total: total), &step)
        case .fetchAgain(let chunks):
            try self[resource].lost(chunks, step)
            try apply(machine.restarted(), &shared, &step)
        case .distrust: try digestDiffers(resource, &shared, &step)
        case .close: self[resource].command(.close(deleting: false), &step)
        case .bug: try endForBug(&shared, &step)
        }
    }

    /// Ends an item whose work has got into an impossible state. Its committed bytes stay.
    mutating func endForBug(_ shared: inout SharedWork, _ step: inout Step<DownloadMachine>) throws {
        let error = LectureError(.bug, detail: "an impossible state of a file")
        try end(machine.failed(error), &shared, &step)
    }

    /// Every chunk is durable.
    mutating func wholeIsCommitted(
        _ resource: PartToken, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        let isEncrypted = SegmentActions.mustInspect(resource, of: self, shared.settings)
        let ruling = self[resource].allCommitted(isEncrypted: isEncrypted)
        guard ruling != .nothing else { return }
        if self[resource].record.role == .media, !self[resource].record.isPlaylist {
            try apply(machine.allCommitted(), &shared, &step)
        }
        try follow(ruling, resource, &shared, &step)
    }

    private mutating func digestDiffers(
        _ resource: PartToken, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        let error = LectureError(.digestMismatch)
        let wrong = WrongWhole(
            self[resource], restarts: restarts.count, isGateway: record.isGateway)
        switch wrong.ruling {
        case .failResource: _ = try resourceFailed(resource, error, &shared, &step)
        case .fetchWithout(let suspects):
            for url in suspects { self[resource].markURL(url, .disagrees, step) }
            _ = try restart(because: error, &shared, &step)
        case .fetchAgain: _ = try restart(because: error, &shared, &step)
        case .failItem: try end(machine.failed(error), discarding: true, &shared, &step)
        }
    }
}
