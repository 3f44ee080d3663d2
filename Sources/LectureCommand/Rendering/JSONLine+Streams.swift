import LectureFormats
import LectureKit
package import LectureModel
package import LectureRecords

// Lines of adaptive lectures.

extension JSONLine {
    /// An adaptive lecture was written into one file.
    ///
    /// - Parameters:
    ///   - key: the lecture's key.
    ///   - path: where the file is.
    ///   - bytes: its length.
    ///   - format: its container.
    /// - Returns: the line.
    package static func joined(_ key: ContentKey, path: String, bytes: Int64, format: ExportFormat) -> String {
        line { writer in
            writer.member("event", "joined")
            writer.member("key", key.text)
            writer.member("path", path)
            writer.member("bytes", bytes)
            writer.member("format", format.rawValue)
        }
    }

    /// What an adaptive lecture offers, and what of it would be kept.
    ///
    /// - Parameters:
    ///   - outline: according to its playlists.
    ///   - request: names the lecture.
    /// - Returns: the line.
    package static func streams(_ outline: StreamOutline, of request: DownloadRequest) -> String {
        line { writer in
            writer.member("event", "streams")
            writer.member("url", URLText.withoutSecrets(request.url))
            writer.member("variant", outline.chosen)
            writer.array("variants") { list in
                for variant in outline.variants {
                    list.object { member in
                        member.member("number", variant.number)
                        member.member("bandwidth", variant.bandwidth)
                        member.member("width", variant.width)
                        member.member("height", variant.height)
                    }
                }
            }
            writer.array("audio") { list in for language in outline.audioLanguages { list.element(language) } }
            writer.array("subtitles") { list in for language in outline.subtitleLanguages { list.element(language) } }
            writer.member("live", outline.isLive)
            writer.member("segments", outline.segments)
            writer.member("files", outline.files)
            writer.member("duration_ms", outline.duration?.milliseconds)
            writer.member("estimated_bytes", outline.estimatedBytes)
        }
    }
}
