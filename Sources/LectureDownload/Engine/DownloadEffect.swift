package import LectureAdaptive
package import LectureModel

/// What a step of the engine asks of the world outside the store, as a value. Performed after the commit of the step
/// that queued it, in the order of the queue.
///
/// What this order guarantees: a transfer starts after the part file it writes to was asked to open in the same step;
/// transfers are cancelled before their part file is closed; a flush comes before the close that follows it; files of a
/// discarded version are deleted after its part files were asked to close.
package enum DownloadEffect: Sendable, Equatable {
    /// Starts or ends exchanges, or limits their rate.
    case transfer(TransferEffect)
    /// Commands a part file.
    case part(PartHandle, PartCommand)
    /// Checks chunks of a part file against their proofs; ``EngineEvent/checked(_:damaged:_:)`` follows.
    case check(PartToken, FileChunks)
    /// Reads the ends of an encrypted part file; ``EngineEvent/inspected(_:_:)`` follows.
    case inspect(PartToken, SegmentRead)
    /// Reads whole files that have their final names; ``EngineEvent/documentsRead(_:_:)`` follows.
    case readDocuments(ContentID, [FileChunks])
    /// Reads the segment indexes in files that have their final names; ``EngineEvent/indexesRead(_:_:_:)`` follows.
    case readIndexes(ContentID, VersionID, [IndexRead])
    /// Asks the licence server; ``EngineEvent/granted(_:_:)`` follows.
    case requestGrant(ContentID, key: ContentKey)
    /// Asks the application for new URLs; ``EngineEvent/resolved(_:urls:_:)`` follows.
    case resolve(ContentID, key: ContentKey, sourceURL: String)
    /// Lists the media directory; ``EngineEvent/listed(_:)`` follows.
    case list
    /// Deletes files, in this order; ``EngineEvent/deleted(_:_:)`` follows.
    case delete([String], DeletionPurpose)
    /// Publishes finished files, one that is large alone; ``EngineEvent/published(_:)`` follows.
    case publish([Publication])
}

/// A part file in an effect. It carries the file itself, since a resource may be removed from the engine's tables in
/// the step that closes its part file.
package struct PartHandle: Sendable, Equatable {
    /// Names it among the engine's events.
    package let token: PartToken
    /// The part file; compared by identity.
    package let file: any PartFile

    /// Whether it is the same part file.
    package static func == (left: Self, right: Self) -> Bool {
        left.token == right.token && left.file === right.file
    }
}

/// Chunks of a file, with their proofs: what is checked or read.
package struct FileChunks: Sendable, Equatable {
    /// The path of the file, relative to the store.
    package var path: String
    /// The row.
    package var resource: ResourceID
    /// The whole length.
    package var total: UInt64
    /// How it is cut into chunks.
    package var grid: ChunkGrid
    /// Opens a sealed file; nil for one in clear. Not compared: a lecture has one.
    package var cipher: (any ContentCipher)?
    /// The chunks.
    package var proofs: [WrittenChunk]

    /// Describes chunks of a finished file.
    init(of record: ResourceRecord, _ cipher: (any ContentCipher)?, proofs: [WrittenChunk]) {
        (path, resource, total, grid) = (record.path, record.id, record.total ?? 0, record.grid)
        (self.cipher, self.proofs) = (cipher, proofs)
    }

    /// Whether they are the same chunks.
    package static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.resource == right.resource && left.total == right.total
            && left.grid == right.grid && left.proofs == right.proofs
    }

    /// Reads them, one after the other.
    ///
    /// - Parameter files: the disk.
    /// - Returns: their bytes.
    /// - Throws: ``LectureError`` with `damaged` for bytes that do not match their proof, or that of the disk.
    func bytes(from files: any PartFiles) throws(LectureError) -> [UInt8] {
        // Not copied: it may be a key.
        if proofs.count == 1 { return try bytes(of: proofs[0], from: files) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(proofs.reduce(0) { $0 + grid.range(of: $1.index, total: total).count })
        for proof in proofs { bytes += try self.bytes(of: proof, from: files) }
        return bytes
    }

    /// Reads one of them.
    ///
    /// - Parameters:
    ///   - chunk: its index.
    ///   - files: the disk.
    /// - Returns: its bytes.
    /// - Throws: as ``bytes(from:)``.
    func bytes(of chunk: Int, from files: any PartFiles) throws(LectureError) -> [UInt8] {
        guard let proof = proofs.first(where: { $0.index == chunk }) else {
            throw LectureError(.damaged, detail: path)
        }
        return try bytes(of: proof, from: files)
    }

    private func bytes(of proof: WrittenChunk, from files: any PartFiles) throws(LectureError) -> [UInt8] {
        let chunk = try files.read(
            path: path, resource: resource, total: total, grid: grid, cipher: cipher, proof: proof)
        guard let chunk else { throw LectureError(.damaged, detail: path) }
        return chunk
    }
}

