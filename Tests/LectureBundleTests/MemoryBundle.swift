import Foundation
import LectureArchive
import LectureBundle
import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport

/// Bytes in memory, as an archive.
struct MemoryBytes: RandomBytes {
    let bytes: [UInt8]
    var count: UInt64 { UInt64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
        guard offset < count else { return 0 }
        let piece = bytes[Int(offset)...].prefix(buffer.count)
        unsafe buffer.copyBytes(from: piece)
        return piece.count
    }
}

/// A small bundle in memory, and what was put into it.
struct MemoryBundle {
    static let partBytes: UInt64 = 2 << 20

    let bytes: [UInt8]
    let device: DeviceKey
    let signer: BundleSigner
    /// The media by lecture.
    let media: [[UInt8]]

    /// Makes one with a lecture of some segments, one of a single segment with all kinds of files, and an empty one.
    init(signer given: BundleSigner? = nil, sizes: [Int] = [5_000_000, 70_000, 0]) throws {
        let (device, maker) = (try DeviceKey.generate(), try DeviceKey.generate())
        let signer = try given ?? BundleSigner(device: maker)
        let sink = Guarded<[UInt8]>([])
        let writer = try BundleWriter(
            signer: signer, recipients: [try Self.recipient(maker), try Self.recipient(device)],
            partBytes: Self.partBytes
        ) { bytes throws(LectureError) in sink.withLock { $0 += bytes } }
        var media: [[UInt8]] = []
        for (index, size) in sizes.enumerated() {
            let bytes = Self.sample(size, seed: UInt64(index + 1))
            media.append(bytes)
            var lecture = BundledLecture(key: try ContentKey("lecture-\(index)"))
            (lecture.title, lecture.course, lecture.isLicensed) = ("강의 \(index)", "Course", index == 1)
            var files: [(role: BundledRole, bytes: [UInt8])] = [(.media, bytes)]
            if index == 1 {
                files += [(.subtitle, Array("WEBVTT".utf8)), (.subtitle, []), (.snapshot, Self.sample(300, seed: 9))]
            }
            let sources = files.map {
                BundledDetails.Source(
                    url: "http://h.example/\(index)/\($0.role)/\($0.bytes.count)", mediaType: "a/b", entityTag: "\"e\"",
                    lastModified: nil)
            }
            let details = BundledDetails(
                url: index == 1 ? "http://h.example/i/1" : sources[0].url, sources: sources,
                absentURLs: index == 1 ? ["http://h.example/gone"] : [])
            var all: [(role: BundledRole, bytes: [UInt8])] = [(.details, details.bytes)]
            if index == 1 { all.append((.description, Array(#"{"version":1}"#.utf8))) }
            all += files
            try writer.begin(
                lecture, files: all.map { BundledFile(role: $0.role, count: UInt64($0.bytes.count)) })
            for (place, file) in all.enumerated() {
                try writer.beginFile(place)
                // In pieces that are no segments.
                for start in stride(from: 0, to: file.bytes.count, by: 300_007) {
                    try writer.write(Array(file.bytes[start...].prefix(300_007)))
                }
                try writer.endFile()
            }
            try writer.end(sha256: try Self.sha256(bytes))
        }
        try writer.finish(created: Timestamp(milliseconds: 1_700_000_000_000))
        (self.bytes, self.device, self.signer, self.media) = (sink.withLock(\.self), device, signer, media)
    }

    static func recipient(_ key: DeviceKey) throws -> BundleRecipient {
        try BundleRecipient(try JSONScanner.scan(try key.publicJWK()))
    }

    static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
        try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32)).sha256(of: bytes)
    }

    static func sample(_ count: Int, seed: UInt64) -> [UInt8] { SampleBytes.make(count, seed: seed) }

    /// The whole of a file as a device gets it.
    static func opened(_ bundle: BundleReader, _ lecture: Int, _ file: Int, _ key: BundleKey, from offset: UInt64 = 0)
        throws
        -> [UInt8]
    {
        var bytes: [UInt8] = []
        try unsafe bundle.open(lecture: lecture, file: file, key: key, from: offset) { piece in
            unsafe bytes.append(contentsOf: piece)
            return true
        }
        return bytes
    }
}

/// A file of an archive with its bytes, to make archives that no writer makes.
struct LooseFile {
    var name: String
    var bytes: [UInt8]
    var type = UInt8(ascii: "0")
    var link = ""
    var size: Int?
    var magic = Array("ustar\0".utf8) + Array("00".utf8)
    var mode = "0000644"

    /// The header, with a right checksum.
    var header: [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: [UInt8], _ offset: Int) { block.replaceSubrange(offset..<(offset + text.count), with: text) }
        func octal(_ number: Int, _ digits: Int) -> [UInt8] {
            let text = String(number, radix: 8)
            return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
        }
        put(Array(name.utf8.prefix(100)), 0)
        put(Array(mode.utf8), 100)
        put(octal(0, 7), 108)
        put(octal(0, 7), 116)
        put(octal(size ?? bytes.count, 11), 124)
        put(octal(0, 11), 136)
        put([UInt8](repeating: 0x20, count: 8), 148)
        block[156] = type
        put(Array(link.utf8.prefix(100)), 157)
        put(magic, 257)
        let sum = block.reduce(0) { $0 + Int($1) }
        put(octal(sum, 6) + [0, 0x20], 148)
        return block
    }

    static func archive(_ files: [LooseFile], end: Int = 1024) -> [UInt8] {
        var bytes: [UInt8] = []
        for file in files {
            bytes += file.header + file.bytes
            bytes += [UInt8](repeating: 0, count: (512 - file.bytes.count % 512) % 512)
        }
        return bytes + [UInt8](repeating: 0, count: end)
    }

    static func files(of archive: [UInt8]) throws -> [LooseFile] {
        try TarIndex.entries(of: MemoryBytes(bytes: archive), limit: 10_000).map { entry in
            LooseFile(name: entry.name, bytes: Array(archive[Int(entry.offset)...].prefix(Int(entry.count))))
        }
    }
}
