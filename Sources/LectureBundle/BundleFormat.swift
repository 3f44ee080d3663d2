import LectureModel

/// The constants of the format; docs/bundle.md describes it.
package enum BundleFormat {
    /// The version of the manifest.
    package static let version = 1
    /// The directory that all files of an archive are in.
    package static let folder = "lecturekit-bundle"
    /// The length of a chunk in bytes: a segment of a sealed file. The last one of a file may be shorter.
    package static let chunkBytes = UInt64(SealedFormat.segmentBytes)
    /// The length of a digest in bytes.
    package static let digestBytes = 32
    /// How much of a sealed file one file of the archive holds, in bytes: below the largest that any tar reads.
    package static let partBytes: UInt64 = 4 << 30
}

/// How large a bundle may be. What exceeds a limit is refused before memory is taken for it.
package struct BundleLimits: Sendable, Hashable {
    /// Files of the archive.
    package var entries = 250_000
    /// Lectures.
    package var lectures = 20_000
    /// Files of one lecture.
    package var files = 64
    /// Parts of one file.
    package var parts = 1000
    /// The catalogue in bytes; it is in memory as a whole.
    package var catalogueBytes: UInt64 = 16 << 20
    /// The signed manifest in bytes.
    package var manifestBytes: UInt64 = 1 << 20
    /// The digests of one lecture in bytes: enough for 512 GiB.
    package var digestBytes: UInt64 = 16 << 20
    /// The details of one lecture, and the gateway's answer, in bytes.
    package var documentBytes: UInt64 = 2 << 20
    /// Devices that a bundle is for.
    package var recipients = 1000

    /// The limits of the format.
    package init() {}
}

/// The name of a file of the archive. The grammar has lower-case letters, digits and `.` only, below one directory, so
/// that no name leads out of it and no two names are the same for any file system.
package enum BundleName: Hashable, Sendable {
    /// A part of a sealed file.
    ///
    /// - Parameters:
    ///   - lecture: its number, from 1.
    ///   - file: its number in the lecture, from 0.
    ///   - part: its number in the file, from 0.
    case part(lecture: Int, file: Int, part: Int)
    /// The digests of a lecture's chunks.
    ///
    /// - Parameter lecture: its number, from 1.
    case digests(lecture: Int)
    /// The list of the lectures.
    case catalogue
    /// The signed manifest, the last file.
    case manifest

    /// Reads a name; nil for every other one, and for another spelling of one.
    ///
    /// - Parameter text: a path in the archive.
    package init?(_ text: String) {
        let pieces = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard text.utf8.count < 64, pieces.first?.elementsEqual(BundleFormat.folder.utf8) == true else { return nil }
        switch pieces.count {
        case 2 where pieces[1].elementsEqual("catalogue.jsonl".utf8): self = .catalogue
        case 2 where pieces[1].elementsEqual("manifest.jws".utf8): self = .manifest
        case 3:
            guard let lecture = Self.number(pieces[1], digits: 6), lecture > 0 else { return nil }
            if pieces[2].elementsEqual("digests".utf8) {
                self = .digests(lecture: lecture)
                return
            }
            let numbers = pieces[2].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard numbers.count == 2, let file = Self.number(numbers[0], digits: 2),
                let part = Self.number(numbers[1], digits: 3)
            else { return nil }
            self = .part(lecture: lecture, file: file, part: part)
        default: return nil
        }
    }

    /// The path in the archive.
    package var text: String {
        switch self {
        case .part(let lecture, let file, let part):
            "\(BundleFormat.folder)/\(Self.text(lecture, 6))/\(Self.text(file, 2)).\(Self.text(part, 3))"
        case .digests(let lecture): "\(BundleFormat.folder)/\(Self.text(lecture, 6))/digests"
        case .catalogue: "\(BundleFormat.folder)/catalogue.jsonl"
        case .manifest: "\(BundleFormat.folder)/manifest.jws"
        }
    }

    private static func number(_ text: Substring.UTF8View, digits: Int) -> Int? {
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func text(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

extension LectureError {
    /// The refusal of a file that is no bundle.
    ///
    /// - Parameter cause: what is wrong, without a full stop.
    /// - Returns: the error, without the file's name.
    static func refusedBundle(_ cause: String) -> LectureError { LectureError(.bundleRefused, cause: cause) }
}