/// A segment index in a finished file, read from the chunks that have it, each against its proof.
package struct IndexRead: Sendable, Equatable {
    /// The index.
    package var index: OpenPlaylists.Index
    /// The file, with the chunks that have the index.
    package var file: FileChunks

    /// Describes an index; nil when it is not within the file.
    init?(
        _ index: OpenPlaylists.Index, of record: ResourceRecord, _ cipher: (any ContentCipher)?,
        proofs: [WrittenChunk]
    ) {
        guard let total = record.total, index.range.end <= total else { return nil }
        let needed = proofs.filter { proof in
            let chunk = record.grid.range(of: proof.index, total: total)
            return chunk.lowerBound < index.range.end && chunk.upperBound > index.range.start
        }
        (self.index, file) = (index, FileChunks(of: record, cipher, proofs: needed))
    }

    /// Reads it.
    ///
    /// - Parameter files: the disk.
    /// - Returns: its bytes; nil when they are damaged or cannot be read.
    fileprivate func bytes(from files: any PartFiles) -> OpenPlaylists.IndexBytes? {
        guard let first = file.proofs.first, let bytes = try? file.bytes(from: files) else { return nil }
        let start = file.grid.range(of: first.index, total: file.total).lowerBound
        let part = bytes.dropFirst(Int(clamping: index.range.start - start)).prefix(Int(clamping: index.range.count))
        return OpenPlaylists.IndexBytes(bytes: Array(part), total: file.total)
    }
}

/// A finished file of a lecture, and the place outside the store where it is wanted.
package struct Publication: Sendable, Equatable {
    /// At most so many files are published at once.
    static let most = 32

    /// The lecture.
    package var content: ContentID
    /// What is wanted.
    package var order: OutputOrder
    /// Whether others may wait for it: where it has to be copied, a large file takes long.
    package var isSmall: Bool

    /// Creates a value.
    package init(content: ContentID, order: OutputOrder, isSmall: Bool) {
        (self.content, self.order, self.isSmall) = (content, order, isSmall)
    }
}

extension DownloadEffect: CustomStringConvertible {
    /// A few words, without URLs.
    package var description: String {
        switch self {
        case .transfer(let effect): effect.description
        case .part(let part, let command): "part \(part.token.value): \(command)"
        case .check(let token, let check): "part \(token.value): check \(check.proofs.count) chunks"
        case .inspect(let token, let read): "part \(token.value): inspect \(read.ends.count) ends"
        case .readDocuments(let content, let reads): "read \(reads.count) playlists of \(content.value)"
        case .readIndexes(let content, _, let reads): "read \(reads.count) segment indexes of \(content.value)"
        case .requestGrant(let content, _): "request the grant of \(content.value)"
        case .resolve(let content, _, _): "resolve \(content.value)"
        case .list: "list the files"
        case .delete(let paths, let purpose): "delete \(paths.count) files of \(purpose)"
        case .publish(let files):
            "publish " + files.map { "\($0.content.value) as \($0.order.output)" }.joined(separator: ", ")
        }
    }
}

extension DeletionPurpose: CustomStringConvertible {
    /// A few words.
    package var description: String {
        switch self {
        case .content(let id): "lecture \(id.value)"
        case .version(let id): "version \(id.value)"
        case .orphans: "no lecture"
        }
    }
}

// MARK: Performing

extension DownloadEngine {
    /// Performs one effect of a step that is committed. Never blocks.
    ///
    /// - Parameter effect: from ``commit()``, each once, in its order.
    package func perform(_ effect: DownloadEffect) {
        switch effect {
        case .transfer(let effect): ports.transport.perform(effect)
        case .part(let part, let command): part.file.perform(command)
        case .check(let token, let check): perform(check, of: token)
        case .inspect(let token, let read): inspect(read, of: token)
        case .readDocuments(let content, let reads): read(reads, of: content)
        case .readIndexes(let content, let version, let reads): read(reads, of: content, version)
        case .requestGrant(let content, let key): ports.licensing.requestGrant(content, key: key)
        case .resolve(let content, let key, let sourceURL):
            ports.resolver.resolve(content, key: key, sourceURL: sourceURL)
        case .list: ports.offload.run { [files = ports.files] in .listed((try? files.listing()) ?? []) }
        case .delete(let paths, let purpose): delete(paths, purpose)
        case .publish(let files): publish(files)
        }
    }

    private func perform(_ check: FileChunks, of token: PartToken) {
        ports.offload.run { [files = ports.files] in
            do throws(LectureError) {
                let damaged = try files.verify(
                    path: check.path, resource: check.resource, total: check.total, grid: check.grid,
                    cipher: check.cipher, proofs: check.proofs, pace: { _ in true })
                return .checked(token, damaged: damaged, nil)
            } catch {
                return .checked(token, damaged: [], error)
            }
        }
    }

    private func read(_ reads: [FileChunks], of content: ContentID) {
        ports.offload.run { [files = ports.files, xml = ports.xml] in
            do throws(LectureError) {
                var texts: [StreamText] = []
                for read in reads { texts.append(try StreamText(try read.bytes(from: files), xml: xml)) }
                return .documentsRead(content, .success(texts))
            } catch {
                return .documentsRead(content, .failure(error))
            }
        }
    }

    private func read(_ reads: [IndexRead], of content: ContentID, _ version: VersionID) {
        ports.offload.run { [files = ports.files] in
            var found: [String: OpenPlaylists.IndexBytes] = [:]
            for read in reads { found[read.index.file] = read.bytes(from: files) }
            return .indexesRead(content, version, found)
        }
    }

    private func delete(_ paths: [String], _ purpose: DeletionPurpose) {
        ports.offload.run { [files = ports.files] in
            do throws(LectureError) {
                for path in paths { try files.delete(path: path) }
                return .deleted(purpose, nil)
            } catch {
                return .deleted(purpose, error)
            }
        }
    }

    private func publish(_ wanted: [Publication]) {
        ports.offload.run { [files = ports.files] in
            .published(
                zip(wanted, files.publish(wanted.map(\.order))).map { file, outcome in
                    PublishedFile(content: file.content, path: file.order.output, outcome: outcome)
                })
        }
    }
}
