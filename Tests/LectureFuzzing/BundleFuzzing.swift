import LectureArchive
import LectureBundle
import LectureModel

/// Archives, manifests, catalogues and details of bundles, as bytes of a foreign disk.
extension FuzzTarget {
    static let bundles = [
        FuzzTarget("bundle-archive", longest: 8192, cost: 10, bundleArchive),
        FuzzTarget("bundle-text", longest: 1024, bundleText),
    ]

    private struct Memory: RandomBytes {
        let bytes: [UInt8]
        var count: UInt64 { UInt64(bytes.count) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
            let piece = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
            unsafe buffer.copyBytes(from: piece)
            return piece.count
        }
    }

    @Sendable private static func bundleArchive(_ input: [UInt8]) throws {
        // Whole blocks, as a disk has them; the end that every archive has is added.
        let blocks = input + [UInt8](repeating: 0, count: (512 - input.count % 512) % 512 + 1024)
        let memory = Memory(bytes: blocks)
        do throws(TarRefusal) {
            var end: UInt64 = 0
            for entry in try TarIndex.entries(of: memory, limit: 8) {
                try unwrap(entry.offset == end + 512, "a file follows the one before")
                try unwrap(entry.count <= memory.count - entry.offset, "a file ends within the archive")
                end = entry.offset + (entry.count + 511) / 512 * 512
            }
        } catch {
            if case .failed(let error) = error { try require(error.code != .bug, "\(error.message)") }
        }
        do throws(LectureError) { _ = try BundleReader(memory) } catch {
            let codes: [LectureError.Code] = [.bundleRefused, .bundleNewer, .bundleSignature, .bundleDamaged]
            try require(codes.contains(error.code), "a refusal is one of a bundle: \(error)")
        }
    }

    @Sendable private static func bundleText(_ input: [UInt8]) throws {
        if let manifest = try? BundleManifest(input) {
            try require(manifest.bytes == input, "a manifest has one form")
            try require(manifest.partBytes.isMultiple(of: 1 << 20), "parts are whole chunks")
        }
        if let lecture = try? BundledLecture(line: input) {
            try require(lecture.line == input + [0x0A], "a line has one form")
            try require(lecture.chunkCount <= 524_288 && lecture.files.first?.role == .details, "limits hold")
        }
        if let details = try? BundledDetails(input) {
            try require(details.bytes == input, "details have one form")
            try require(!details.url.isEmpty, "there is an address")
        }
        if let name = BundleName(text(input)) {
            try require(name.text.utf8.elementsEqual(input), "a name has one form")
        }
    }

    private static func unwrap(_ holds: Bool, _ property: String) throws(TarRefusal) {
        if !holds { throw .failed(LectureError(.bug, cause: property)) }
    }
}
