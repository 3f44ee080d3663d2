import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureStore
import LectureTransport

/// The media of lectures on disk: what is there, what is missing, and what opens it.
extension CorePart {
    /// A lecture as it is in the store and on disk; nil when nothing has this key.
    func lecture(_ key: ContentKey) throws -> Content? {
        try queries.item(key).map { truthful($0.content, try finalizedFile($0)) }
    }

    /// The lecture that is registered under a URL, or named by it, as its row is.
    func lecture(url: String) throws -> Content? {
        let url = try CurlURL.normalise(url)
        let identity = try digests.sha256(of: ContentKeys.identityBytes(ofURL: url))
        if let key = try queries.key(identity: identity), let item = try queries.item(key) { return item.content }
        guard let name = ContentKeys.name(inLink: try URLParts(url)), let key = try? ContentKey(name) else {
            return nil
        }
        return try queries.item(key)?.content
    }

    /// Whether a complete version of a lecture is on the disk.
    func isPlayable(_ key: ContentKey) throws -> Bool { try lecture(key)?.isPlayable ?? false }

    /// Marks lectures whose file has reappeared as complete again.
    func markFound() throws {
        let back = try writer.versions.missingMedia().filter { mediaFault($0.media, key: nil) == nil }
        guard !back.isEmpty else { return }
        try index.transaction { transaction in
            for row in back { try transaction.index.versions.markFound(row.id, now: clock.now()) }
        }
    }

    /// Checks the files of all complete lectures and marks those whose file is gone.
    func markMissing(isQueued: Bool) throws {
        var last: ContentID?
        var isChecked = false
        let queries = writer.queries
        while true {
            let page = try queries.completeMedia(after: last, limit: 1000)
            guard let end = page.last else { return }
            last = end.id
            let gone = page.filter { mediaFault($0.media, key: $0.key) != nil }.map(\.id)
            guard !gone.isEmpty else { continue }
            if isQueued, !isChecked { try requireMediaDirectory() }
            isChecked = true
            try markMissing(gone, isQueued: isQueued)
        }
    }

    /// Marks those of the lectures whose file is gone. They are inspected inside the transaction: another process may
    /// have replaced a version, and deleted its file, since the caller looked.
    ///
    /// - Returns: how many were marked.
    @discardableResult
    func markMissing(_ contents: [ContentID], isQueued: Bool) throws -> Int {
        try index.transaction { transaction in
            let index = transaction.index
            var count = 0
            for id in contents {
                guard let item = try index.contents.item(id), let error = try mediaFault(of: item) else { continue }
                if try index.versions.markMissing(id, error, isQueued: isQueued, now: clock.now()) { count += 1 }
            }
            return count
        }
    }

    /// Queues a complete lecture if its file is gone.
    ///
    /// - Returns: whether it was queued.
    func requeueIfMissing(_ item: ItemRecord) throws -> Bool {
        guard try mediaFault(of: item) != nil else { return false }
        try requireMediaDirectory()
        return try markMissing([item.id], isQueued: true) > 0
    }

    /// Where every file is gone nothing is downloaded again: a disk is probably not mounted, and a whole library would
    /// be downloaded into its mount point.
    func requireMediaDirectory() throws {
        guard try files.isEmpty() else { return }
        throw LectureError(
            .mediaMissing, detail: "\(try location.make())/media",
            cause:
                "all files are missing; is a disk not mounted? "
                + "'lecturectl verify --all --repair' downloads them again"
        )
    }

    /// The state on disk of the media of a lecture that is complete, or was before its file disappeared.
    func mediaFault(of item: ItemRecord) throws -> LectureError? {
        guard let version = try index.versions.completeVersion(item.id) else { return nil }
        let (media, key) = (version.media, item.content.key)
        if let fault = mediaFault(FinalizedFile(path: media.path, fileBytes: media.fileBytes), key: key) {
            return fault
        }
        guard item.content.type == .adaptiveDownload else { return nil }
        for file in try index.adaptive.kept(version.id) {
            let file = FinalizedFile(path: file.path, fileBytes: file.fileBytes)
            if let fault = mediaFault(file, key: key) { return fault }
        }
        return nil
    }

    /// As above, for a file.
    func mediaFault(_ file: FinalizedFile, key: ContentKey?) -> LectureError? {
        let detail = key?.text ?? ""
        guard let length = files.status(path: file.path).final else {
            return LectureError(.mediaMissing, detail: detail, cause: "\(file.path) does not exist")
        }
        guard let due = file.fileBytes, length < due else { return nil }
        return LectureError(.mediaMissing, detail: detail, cause: "\(file.path) has \(length) of \(due) bytes")
    }

    /// A lecture in its actual state, not only that of its row: one whose file is gone is not complete.
    func truthful(_ content: Content, _ file: FinalizedFile?) -> Content {
        guard let file, let error = mediaFault(file, key: content.key) else { return content }
        var content = content
        content.isPlayable = false
        guard content.state == .completed else { return content }
        content.state = .failed
        content.error = error
        content.committedBytes = 0
        return content
    }

    /// The same for a line of a list.
    func correct(_ line: inout ContentLine, _ file: FinalizedFile) {
        guard line.state == .completed, let error = mediaFault(file, key: line.key) else { return }
        line.state = .failed
        line.error = error
        line.committedBytes = 0
    }

    /// Where the media of a lecture's complete version is; nil without one.
    func finalizedFile(_ item: ItemRecord) throws -> FinalizedFile? {
        guard item.currentVersion != nil,
            let media = try queries.streams.headResources(item.content.key).first(where: { $0.role == .media })
        else { return nil }
        return FinalizedFile(path: media.path, fileBytes: media.fileBytes)
    }

    /// The media of a complete lecture.
    func finalizedMedia(_ key: ContentKey) throws -> ResourceRecord {
        guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        guard item.currentVersion != nil,
            let media = try queries.streams.headResources(key).first(where: {
                $0.role == .media && $0.state == .finalized
            })
        else { throw LectureError(.notComplete, detail: key.text) }
        if let error = mediaFault(FinalizedFile(path: media.path, fileBytes: media.fileBytes), key: key) { throw error }
        return media
    }

    /// What opens a resource's file.
    ///
    /// - Parameters:
    ///   - resource: of the lecture's current version.
    ///   - key: the lecture.
    /// - Returns: nil for an unsealed file.
    /// - Throws: ``LectureError``: `sealedElsewhere`, or what ``ContentSealing`` throws.
    func cipher(for resource: ResourceRecord, of key: ContentKey) throws -> (any ContentCipher)? {
        guard resource.seal != .plain else { return nil }
        let cipher: (any ContentCipher)? = try index.read { transaction in
            guard let item = try transaction.index.contents.item(key) else { return nil }
            // A segment that is sealed stays so, whatever is configured now: what is sealed anew is asked for by role.
            let role: ResourceRole = resource.role.isOfStream ? .media : resource.role
            return try seals.cipher(for: item, role: role, in: transaction)
        }
        guard let cipher else { throw LectureError(.sealedElsewhere, detail: key.text) }
        return cipher
    }

    /// Whether the media's key requires a licence, whatever the rows say.
    func isSealedForLicence(_ key: ContentKey) throws -> Bool {
        guard let item = try index.contents.item(key) else { return false }
        return try writer.sealPurpose(item.id) == .licensed
    }
}
