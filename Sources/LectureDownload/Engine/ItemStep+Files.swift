import LectureEngine
import LectureModel

/// What the machine of a file decides, as far as its lecture is concerned.
extension ItemStep {
    /// Has the part file of a file opened, once.
    mutating func openPartIfNeeded(_ resource: PartToken) throws {
        guard item[resource].machine.needsOpening else { return }
        if let error = try item[resource].findCipher(for: item.record, step) {
            return try end(item.machine.failed(error))
        }
        let found = try item[resource].restorePieces(settings, &step)
        shared.statistics.bytesReused += item.reuse.found(found)
        if try item[resource].openPart(settings, &step) == .bug { try endForBug() }
    }

    /// Carries out what the resource's machine decided.
    mutating func follow(
        _ ruling: ResourceMachine.Ruling, _ resource: PartToken
    ) throws {
        switch ruling {
        case .nothing: return
        case .digest(let total): item[resource].command(.digest(total: total), &step)
        case .check(let chunks, let total): try item[resource].check(chunks, total: total, &step)
        case .finalize(let total): item[resource].command(.finalize(total: total), &step)
        case .fetchAgain(let chunks):
            try item[resource].lost(chunks, step)
            try apply(item.machine.restarted())
        case .distrust: try digestDiffers(resource)
        case .close: item[resource].command(.close(deleting: false), &step)
        case .bug: try endForBug()
        }
    }

    /// Ends an item whose work has got into an impossible state. Its committed bytes stay.
    mutating func endForBug() throws {
        let error = LectureError(.bug, detail: "an impossible state of a file")
        try end(item.machine.failed(error))
    }

    /// Every chunk is durable.
    mutating func wholeIsCommitted(_ resource: PartToken) throws {
        let ruling = item[resource].allCommitted()
        guard ruling != .nothing else { return }
        if item[resource].record.role == .media { try apply(item.machine.allCommitted()) }
        try follow(ruling, resource)
    }

    private mutating func digestDiffers(_ resource: PartToken) throws {
        let error = LectureError(.digestMismatch)
        let wrong = WrongWhole(
            item[resource], restarts: item.restarts.count, isGateway: item.record.isGateway)
        switch wrong.ruling {
        case .failResource: _ = try resourceFailed(resource, error)
        case .fetchWithout(let suspects):
            for url in suspects { item[resource].markURL(url, .disagrees, step) }
            _ = try restart(because: error)
        case .fetchAgain: _ = try restart(because: error)
        case .failItem: try end(item.machine.failed(error), discarding: true)
        }
    }
}
