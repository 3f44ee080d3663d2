import LectureBundle
import LectureCommand
import LectureModel
import LectureRecords

/// The lines of `bundle`, with all members and with few.
enum BundleLines {
    static func all(_ key: ContentKey) -> [(schema: String, line: String)] {
        let signer = String(repeating: "s", count: 43)
        var full = BundledLecture(key: key)
        (full.title, full.course, full.teacher, full.folder) = ("t", "c", "p", "a/b")
        full.isLicensed = true
        full.sha256 = [UInt8](repeating: 7, count: 32)
        full.files = [BundledFile(role: .details, count: 9), BundledFile(role: .media, count: 5_000_000)]
        var bare = BundledLecture(key: key)
        bare.sha256 = full.sha256
        let dry = BundleTotals(path: "b.tar", lectures: 0, present: 1, refused: 2, bytes: 3, signer: nil)
        let done = BundleTotals(path: "b.tar", lectures: 2, present: 0, refused: 0, bytes: 9, signer: signer)
        func facts(_ device: String?) -> BundleFacts {
            BundleFacts(
                lectures: 1, created: Timestamp(milliseconds: 5), signer: signer, isTrusted: device != nil,
                recipients: ["a", "b"], device: device)
        }
        return [
            ("event-bundled", JSONLine.bundled(key, title: "t", bytes: 9, isLicensed: true, isDryRun: false)),
            ("event-bundle", JSONLine.bundle(dry)), ("event-bundle", JSONLine.bundle(done)),
            ("event-bundle_verified", JSONLine.bundleVerified(lectures: 1, chunks: 2, damaged: 0, signer: signer)),
            ("record-bundled", JSONLine.bundledLecture(full, bytes: 9)),
            ("record-bundled", JSONLine.bundledLecture(bare, bytes: 0)),
            ("record-bundle", JSONLine.bundle(facts(nil))), ("record-bundle", JSONLine.bundle(facts("b"))),
        ]
    }
}
