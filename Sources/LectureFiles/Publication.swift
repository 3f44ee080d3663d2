import CSystem
import Glibc
import LectureModel

/// A path outside the store where a finished file is also to appear, whole or not at all.
///
/// The first of three ways that works: shared blocks (`FICLONE`), a hard link, a copy. A copy has no name until it is
/// whole (`O_TMPFILE`), so that a kill in the middle leaves nothing behind; only a file that replaces another one has a
/// temporary name, between a link and a rename.
struct Publication {
    private let output: String
    private let place: OutputPlace
    private let media: MediaDirectory
    private var directory: Descriptor { place.directory }

    /// Opens the output's directory, which must exist.
    ///
    /// - Parameters:
    ///   - output: a path, relative to the working directory or absolute. Links among its directories are followed; it
    ///     belongs to the user.
    ///   - media: the directory of the finished files. It syncs the output's directory for several files at once, and
    ///     knows what was found of other outputs.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` when it cannot be a file.
    init(output: String, of media: MediaDirectory) throws(LectureError) {
        (self.output, self.media) = (output, media)
        place = try OutputPlace(output)
    }

    /// What is there now.
    ///
    /// - Returns: the file; nil when the name is free.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` for a place that is never used: below the
    ///   store, or a directory, a device, a FIFO or a socket.
    func inspect() throws(LectureError) -> stat? {
        let stores = try media.places()
        let there: stat?
        let isOutside: Bool
        do {
            isOutside = try media.outside.contains(directory, stores)
            there = try directory.status(of: place.name)
        } catch {
            throw failure(error)
        }
        if !isOutside { throw LectureError(.outputRefused, detail: output, cause: "it is inside the store") }
        guard let there else { return nil }
        if there.isDirectory { throw failure(SystemError(number: EISDIR)) }
        if !there.isRegular, !there.isLink {
            throw LectureError(.outputRefused, detail: output, cause: "a device, a FIFO or a socket has this name")
        }
        return there
    }

    /// Puts the file there; its name is durable after ``syncName()``. A file with the same bytes stays as it is.
    ///
    /// - Parameters:
    ///   - source: the finished file, open for reading.
    ///   - sourceName: its name, for a hard link.
    ///   - bucket: the directory it is in.
    ///   - right: what may be replaced.
    /// - Returns: the file that is there now.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused``, ``LectureError/Code/outputExists``,
    ///   ``LectureError/Code/storageFull`` or ``LectureError/Code/readFile``.
    func receive(
        _ source: Descriptor, named sourceName: String, in bucket: Descriptor, replacing right: OutputRight
    ) throws(LectureError) -> OutputFacts {
        let there = try inspect()
        do throws(SystemError) {
            let status = try source.status()
            if let there {
                // Already linked. Renaming a file onto itself does nothing and would leave the temporary name.
                if there.isSameFile(as: status) { return status.outputFacts }
                if there.isRegular, let same = try twin(of: source, status) { return same }
                let mayReplace = right == .any || there.isRegular && right.allows(there.outputFacts)
                if !mayReplace { throw SystemError(number: EEXIST) }
            }
            var facts = try clone(source, status, right)
            if facts == nil, try link(sourceName, in: bucket, right) { facts = status.outputFacts }
            if let facts { return facts }
        } catch {
            throw failure(error)
        }
        return try copy(source, right)
    }

    /// Makes the name durable, also one that was there: the program that gave it may have died before its sync.
    ///
    /// - Returns: the error of the sync.
    func syncName() -> Result<Void, SystemError> {
        Result { () throws(SystemError) in try media.syncs.sync(directory) }
    }

    /// Which directory the name is in.
    ///
    /// - Returns: its identity.
    /// - Throws: ``SystemError``.
    func parent() throws(SystemError) -> FileIdentity { FileIdentity(try directory.status()) }

