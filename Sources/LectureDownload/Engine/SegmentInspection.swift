package import LectureAdaptive
import LectureEngine
import LectureFormats
package import LectureModel

/// What a lecture knows of its encrypted files, each of which is inspected before it gets its final name.
struct SegmentInspection: Sendable {
    /// How many keys are remembered.
    private static let mostKeys = 16

    /// Which files are encrypted.
    var files = EncryptedFiles()
    /// Where keys are read from, by their names.
    private(set) var keys: [String: FileChunks] = [:]
    /// Files whose ends are being read.
    var running: Set<PartToken> = []
    /// Why files of this claim were refused, by their names.
    var faults: [String: SegmentFault] = [:]

    /// A key is on the disk.
    mutating func remember(_ key: String, _ file: FileChunks) {
        if keys.count >= Self.mostKeys { keys = [:] }
        keys[key] = file
    }
}

/// The ends of the encrypted parts of one file, and the keys: what is read from the disk to see whether it is whole.
package struct SegmentRead: Sendable, Equatable {
    /// One end.
    struct End: Sendable, Equatable {
        var ending: SegmentEnding
        /// The name of its key.
        var key: String
    }

    /// The part file, with the chunks that have the ends.
    let file: FileChunks
    let ends: [End]
    /// The keys, by their names: whole files, sealed.
    let keys: [String: FileChunks]
    /// Whether nothing may be encrypted in it.
    let mayBeEmpty: Bool

    /// Reads the ends, and decrypts the last block of each in memory. A key is cleared when its blocks are decrypted.
    ///
    /// - Parameters:
    ///   - files: the disk.
    ///   - blocks: decrypts.
    /// - Returns: what the ends show.
    fileprivate func outcome(from files: any PartFiles, _ blocks: any BlockDecrypting) -> SegmentOutcome {
        let byKey = Dictionary(grouping: ends, by: \.key)
        for (name, key) in keys.sorted(by: { $0.key < $1.key }) {
            do throws(LectureError) {
                let (ends, chained) = try chained(byKey[name] ?? [], files)
                var secret: [UInt8]
                do throws(LectureError) { secret = try key.bytes(from: files) } catch {
                    return [.damaged, .readFile].contains(error.code) ? .lostKey(name) : .failed(error)
                }
                for (end, clear) in zip(ends, try blocks.decrypted(chained, clearing: &secret)) {
                    if let fault = end.ending.fault(in: clear, mayBeEmpty: mayBeEmpty) { return .faulty(fault) }
                }
            } catch {
                return error.code == .streamKey ? .lostKey(name) : .failed(error)
            }
        }
        return .intact
    }

    private func chained(
        _ ends: [End], _ files: any PartFiles
    ) throws(LectureError) -> (ends: [End], blocks: [ChainedBlock]) {
        var (blocks, last): ([ChainedBlock], (chunk: Int, bytes: [UInt8])?) = ([], nil)
        for end in ends {
            var read: [UInt8] = []
            let wanted = end.ending.bytes
            for chunk in file.grid.chunk(at: wanted.start)...file.grid.chunk(at: wanted.end - 1) {
                if last?.chunk != chunk { last = (chunk, try file.bytes(of: chunk, from: files)) }
                let place = file.grid.range(of: chunk, total: file.total)
                let part = place.clamped(to: wanted.start..<wanted.end)
                let first = Int(part.lowerBound - place.lowerBound)
                read += last?.bytes[first..<(first + part.count)] ?? []
            }
            blocks.append(end.ending.block(of: read))
        }
        return (ends, blocks)
    }
}

/// What the ends of an encrypted file show.
package enum SegmentOutcome: Sendable, Equatable {
    /// Each ends as it should.
    case intact
    /// One does not.
    case faulty(SegmentFault)
    /// A key cannot be read from the disk any more.
    case lostKey(String)
    /// The disk failed, or the decryption.
    case failed(LectureError)
}

extension DownloadEngine {
    /// Reads the ends of an encrypted file.
    func inspect(_ read: SegmentRead, of token: PartToken) {
        ports.offload.run { [files = ports.files, blocks = ports.blocks] in
            .inspected(token, read.outcome(from: files, blocks))
        }
    }
}

/// What is done for encrypted files in a step. Segments stay as the server encrypted them; what is wrong with one would
/// otherwise be found when it is played.
enum SegmentActions {
    /// Finds out which files of a version are encrypted. Of keys under which every file was refused and none is there,
    /// the next attempt fetches those again that it was refused for.
    static func open(_ item: inout ItemWork, _ version: VersionID, _ step: Step<DownloadMachine>) throws {
        let rows = step.store.index.adaptive
        try reread(&item, version, step)
        guard !item.stream.inspection.files.isEmpty else { return }
        let refused = try rows.positions(version, in: .failed)
        guard !refused.isEmpty else { return }
        let kept = Set(try rows.positions(version, in: .finalized))
        let doubtful = item.stream.inspection.files.doubtfulKeys(refused: Set(refused), kept: kept)
        if !doubtful.isEmpty { try rows.refetch(item.lease, version, named: Set(doubtful)) }
    }

