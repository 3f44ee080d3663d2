import Glibc
package import LectureModel

/// A file that is written for the user from start to end and gets its name only when it is whole and durable. Used by
/// one thread at a time.
package final class OutputFile {
    private let path: String
    private let replaces: Bool
    private let place: OutputPlace
    private let file: OutputPlace.NewFile
    private var count: UInt64 = 0
    private var isFinished = false

    /// Creates the file, without its name.
    ///
    /// - Parameters:
    ///   - path: where it is to be placed; the directory must exist.
    ///   - mayReplace: whether an existing regular file is replaced when this one is whole.
    ///   - readableByAll: whether every user may read it (0644), whatever the umask. Otherwise only its owner may: it
    ///     contains learners' data.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputExists``, ``LectureError/Code/outputRefused`` or
    ///   ``LectureError/Code/storageFull``.
    package init(_ path: String, mayReplace: Bool, readableByAll: Bool = false) throws(LectureError) {
        (self.path, replaces) = (path, mayReplace)
        place = try OutputPlace(path)
        try Self.inspect(place, path, mayReplace)
        do throws(SystemError) {
            file = try place.makeFile(mode: 0o600)
            if readableByAll { try systemCall { fchmod(file.descriptor.number, 0o644) } }
        } catch {
            throw FileIntent.output.error(error, path)
        }
    }

    deinit { if !isFinished { file.discard() } }

    /// Whether the name is free, or may be taken from a regular file: a device must not be replaced by a file.
    private static func inspect(
        _ place: OutputPlace, _ path: String, _ mayReplace: Bool
    ) throws(LectureError) {
        do throws(SystemError) {
            guard let there = try place.directory.status(of: place.name) else { return }
            if there.isDirectory { throw SystemError(number: EISDIR) }
            if !there.isRegular { throw SystemError(number: EEXIST) }
        } catch {
            throw FileIntent.output.error(error, path)
        }
        if !mayReplace { throw LectureError(.outputExists, detail: path) }
    }

    /// Writes the next bytes.
    ///
    /// - Parameter bytes: what follows.
    /// - Throws: ``LectureError`` with ``LectureError/Code/storageFull`` or ``LectureError/Code/outputRefused``.
    package func write(_ bytes: [UInt8]) throws(LectureError) {
        let failure: SystemError? = unsafe bytes.withUnsafeBytes { buffer in
            do throws(SystemError) {
                try unsafe file.descriptor.write(buffer, at: count)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw FileIntent.output.error(failure, path) }
        count += UInt64(bytes.count)
    }

    /// Makes the bytes durable and gives the file its name, durably.
    ///
    /// - Throws: as ``write(_:)``; the name is unchanged then.
    package func finish() throws(LectureError) {
        try Self.inspect(place, path, replaces)
        do throws(SystemError) {
            try place.install(file, replacing: replaces ? .any : .nothing)
            isFinished = true
            try place.directory.sync()
        } catch {
            throw FileIntent.output.error(error, path)
        }
    }
}