    /// What is reported for an error of the output.
    func failure(_ error: SystemError) -> LectureError {
        error.number == EEXIST
            ? LectureError(.outputExists, detail: output) : FileIntent.output.error(error, output)
    }

    /// The file that is there when it has the source's bytes: an earlier output, or one of which nothing would be lost.
    private func twin(of source: Descriptor, _ status: stat) throws(SystemError) -> OutputFacts? {
        // Neither waits for a FIFO that has taken the name meanwhile.
        guard let file = try? directory.open(place.name, O_RDONLY | O_NONBLOCK) else { return nil }
        let facts = try file.status()
        guard facts.isRegular, facts.byteCount == status.byteCount else { return nil }
        let length = ReadableFile.bufferBytes
        var (one, other) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: length))
        var position: UInt64 = 0
        while position < facts.byteCount {
            let count = try Self.fill(&one, from: source, at: position)
            let otherCount = try Self.fill(&other, from: file, at: position)
            guard count > 0, count == otherCount, one[..<count] == other[..<count] else { return nil }
            position += UInt64(count)
        }
        return facts.outputFacts
    }

    private static func fill(
        _ bytes: inout [UInt8], from file: Descriptor, at position: UInt64
    ) throws(SystemError) -> Int {
        let result: Result<Int, SystemError> = unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(SystemError) {
                return .success(try unsafe file.read(buffer, at: position))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: The three ways

    /// Shares the source's blocks; nil where the file system cannot.
    private func clone(
        _ source: Descriptor, _ status: stat, _ right: OutputRight
    ) throws(SystemError) -> OutputFacts? {
        let there = try directory.status()
        guard !media.unshared.contains(status, there), let file = try? place.makeFile() else { return nil }
        let failure = csystem_clone(source.number, file.descriptor.number)
        guard failure == 0 else {
            file.discard()
            media.unshared.failed(status, there, failure)
            return nil
        }
        try place.install(file, replacing: right)
        return try file.descriptor.status().outputFacts
    }

    /// Gives the file a second name; false where that is impossible.
    private func link(_ sourceName: String, in bucket: Descriptor, _ right: OutputRight) throws(SystemError) -> Bool {
        do {
            try place.give(right) { (new) throws(SystemError) in
                try systemCall { unsafe linkat(bucket.number, sourceName, directory.number, new, 0) }
            }
            return true
        } catch {
            // Another file system, one without links, too many links, or protected links.
            if [EXDEV, EOPNOTSUPP, EPERM, EMLINK, ENOSYS].contains(error.number) { return false }
            throw error
        }
    }

    private func copy(_ source: Descriptor, _ right: OutputRight) throws(LectureError) -> OutputFacts {
        let file: OutputPlace.NewFile
        let total: UInt64
        do {
            file = try place.makeFile()
            total = try source.status().byteCount
        } catch {
            throw failure(error)
        }
        do throws(LectureError) {
            try copyBytes(source, to: file.descriptor, total)
        } catch {
            file.discard()
            throw error
        }
        do {
            try place.install(file, replacing: right)
            return try file.descriptor.status().outputFacts
        } catch {
            throw failure(error)
        }
    }

    private func copyBytes(_ source: Descriptor, to target: Descriptor, _ total: UInt64) throws(LectureError) {
        if let length = off_t(exactly: total), length > 0 {
            let status = csystem_fallocate(target.number, 0, length)
            if status == ENOSPC || status == EDQUOT {
                throw FileIntent.output.error(SystemError(number: status), output)
            }
        }
        let reader = ReadableFile(source, output)
        var position: UInt64 = 0
        while position < total {
            let length = Int(min(UInt64(ReadableFile.bufferBytes), total - position))
            var failure: SystemError?
            try unsafe reader.read(length, at: position) { bytes in
                do throws(SystemError) {
                    try unsafe target.write(bytes, at: position)
                } catch {
                    failure = error
                }
            }
            if let failure { throw FileIntent.output.error(failure, output) }
            position += UInt64(length)
        }
    }
}
