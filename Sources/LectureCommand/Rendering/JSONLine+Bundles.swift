package import LectureBundle
import LectureFormats
package import LectureModel
package import LectureRecords

// The lines of `bundle`.

extension JSONLine {
    /// A lecture was written to a bundle, or would be.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - title: its title.
    ///   - bytes: of its files, unsealed.
    ///   - isLicensed: whether it needs a licence.
    ///   - isDryRun: whether nothing was written.
    /// - Returns: the line.
    package static func bundled(
        _ key: ContentKey, title: String, bytes: UInt64, isLicensed: Bool, isDryRun: Bool
    ) -> String {
        line { writer in
            writer.member("event", "bundled")
            writer.member("key", key.text)
            writer.member("title", title)
            writer.member("bytes", bytes)
            writer.member("licensed", isLicensed)
            writer.member("dry_run", isDryRun)
        }
    }

    /// A bundle was written, or would be.
    ///
    /// - Parameter totals: what became of it.
    /// - Returns: the line.
    package static func bundle(_ totals: BundleTotals) -> String {
        line { writer in
            writer.member("event", "bundle")
            writer.member("path", totals.path)
            writer.member("lectures", totals.lectures)
            writer.member("present", totals.present)
            writer.member("refused", totals.refused)
            writer.member("bytes", totals.bytes)
            writer.member("signer", totals.signer)
        }
    }

    /// A lecture of a bundle.
    ///
    /// - Parameters:
    ///   - lecture: the lecture.
    ///   - bytes: of its files, unsealed.
    /// - Returns: the line.
    package static func bundledLecture(_ lecture: BundledLecture, bytes: UInt64) -> String {
        line { writer in
            writer.member("record", "bundled")
            writer.member("key", lecture.key.text)
            writer.member("title", lecture.title.isEmpty ? nil : lecture.title)
            writer.member("course", lecture.course.isEmpty ? nil : lecture.course)
            writer.member("teacher", lecture.teacher.isEmpty ? nil : lecture.teacher)
            writer.member("folder", lecture.folder.isEmpty ? nil : lecture.folder)
            writer.member("bytes", bytes)
            writer.member("chunks", lecture.chunkCount)
            writer.member("sha256", Hexadecimal.text(lecture.sha256))
            writer.member("licensed", lecture.isLicensed)
        }
    }

    /// A bundle as `bundle list` describes it.
    ///
    /// - Parameter facts: what is said about it.
    /// - Returns: the line.
    package static func bundle(_ facts: BundleFacts) -> String {
        line { writer in
            writer.member("record", "bundle")
            writer.member("lectures", facts.lectures)
            writer.member("created_ms", facts.created.milliseconds)
            writer.member("signer", facts.signer)
            writer.member("trusted", facts.isTrusted)
            writer.array("for") { writer in for name in facts.recipients { writer.element(name) } }
            writer.member("for_this_device", facts.isForThisDevice)
        }
    }

    /// Every byte of a bundle was compared.
    ///
    /// - Parameters:
    ///   - lectures: how many lectures are in it.
    ///   - chunks: how many chunks were compared.
    ///   - damaged: how many are damaged.
    ///   - signer: the thumbprint of the signer's key.
    /// - Returns: the line.
    package static func bundleVerified(lectures: Int, chunks: Int, damaged: Int, signer: String) -> String {
        line { writer in
            writer.member("event", "bundle_verified")
            writer.member("lectures", lectures)
            writer.member("chunks", chunks)
            writer.member("damaged", damaged)
            writer.member("signer", signer)
        }
    }
}
