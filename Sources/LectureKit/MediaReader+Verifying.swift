import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// Checks that media is what was downloaded.
extension MediaReader {
    /// As ``LectureManager/Contents/verify(_:options:)``.
    func verify(_ key: ContentKey, _ options: VerifyOptions) async throws -> VerifyReport {
        try Task.checkCancellation()
        guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        guard item.currentVersion != nil else { throw LectureError(.notComplete, detail: key.text) }
        var report = VerifyReport(key: key)
        var findings: [Finding] = []
        for resource in try queries.resources(key) where resource.state == .finalized {
            let finding = try await inspect(at: resource, of: key, options)
            report.chunks += finding.checked
            report.damaged += finding.damaged.map {
                VerifyReport.Damage(role: resource.role, resource: resource, chunk: $0)
            }
            if resource.role == .media { report.mediaFault = finding.fault }
            if !finding.damaged.isEmpty { findings.append(finding) }
        }
        // What is found on a read-only medium is only reported.
        let mayKeep = writer.whyReadOnly == nil || options.repairs
        if !findings.isEmpty, mayKeep { try keep(findings, of: item, report, repairs: options.repairs) }
        report.isRepairQueued = options.repairs && !findings.isEmpty
        observation?.verified(report)
        return report
    }

    /// The findings for one resource.
    private struct Finding {
        let resource: ResourceRecord
        /// Rows of chunks outside the resource.
        let strays: [Int]
        /// The file is gone or too short.
        var fault: LectureError?
        var checked = 0
        var damaged: [Int] = []
    }

    private func inspect(
        at resource: ResourceRecord, of key: ContentKey, _ options: VerifyOptions
    ) async throws -> Finding {
        let total = resource.total ?? 0
        let count = resource.grid.count(total: total)
        let rows = try index.resources.chunks(resource.id)
        var finding = Finding(resource: resource, strays: rows.map(\.index).filter { $0 >= count })
        finding.fault = mediaFault(FinalizedFile(path: resource.path, fileBytes: resource.fileBytes), key: key)
        // A chunk without a row cannot be compared.
        let uncommitted = Set(0..<count).subtracting(rows.map(\.index))
        if finding.fault != nil {
            // A file that is to be downloaded again as a whole is not read.
            finding.damaged = total == 0 ? [0] : Array(0..<count)
            finding.checked = finding.damaged.count
            return finding
        }
        let cipher = try cipher(for: resource, of: key)
        let proofs = options.sample(rows.filter { $0.index < count }, random: SystemRandom())
        let files = files
        let pace = Pace(bytesPerSecond: options.bytesPerSecond)
        let work: @Sendable () throws -> [Int] = {
            // For an empty file only the length can be wrong.
            if total == 0, cipher == nil { return files.status(path: resource.path).final == 0 ? [] : [0] }
            return try files.verify(
                path: resource.path, resource: resource.id, total: total, grid: resource.grid,
                cipher: cipher, proofs: proofs, pace: { pace.took($0) })
        }
        let damaged = try await withTaskCancellationHandler {
            try await onDiskThread(work)
        } onCancel: {
            pace.stop()
        }
        // A check stopped half-way has no findings.
        try Task.checkCancellation()
        finding.checked = proofs.count + uncommitted.count
        finding.damaged = (damaged + uncommitted).sorted()
        return finding
    }

    /// Stores the findings: the damaged chunks become uncommitted, so a repair downloads only those. All files of the
    /// lecture at once, since its version is repaired as a whole.
    private func keep(_ findings: [Finding], of item: ItemRecord, _ report: VerifyReport, repairs: Bool) throws {
        let service = try openService()
        let now = clock.now()
        let key = item.content.key.text
        let error =
            report.mediaFault
            ?? LectureError(.damaged, detail: key, cause: "verify found \(report.damaged.count) damaged ranges")
        try index.transaction { transaction in
            let index = transaction.index
            guard let claimed = try index.owners.claim(content: item.id, owner: service.owner, now: now),
                claimed.currentVersion == findings.first?.resource.version
            else { throw LectureError(.alreadyDownloading, detail: key) }
            // A missing file may come back, so its proofs stay until it is downloaded again. Of a stream's many files
            // only the missing ones are downloaded again.
            for finding in findings where finding.fault == nil || repairs && finding.resource.role.isOfStream {
                let resource = finding.resource
                let bytes = finding.damaged.reduce(UInt64(0)) {
                    $0 + UInt64(resource.grid.range(of: $1, total: resource.total ?? 0).count)
                }
                try index.resources.markUncommitted(
                    claimed.lease, resource.id, chunks: finding.damaged + finding.strays, bytes: bytes)
            }
            try index.contents.setStatus(
                claimed.lease, ItemStatus(repairs ? .queued : .failed, error: error), now: now)
            try index.owners.release(claimed.lease)
            if repairs { try index.owners.join(service.run, content: item.id) }
        }
        service.engine.setNeedsStep()
        service.wake()
    }
}

/// How a lecture is verified.
public struct VerifyOptions: Sendable, Hashable {
    /// Whether damaged chunks are fetched again.
    public var repairs = false
    /// How many percent of the chunks are read, chosen at random; 100 reads all.
    public var samplePercent = 100.0
    /// Bytes a second to read at most; nil for no limit.
    public var bytesPerSecond: Int?

    /// Reads everything, as fast as possible, and repairs nothing.
    public init() {}

    func sample(_ chunks: [WrittenChunk], random: some RandomSource) -> [WrittenChunk] {
        guard samplePercent < 100 else { return chunks }
        return chunks.filter { _ in Double(random.next() >> 11) / Double(1 << 53) * 100 < samplePercent }
    }
}

/// What a verification found.
public struct VerifyReport: Sendable {
    /// A chunk whose bytes are not those that were downloaded.
    public struct Damage: Sendable, Hashable {
        /// The resource's role.
        public let role: ResourceRole
        /// The offset of the chunk; the damage is at or after it.
        public let firstByte: Int64
        /// How many bytes the chunk has.
        public let byteCount: Int64
        /// The number of the chunk.
        public let chunk: Int

        init(role: ResourceRole, resource: ResourceRecord, chunk: Int) {
            self.role = role
            self.chunk = chunk
            let place = resource.grid.range(of: chunk, total: resource.total ?? 0)
            firstByte = Int64(clamping: place.lowerBound)
            byteCount = Int64(place.count)
        }
    }

    /// The lecture.
    public let key: ContentKey
    /// How many chunks were read.
    public var chunks = 0
    /// The damaged ones, in order.
    public var damaged: [Damage] = []
    /// Why the media could not be read: its file is missing or was cut short; nil otherwise.
    public var mediaFault: LectureError?
    /// Whether they are queued to be downloaded again.
    public var isRepairQueued = false

    init(key: ContentKey) { self.key = key }
}
