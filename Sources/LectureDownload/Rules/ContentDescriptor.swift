package import LectureFormats
package import LectureModel

/// The gateway's description of a lecture.
///
/// Missing and unknown members are tolerated; a known member of the wrong type is an error, because guessing what a
/// gateway meant could fetch the wrong lecture.
package struct ContentDescriptor: Hashable, Sendable {
    /// Where the media is.
    package enum Media: Hashable, Sendable {
        /// One file.
        case file(MediaFile)
        /// An HLS playlist at this URL.
        case playlist(url: String)
    }

    /// A media file.
    package struct MediaFile: Hashable, Sendable {
        /// Its URL.
        package let url: String
        /// Its length in bytes.
        package let size: UInt64?
        /// Its SHA-256, 32 bytes.
        package let sha256: [UInt8]?
        /// Its entity tag, as in a header.
        package let etag: String?
        /// Other URLs of the same bytes.
        package let mirrors: [String]
    }

    /// A subtitle file.
    package struct Subtitle: Hashable, Sendable {
        /// Its name, fit for a file system.
        package let name: String?
        /// Its language, BCP 47.
        package let language: String?
        /// Its URL.
        package let url: String
        /// Whether a machine wrote it.
        package let isMachineMade: Bool
    }

    /// The largest text that is read, in levels and items.
    package static let limits = JSONScanner.Limits(depth: 16, items: 10_000)

    /// The media content key.
    package let key: String?
    /// The title.
    package let title: String?
    /// Who publishes it.
    package let company: String?
    /// The course.
    package let course: String?
    /// The teacher.
    package let teacher: String?
    /// What it is about.
    package let synopsis: String?
    /// A page about it; nil unless it is an http or https URL.
    package let descriptionURL: String?
    /// How long it plays, in seconds.
    package let durationSeconds: Double?
    /// The picture's width in pixels.
    package let width: Int?
    /// The picture's height in pixels.
    package let height: Int?
    /// Its type; nil when the gateway does not say.
    package let contentType: ContentType?
    /// Whether it may be downloaded; a gateway that does not say permits it.
    package let isDownloadable: Bool
    /// Whether it is an intro, shown before a lecture and not a lecture itself.
    package let isIntro: Bool
    /// Where the media is; nil when the gateway does not say.
    package let media: Media?
    /// A still picture.
    package let snapshotURL: String?
    /// A sheet of small pictures.
    package let thumbnailURL: String?
    /// Subtitle files.
    package let subtitles: [Subtitle]
    /// Where its licence comes from; nil when it needs none.
    package let licence: LicenceSource?
    /// The whole object, for members that other parts of the program use or that are not known yet.
    package let source: JSONValue

    /// Reads a descriptor.
    ///
    /// - Parameter bytes: the whole answer.
    /// - Throws: `LectureError(.descriptorEmpty)` without any member, `LectureError(.nameRefused)` for a name that
    ///   could leave its directory, `LectureError(.descriptorUnreadable)` for all other errors.
    package init(_ bytes: [UInt8]) throws(LectureError) {
        do throws(LectureError) {
            if bytes.allSatisfy({ $0 <= 0x20 }) { throw LectureError(.descriptorEmpty) }
            let value = try JSONScanner.value(of: bytes, limits: Self.limits)
            if value.isNull || value.members?.isEmpty == true { throw LectureError(.descriptorEmpty) }
            try self.init(value)
        } catch {
            switch error.code {
            case .descriptorEmpty, .nameRefused: throw error
            default:
                throw LectureError(
                    .descriptorUnreadable, detail: error.detail, cause: error.code == .json ? "" : error.code.summary)
            }
        }
    }

    private init(_ value: JSONValue) throws(LectureError) {
        let reader = try MemberReader(value)
        guard value["version"] == .integer(1) else { throw LectureError(.json, detail: "member 'version' is not 1") }
        key = try reader.string("media_content_key")
        if let key { try SafeName.check(key: key) }
        title = try reader.string("title")
        company = try reader.string("company")
        course = try reader.string("course")
        teacher = try reader.string("teacher")
        synopsis = try reader.string("synopsis")
        descriptionURL = try reader.string("description_url").flatMap { (try? Origin(url: $0)) == nil ? nil : $0 }
        durationSeconds = try reader.seconds("duration")
        width = try reader.integer("width", in: 0...100_000)
        height = try reader.integer("height", in: 0...100_000)
        contentType = try Self.contentType(reader)
        isDownloadable = try reader.bool("downloadable") ?? true
        isIntro = try reader.bool("intro") ?? false
        media = try Self.media(reader)
        snapshotURL = try reader.url("snapshot_url")
        thumbnailURL = try reader.url("thumbnail_url")
        subtitles = try Self.subtitles(reader)
        licence = try Self.licence(reader)
        source = value
    }

    private static func contentType(_ reader: MemberReader) throws(LectureError) -> ContentType? {
        guard let name = try reader.string("content_type") else { return nil }
        guard let type = ContentType.allCases.first(where: { $0.name == name }) else {
            throw LectureError(.json, detail: "member 'content_type' is not a known type")
        }
        return type
    }

    private static func media(_ reader: MemberReader) throws(LectureError) -> Media? {
        guard let members = try reader.object("media") else { return nil }
        let media = try MemberReader(.object(members))
        let playlist = try media.url("playlist")
        guard let url = try media.url("url") else {
            guard let playlist else {
                throw LectureError(.json, detail: "member 'media' has neither 'url' nor 'playlist'")
            }
            return .playlist(url: playlist)
        }
        if playlist != nil { throw LectureError(.json, detail: "member 'media' has both 'url' and 'playlist'") }
        var mirrors: [String] = []
        for mirror in try media.strings("mirrors") ?? [] {
            _ = try Origin(url: mirror)
            mirrors.append(mirror)
        }
        return .file(
            MediaFile(
                url: url, size: try media.size("size"), sha256: try media.digest("sha256"),
                etag: try media.string("etag"), mirrors: mirrors))
    }

    private static func licence(_ reader: MemberReader) throws(LectureError) -> LicenceSource? {
        guard let members = try reader.object("drm") else { return nil }
        let drm = try MemberReader(.object(members))
        var source = LicenceSource()
        source.callbackURL = try drm.url("callback_url") ?? ""
        source.keyID = try drm.string("key_id") ?? ""
        source.clientUserID = try reader.string("client_user_id") ?? ""
        for member in try reader.object("uservalues") ?? [] {
            // Numbers are passed on as they were written; other types are refused.
            guard let text = member.value.string ?? member.value.integer.map({ "\($0)" }) else {
                throw LectureError(.json, detail: "member 'uservalues' has a value that is not a string or an integer")
            }
            source.userValues[member.name] = text
        }
        return source
    }

    private static func subtitles(_ reader: MemberReader) throws(LectureError) -> [Subtitle] {
        var subtitles: [Subtitle] = []
        for element in try reader.array("subtitles") ?? [] {
            let subtitle = try MemberReader(element)
            guard let url = try subtitle.url("url") else {
                throw LectureError(.json, detail: "a subtitle has no 'url'")
            }
            let name = try subtitle.string("name")
            if let name { try SafeName.check(name) }
            subtitles.append(
                Subtitle(
                    name: name, language: try subtitle.string("language"), url: url,
                    isMachineMade: try subtitle.bool("ai") ?? false))
        }
        return subtitles
    }
}
