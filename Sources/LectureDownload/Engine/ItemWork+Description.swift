import LectureEngine
import LectureModel

/// What the gateway's descriptor means for an item.
extension ItemWork {
    /// A link that was taken for media turned out to be a gateway's.
    mutating func descriptorInsteadOfMedia(
        _ document: [UInt8], _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        try abandonVersion(&shared, &step)
        return try descriptorCame(document, host: "", &shared, &step)
    }

    /// The gateway has described the lecture.
    mutating func descriptorCame(
        _ document: [UInt8], host: String, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        let descriptor: ContentDescriptor
        do throws(LectureError) {
            descriptor = try ContentDescriptor(document)
        } catch {
            try end(machine.failed(LectureError(error.code, detail: host, cause: error.cause)), &shared, &step)
            return .failed
        }
        if let code = descriptor.refusal {
            try end(machine.failed(LectureError(code, detail: host)), &shared, &step)
            return .failed
        }
        if try endsRefused(descriptor, &shared, &step) { return .refused }
        record.isGateway = true
        loader.answered()
        let requests = descriptor.requests(expecting: record)
        if let media {
            if media.record.agrees(with: requests.first), !unbinds(descriptor.facts) {
                // Only the URLs were renewed; committed bytes are kept.
                try self[media.token].replaceURLs(descriptor.mediaURLs, step)
                if !record.isLoaded {
                    record.isLoaded =
                        try step.store.index.contents.setFacts(lease, descriptor.facts, now: step.now) == nil
                }
                try recordLicence(descriptor, key: record.content.key, step)
                try apply(machine.sourceKnown(), &shared, &step)
                return .renewed
            }
            try abandonVersion(&shared, &step)
        }
        if let other = try step.store.index.contents.setFacts(lease, descriptor.facts, now: step.now) {
            try step.store.index.contents.merge(lease, into: other)
            drop(&step)
            try shared.files.settle(on: other, record, requests.first, &step)
            return .merged
        }
        try recordLicence(descriptor, key: descriptor.facts.key ?? record.content.key, step)
        record.isLoaded = true
        if let title = descriptor.facts.title { record.content.title = title }
        if let key = descriptor.facts.key { record.content.key = key }
        try beginVersion(requests, &shared, &step)
        try apply(machine.sourceKnown(), &shared, &step)
        return .loaded
    }

    /// Stops an item whose licence source is refused: media that needs a licence is never fetched as if it needed none.
    ///
    /// - Returns: whether it was stopped.
    mutating func endsRefused(
        _ descriptor: ContentDescriptor, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Bool {
        let key = descriptor.facts.key ?? record.content.key
        guard
            let error = try step.store.licensing.refusal(
                of: descriptor.licence, of: key, in: step.store.transaction)
        else { return false }
        try end(machine.stopped(.licenceRefused, error: error, until: nil, now: step.now), &shared, &step)
        return true
    }

    /// Records where the licence comes from, in the transaction that stores the gateway's answer.
    mutating func recordLicence(
        _ descriptor: ContentDescriptor, key: ContentKey, _ step: Step<DownloadMachine>
    ) throws {
        try step.store.licensing.recordSource(descriptor.licence, of: key, in: step.store.transaction)
        if grant == .permitted { grant = .unknown }
    }

    /// The source is known, at the latest by the answer of the media's own server.
    mutating func sourceIsKnown(_ shared: inout SharedWork, _ step: inout Step<DownloadMachine>) throws {
        let action = machine.sourceKnown()
        if action == .store { return try store(isLoaded: true, &step) }
        if !record.isLoaded {
            record.isLoaded = try step.store.index.contents.setFacts(lease, ContentFacts(), now: step.now) == nil
        }
        try apply(action, &shared, &step)
    }
}