    /// Finds out which files are encrypted, again: a capture has more of them with each list.
    static func reread(_ item: inout ItemWork, _ version: VersionID, _ step: Step<DownloadMachine>) throws {
        item.stream.inspection.files = EncryptedFiles(try step.store.index.adaptive.encryptedPlaylists(version))
    }

    /// A file is whole on the disk: has its ends read. While one of its keys is not there, it waits for that.
    static func inspect(
        _ token: PartToken, of item: inout ItemWork, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        let record = item[token].record
        guard item[token].machine.isInspecting, !item.stream.inspection.running.contains(token),
            let version = item.version, let total = record.total
        else { return }
        var ends: [SegmentRead.End] = []
        do throws(SegmentFault) {
            for part in item.stream.inspection.files.parts(of: record.name) {
                ends.append(SegmentRead.End(ending: try part.ending(inFileOf: total), key: part.key))
            }
        } catch {
            return try refuse(token, error, of: &item, &shared, &step)
        }
        var keys: [String: FileChunks] = [:]
        for name in Set(ends.map(\.key)) {
            if item.stream.inspection.keys[name] == nil {
                if let error = try findKey(name, of: version, &item, step) {
                    return try item.end(item.machine.failed(error), &shared, &step)
                }
            }
            guard let key = item.stream.inspection.keys[name] else { return }
            keys[name] = key
        }
        let needed = Set(ends.flatMap { [$0.ending.bytes.start, $0.ending.bytes.end - 1] }.map(record.grid.chunk(at:)))
        let proofs = try step.store.index.resources.chunks(record.id).filter { needed.contains($0.index) }
        var file = FileChunks(of: record, item[token].cipher, proofs: proofs)
        file.path += ".part"
        item.stream.inspection.running.insert(token)
        step.effects.append(
            .inspect(token, SegmentRead(file: file, ends: ends, keys: keys, mayBeEmpty: record.mayBeEmpty)))
    }

    /// Finds a key that has its final name.
    ///
    /// - Returns: the error that ends the lecture, for lack of its cipher.
    private static func findKey(
        _ name: String, of version: VersionID, _ item: inout ItemWork, _ step: Step<DownloadMachine>
    ) throws -> LectureError? {
        let index = step.store.index
        guard let record = try index.adaptive.file(version, named: name), record.state == .finalized else { return nil }
        var key = try ResourceWork(restoring: record, under: item.lease, step)
        if let error = try key.findCipher(for: item.record, step) { return error }
        let proofs = try index.resources.chunks(record.id)
        item.stream.inspection.remember(name, FileChunks(of: record, key.cipher, proofs: proofs))
        return nil
    }

    /// A key has its final name: files that have waited for it are inspected.
    static func keyCame(_ lecture: inout ItemStep) throws {
        for token in lecture.item.tokens where lecture.item[token].machine.isInspecting {
            try inspect(token, of: &lecture.item, &lecture.shared, &lecture.step)
            if lecture.item.isEnding { return }
        }
    }

    /// A file does not end as it should: it is missing, as one that the server does not have.
    static func refuse(
        _ token: PartToken, _ fault: SegmentFault, of item: inout ItemWork, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws {
        let file = item[token]
        item.stream.inspection.faults[file.record.name] = fault
        if let origin = file.request.urls.first.flatMap({ try? Origin(url: $0) }) {
            var attempt = Attempt(at: step.now, origin: origin.text, decision: Decision.failed.rawValue)
            (attempt.bytes, attempt.detail) = (Int64(clamping: file.record.total ?? 0), fault.reason)
            try step.store.index.servers.record(attempt, content: item.id, resource: file.record.id)
        }
        _ = try item.resourceFailed(token, LectureError(.segmentsMissing, cause: fault.reason), &shared, &step)
    }

    /// A key cannot be read: it is fetched again, and the lecture goes on then.
    static func lost(_ key: String, _ lecture: inout ItemStep) throws {
        guard let version = lecture.item.version else { return }
        try lecture.index.adaptive.refetch(lecture.item.lease, version, named: [key])
        let pause = Backoff().delay(failures: 1, random: lecture.step.random())
        let error = LectureError(.damaged, detail: lecture.item.record.content.key.text, cause: key)
        try lecture.end(lecture.item.machine.retryLater(error: error, until: lecture.now + pause, now: lecture.now))
    }

    /// Whether a file has to be inspected before it gets its final name.
    static func mustInspect(_ token: PartToken, of item: ItemWork, _ settings: DownloadSettings) -> Bool {
        let record = item[token].record
        guard record.role.isOfStream, !settings.acceptsAny else { return false }
        return !item.stream.inspection.files.parts(of: record.name).isEmpty
    }
}
