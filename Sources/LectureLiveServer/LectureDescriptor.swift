import LectureFormats
import LectureLive
import LectureModel

/// What a player gets for the link of an archived lecture: the open descriptor of LectureKit.
struct LectureDescriptor: Hashable, Sendable {
    static let type = "application/vnd.lecturekit.descriptor+json"
    /// The name of the key that verifies licences, in descriptors and in the configuration of a player.
    static let keyID = "live"

    var key: String
    var title = ""
    var teacher = ""
    var synopsis = ""
    var duration = Duration.zero
    var size = (width: 0, height: 0)
    var mediaURL: String
    var byteCount: Int
    var sha256: [UInt8]
    /// The tag as in a header.
    var tag: String
    /// nil without messages.
    var chatURL: String?
    var userID: String
    var callbackURL: String
    /// Where players report what is watched; nil where they do not.
    var lmsURL: String?

    static func == (one: Self, other: Self) -> Bool { one.text == other.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The descriptor as JSON.
    var text: String {
        JSONWriter.object { json in
            json.member("version", 1)
            json.member("media_content_key", key)
            for (name, value) in [("title", title), ("teacher", teacher), ("synopsis", synopsis)] where !value.isEmpty {
                json.member(name, value)
            }
            json.member("duration", Double(duration.milliseconds) / 1000)
            json.member("width", size.width)
            json.member("height", size.height)
            json.member("content_type", "downloading")
            json.member("downloadable", true)
            json.object("media") { media in
                media.member("url", mediaURL)
                media.member("size", byteCount)
                media.member("sha256", Hexadecimal.text(sha256))
                media.member("etag", tag)
            }
            if let chatURL {
                json.array("subtitles") { array in
                    array.object { subtitle in
                        subtitle.member("name", ChatLog.subtitleName)
                        // The messages may be in any language (BCP 47).
                        subtitle.member("language", "und")
                        subtitle.member("url", chatURL)
                    }
                }
            }
            json.member("client_user_id", userID)
            json.object("drm") { drm in
                drm.member("callback_url", callbackURL)
                drm.member("key_id", Self.keyID)
            }
            guard let lmsURL else { return }
            json.array("lms") { array in
                array.object { channel in
                    channel.member("url", lmsURL)
                    channel.member("method", "POST")
                    channel.member("period_s", 60)
                    channel.object("parameters") { $0.member("json_data", "{JSON_DATA}") }
                }
            }
        }
    }
}
