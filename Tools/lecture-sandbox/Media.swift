import CSandbox
import SandboxSecurity

/// The bytes of one lecture: a file in memory, or the stream of a generator.
struct Media: Sendable {
    private enum Content: Sendable {
        case file([UInt8])
        case generated(seed: UInt64)
    }

    /// The last component of the path, for instance `bytes-2M-7.mp4`.
    let name: String
    /// Its length in bytes.
    let count: Int
    private let content: Content
    /// 0, or the number of the changed version that is served.
    private(set) var version = 0
    /// How many bytes in the middle the changed version differs in; `nil` for all.
    private var changedCount: Int?

    /// A file that was read.
    init(name: String, bytes: [UInt8]) {
        self.name = name
        count = bytes.count
        content = .file(bytes)
    }

    /// A generated lecture.
    ///
    /// - Parameter name: `bytes-SIZE-SEED.mp4` with a size like `64K`, `2M`, `1G` or `12345`; `nil` for other names.
    init?(generatedName name: String) {
        let stem = name.hasSuffix(".mp4") ? name.dropLast(4) : name[...]
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "bytes", let count = Self.size(parts[1]), let seed = UInt64(parts[2])
        else { return nil }
        self.name = name
        self.count = count
        content = .generated(seed: seed)
    }

    /// Reads a size with a binary suffix, at most 1 TiB.
    private static func size(_ text: Substring) -> Int? {
        let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
        let shift = text.last.flatMap { shifts[$0] } ?? 0
        let digits = shift == 0 ? text : text.dropLast()
        guard let number = Int(digits), number >= 0, number <= 1 << (40 - shift) else { return nil }
        return number << shift
    }

    /// The same lecture after its owner replaced it.
    ///
    /// - Parameters:
    ///   - version: from 1.
    ///   - changedCount: how many bytes differ, in the middle; `nil` for all.
    /// - Returns: media of the same length with other bytes.
    func changed(toVersion version: Int, changedCount: Int?) -> Media {
        var copy = self
        copy.version = version
        copy.changedCount = changedCount
        return copy
    }

    /// What identifies a byte sequence: name and version.
    var identity: String {
        "\(name)/\(version)" + (changedCount.map { "/\($0)" } ?? "")
    }

    /// Writes bytes of the lecture.
    ///
    /// - Parameters:
    ///   - offset: the first byte; `offset` + the buffer's length must not pass ``count``.
    ///   - buffer: filled to its end.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress, buffer.count > 0 else { return }
        switch content {
        case .file(let bytes):
            let part = offset..<offset + buffer.count
            unsafe bytes.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[part])) }
        case .generated(let seed):
            let wholeChange = version > 0 && changedCount == nil
            let shifted = wholeChange ? seed &+ UInt64(version) &* 0xD1B5_4A32_D192_ED03 : seed
            unsafe csandbox_fill(shifted, UInt64(offset), base.assumingMemoryBound(to: UInt8.self), buffer.count)
        }
        guard let changes = changedRange else { return }
        for position in changes.clamped(to: offset..<offset + buffer.count) {
            unsafe buffer[position - offset] ^= UInt8(truncatingIfNeeded: version) | 0x80
        }
    }

    /// The bytes that are changed when sent; a generated lecture that changed as a whole has another seed.
    private var changedRange: Range<Int>? {
        guard version > 0 else { return nil }
        if let changedCount {
            let middle = count / 2
            return middle..<min(count, middle + changedCount)
        }
        // The beginning is kept, so that it is still a video.
        if case .file = content { return min(16, count)..<count }
        return nil
    }

    /// The SHA-256 of all bytes, 32 bytes.
    func sha256() -> [UInt8] {
        var hasher = SHA256Hasher()
        var buffer = [UInt8](repeating: 0, count: min(count, 1 << 20))
        var offset = 0
        while offset < count {
            let part = min(buffer.count, count - offset)
            unsafe buffer.withUnsafeMutableBytes { bytes in
                let slice = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<part])
                unsafe read(at: offset, into: slice)
                unsafe hasher.update(UnsafeRawBufferPointer(slice))
            }
            offset += part
        }
        return hasher.finish()
    }

    /// The strong entity tag of this version.
    var entityTag: String { "\"\(name)-\(count)-v\(version)\"" }

    /// When this version was made: a day in 2026 plus a minute per version, in seconds since the epoch.
    var modifiedAt: Int64 { 1_767_571_200 + Int64(version) * 60 }
}
