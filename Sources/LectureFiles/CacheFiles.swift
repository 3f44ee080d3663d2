import Glibc
package import LectureModel

/// The blocks of the streaming cache: `<root>/cache/<item>/<block>`, each a sealed file of one segment. Directories
/// have the mode 0700, files 0600.
///
/// Nothing is synced: a block is authenticated when it is opened, and counts as missing if that fails. A block is
/// written under another name and renamed, so that half of one never has its name.
package final class CacheFiles: Sendable {
    /// The directory's name in the store.
    package static let directoryName = "cache"
    /// The suffix of a block's name while it is being written, after its owner's number.
    private static let draftSuffix = ".new"

    private let root: String
    private let opened = Monitor<Descriptor?>(nil)

    /// Creates the value; nothing is touched.
    ///
    /// - Parameter root: the path of the store.
    package init(root: String) { self.root = root }

    // MARK: Blocks

    /// Opens a block.
    ///
    /// - Parameters:
    ///   - block: which; its length is that of its file.
    ///   - isLast: whether the media ends with it.
    ///   - cipher: of the item.
    /// - Returns: the bytes; nil when there is no such file, or it is not the block that was sealed here.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func read(
        _ block: StreamBlock, isLast: Bool, _ cipher: any ContentCipher
    ) throws(LectureError) -> [UInt8]? {
        let lead = SealedFormat.headerBytes
        let length = Int(clamping: block.bytes)
        guard length >= lead + SealedFormat.tagBytes, length <= SealedFormat.segmentBytes + lead,
            let sealed = contents(of: block, length)
        else { return nil }
        do throws(LectureError) {
            let opener = try cipher.opener(header: Array(sealed[..<lead]))
            var plain = [UInt8](repeating: 0, count: length - lead - SealedFormat.tagBytes)
            var failure: LectureError?
            unsafe sealed.withUnsafeBytes { box in
                unsafe plain.withUnsafeMutableBytes { target in
                    do throws(LectureError) {
                        try unsafe opener.open(
                            segment: block.index, isLast: isLast,
                            UnsafeRawBufferPointer(rebasing: box[lead...]), into: target)
                    } catch { failure = error }
                }
            }
            if let failure { throw failure }
            return plain
        } catch {
            if error.code == .damaged { return nil }
            throw error
        }
    }

    /// The bytes of a file that has just this length; nil otherwise.
    private func contents(of block: StreamBlock, _ length: Int) -> [UInt8]? {
        guard let directory = try? directory(of: block.item, creating: false),
            let file = try? directory.open(String(block.index), O_RDONLY | O_NONBLOCK),
            let status = try? file.status(), status.isRegular, status.byteCount == UInt64(length)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = try? unsafe bytes.withUnsafeMutableBytes { buffer throws(SystemError) in
            try unsafe file.read(buffer, at: 0)
        }
        return count == length ? bytes : nil
    }

    /// Seals and writes a block; replaces an existing one.
    ///
    /// - Parameters:
    ///   - plaintext: everything the block holds.
    ///   - block: which.
    ///   - isLast: whether the media ends with it.
    ///   - cipher: of the item.
    ///   - owner: who writes; in the name of the draft.
    /// - Throws: ``LectureError``: `storageFull`, `writeFile`, `createFile`, `createDirectory`, `storeReadOnly`,
    ///   `cryptography`.
    package func write(
        _ plaintext: [UInt8], as block: StreamBlock, isLast: Bool, _ cipher: any ContentCipher, by owner: OwnerID
    ) throws(LectureError) {
        let sealed = try Self.seal(plaintext, block.index, isLast: isLast, cipher)
        let path = "\(Self.directoryName)/\(block.item.value)/\(block.index)"
        let draft = "\(block.index).\(owner.value).\(UInt32.random(in: .min ... .max))\(Self.draftSuffix)"
        let directory: Descriptor
        let file: Descriptor
        do throws(SystemError) {
            guard let made = try self.directory(of: block.item, creating: true) else {
                throw SystemError(number: ENOENT)
            }
            directory = made
        } catch { throw FileIntent.makeDirectory.error(error, path) }
        do throws(SystemError) {
            file = try directory.open(draft, O_WRONLY | O_CREAT | O_EXCL)
        } catch { throw FileIntent.makeFile.error(error, path) }
        do throws(SystemError) {
            var failure: SystemError?
            unsafe sealed.withUnsafeBytes { bytes in
                do throws(SystemError) { try unsafe file.write(bytes, at: 0) } catch { failure = error }
            }
            if let failure { throw failure }
            let (from, to) = (draft, String(block.index))
            try systemCall { unsafe renameat(directory.number, from, directory.number, to) }
        } catch {
            _ = try? directory.unlink(draft)
            throw FileIntent.write.error(error, path)
        }
    }

    private static func seal(
        _ plaintext: [UInt8], _ index: Int, isLast: Bool, _ cipher: any ContentCipher
    ) throws(LectureError) -> [UInt8] {
        let header = try cipher.newHeader()
        // A header of its own for each file, so that writing a block again does not repeat a nonce.
        let sealer = try cipher.sealer(header: header, sealedBefore: [])
        // All at once: without the optimiser, zeros after the header would be appended one by one.
        var sealed = [UInt8](repeating: 0, count: header.count + plaintext.count + SealedFormat.tagBytes)
        sealed.replaceSubrange(..<header.count, with: header)
        var failure: LectureError?
        unsafe plaintext.withUnsafeBytes { text in
            unsafe sealed.withUnsafeMutableBytes { target in
                do throws(LectureError) {
                    try unsafe sealer.seal(
                        segment: index, isLast: isLast, text,
                        into: UnsafeMutableRawBufferPointer(rebasing: target[SealedFormat.headerBytes...]))
                } catch { failure = error }
            }
        }
        if let failure { throw failure }
        return sealed
    }

    // MARK: Deleting and listing

    /// Deletes files; those that are gone already are skipped.
    ///
    /// - Parameter garbage: items with everything in their directories, and single blocks.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile`` for the first that cannot be deleted, after the
    ///   others.
    package func delete(_ garbage: StreamGarbage) throws(LectureError) {
        var failure: LectureError?
        for block in garbage.blocks {
            do throws(SystemError) {
                try directory(of: block.item, creating: false)?.unlink(String(block.index))
            } catch {
                failure = failure ?? FileIntent.write.error(error, "\(Self.directoryName)/\(block.item.value)")
            }
        }
        for item in garbage.items {
            do throws(SystemError) {
                guard let directory = try directory(of: item, creating: false) else { continue }
                for name in try directory.names() { try directory.unlink(name) }
                try cache(creating: false)?.remove(String(item.value))
            } catch {
                failure = failure ?? FileIntent.write.error(error, "\(Self.directoryName)/\(item.value)")
            }
        }
        if let failure { throw failure }
    }

    /// Lists the cache. Drafts of dead owners are deleted along the way.
    ///
    /// - Parameter isAlive: whether an owner lives.
    /// - Returns: the numbers of the blocks of each item that has a directory.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package func inspect(isAlive: (OwnerID) -> Bool) throws(LectureError) -> [StreamItemID: Set<Int>] {
        var found: [StreamItemID: Set<Int>] = [:]
        try walk { item, directory, name in
            if let index = Self.index(name) {
                found[item, default: []].insert(index)
            } else if let owner = Self.owner(name), !isAlive(owner) {
                _ = try? directory.unlink(name)
            }
            found[item, default: []].formUnion([])
        }
        return found
    }

    /// The space the files of the cache take.
    ///
    /// - Returns: the sum of their lengths in bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package func bytes() throws(LectureError) -> Int64 {
        var sum: Int64 = 0
        try walk { _, directory, name in
            if let status = try? directory.status(of: name), status.isRegular { sum += Int64(status.byteCount) }
        }
        return sum
    }

    /// Passes every name in every item's directory; an empty name for a directory that holds none.
    private func walk(_ body: (StreamItemID, Descriptor, String) -> Void) throws(LectureError) {
        do throws(SystemError) {
            guard let cache = try cache(creating: false) else { return }
            for entry in try cache.names() {
                guard let number = Int64(entry), String(number) == entry else { continue }
                let item = StreamItemID(number)
                // It may disappear meanwhile.
                guard let directory = try? directory(of: item, creating: false) else { continue }
                let names = try directory.names()
                for name in names.isEmpty ? [""] : names { body(item, directory, name) }
            }
        } catch { throw FileIntent.read.error(error, Self.directoryName) }
    }

    private static func index(_ name: String) -> Int? {
        guard let index = Int(name), index >= 0, String(index) == name else { return nil }
        return index
    }

    /// Who writes a draft.
    private static func owner(_ name: String) -> OwnerID? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, ".\(parts[3])" == draftSuffix, let owner = Int64(parts[1]) else { return nil }
        return OwnerID(owner)
    }

    // MARK: Directories

    /// The directory of an item; nil when it is missing and not to be created.
    private func directory(of item: StreamItemID, creating: Bool) throws(SystemError) -> Descriptor? {
        guard let cache = try cache(creating: creating) else { return nil }
        return try Self.directory(String(item.value), in: cache, creating: creating)
    }

    /// The cache's directory, held open once it exists.
    private func cache(creating: Bool) throws(SystemError) -> Descriptor? {
        if let known = opened.read({ $0 }) { return known }
        let path = root
        let store = Descriptor(
            takingOwnership: try systemCall { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        let made = try Self.directory(Self.directoryName, in: store, creating: creating)
        if let made { opened.change { $0 = made } }
        return made
    }

    private static func directory(
        _ name: String, in parent: Descriptor, creating: Bool
    ) throws(SystemError) -> Descriptor? {
        for _ in 0..<2 {
            do {
                return try parent.open(name, O_RDONLY | O_DIRECTORY)
            } catch {
                if error.number != ENOENT { throw error }
                if !creating { return nil }
            }
            try parent.makeDirectory(name)
        }
        throw SystemError(number: ENOENT)
    }
}
