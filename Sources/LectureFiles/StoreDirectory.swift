import Glibc
package import LectureModel

/// The media of a store on disk: `<root>/media/<bucket>/<name>`, and `<name>.part` while a file is being downloaded.
/// Directories have the mode 0700, files 0600.
package final class StoreDirectory: PartFiles {
    /// How many blocks wait for the disk. Shared by all files.
    package let budget: DiskBudget
    let media: MediaDirectory
    let digests: any DigestMaker

    /// Opens the directory; creates what is missing.
    ///
    /// - Parameters:
    ///   - root: the path of the store.
    ///   - digests: makes proofs and digests.
    ///   - budget: bounds what waits for the disk; one per process.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createDirectory``, ``LectureError/Code/storeReadOnly``,
    ///   ``LectureError/Code/storageFull`` or ``LectureError/Code/parameter``.
    package convenience init(
        root: String, digests: any DigestMaker, budget: DiskBudget = DiskBudget()
    ) throws(LectureError) {
        try self.init(root: root, digests: digests, budget: budget, syncs: DirectorySyncs())
    }

    /// The same with what syncs its directories, and those of outputs.
    init(
        root: String, digests: any DigestMaker, budget: DiskBudget = DiskBudget(), syncs: DirectorySyncs
    ) throws(LectureError) {
        media = try MediaDirectory(root: root, syncs: syncs)
        self.digests = digests
        self.budget = budget
    }

    /// A part file that is not open; all share the budget.
    package func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile {
        DiskPartFile(media: media, digests: digests, budget: budget, receiver: receiver)
    }

    /// Deletes a file and its part file, durably.
    package func delete(path text: String) throws(LectureError) {
        let path = try MediaPath(text)
        do {
            guard let bucket = try media.bucket(of: path, creating: false) else { return }
            let replacement = try bucket.unlink(path.replacementName)
            let part = try bucket.unlink(path.partName)
            let final = try path.isPart ? false : bucket.unlink(path.name)
            if replacement || part || final { try bucket.sync() }
            if path.bucket.hasPrefix(StreamPlaylistPath.prefix) { removeIfEmpty(path.bucket) }
        } catch {
            throw FileIntent.write.error(error, text)
        }
    }

    /// A directory of playlists goes with its last file; it is made again when it is needed.
    private func removeIfEmpty(_ bucket: String) { try? media.descriptor.remove(bucket) }

    /// Writes a small file of text in the place of another one, or of none. It is there as a whole or not at all; it is
    /// not durable, since it can be made again.
    ///
    /// - Parameters:
    ///   - text: what it contains.
    ///   - path: relative to the store.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile``, ``LectureError/Code/storeReadOnly``,
    ///   ``LectureError/Code/storageFull`` or ``LectureError/Code/nameRefused``.
    package func write(_ text: String, to path: String) throws(LectureError) {
        let place = try MediaPath(path)
        do {
            try media.descriptor.makeDirectory(place.bucket)
            let bucket = try media.descriptor.open(place.bucket, O_RDONLY | O_DIRECTORY)
            let file = try bucket.open(place.replacementName, O_WRONLY | O_CREAT | O_TRUNC)
            try Self.fill(file, Array(text.utf8))
            try systemCall { unsafe renameat(bucket.number, place.replacementName, bucket.number, place.name) }
        } catch {
            throw FileIntent.write.error(error, path)
        }
    }

    private static func fill(_ file: Descriptor, _ bytes: [UInt8]) throws(SystemError) {
        let outcome = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try unsafe file.write(bytes, at: 0) }
        }
        try outcome.get()
    }

    /// The lengths of a file and of its part file; a link or a directory counts as missing.
    package func status(path text: String) -> (final: UInt64?, part: UInt64?) {
        guard let path = try? MediaPath(text), let bucket = try? media.bucket(of: path, creating: false) else {
            return (nil, nil)
        }
        func length(_ name: String) -> UInt64? {
            guard let status = try? bucket.status(of: name), status.isRegular else { return nil }
            return status.byteCount
        }
        return (length(path.name), length(path.partName))
    }

    /// Whether the media directory is empty.
    package func isEmpty() throws(LectureError) -> Bool {
        try names(in: media.descriptor, MediaPath.mediaDirectory).isEmpty
    }

    /// The bytes an unprivileged user may still write.
    package func freeBytes() throws(LectureError) -> UInt64 { try media.freeBytes() }

    /// How long callers have waited for the disk.
    package var blockedTime: Duration { budget.blockedTime }

    /// The bytes an unprivileged user may still write, and the size of the file system; nil where it does not count
    /// them.
    package func diskBytes() throws(LectureError) -> (free: UInt64, size: UInt64)? { try media.diskBytes() }

    /// Every regular file below the media directory.
    package func listing() throws(LectureError) -> [String] {
        var paths: Set<String> = []
        for bucket in try names(in: media.descriptor, MediaPath.mediaDirectory) {
            let directory: Descriptor
            do {
                directory = try media.descriptor.open(bucket, O_RDONLY | O_DIRECTORY)
            } catch {
                // A file, a link, or a bucket deleted meanwhile: nothing of ours is below it.
                if [ENOENT, ENOTDIR, ELOOP].contains(error.number) { continue }
                throw FileIntent.read.error(error, bucket)
            }
            for name in try names(in: directory, bucket) {
                let status: stat?
                do { status = try directory.status(of: name) } catch { throw FileIntent.read.error(error, name) }
                guard status?.isRegular == true else { continue }
                paths.insert("\(MediaPath.mediaDirectory)/\(bucket)/\(MediaPath.listed(name))")
            }
        }
        return paths.sorted()
    }

    private func names(in directory: Descriptor, _ subject: String) throws(LectureError) -> [String] {
        do {
            return try directory.names()
        } catch {
            throw FileIntent.read.error(error, subject)
        }
    }
}
