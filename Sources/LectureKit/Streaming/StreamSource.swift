import LectureDownload
import LectureFormats
import LectureLicence
import LectureModel
import LectureTransport

/// Where the media of a stream is, and what it is: asked when the stream is opened, and again when its URL has expired.
struct StreamSource: Sendable {
    /// Media as its server describes it.
    struct Media: Sendable {
        /// What identifies it among all media, before it is digested.
        var identity: [UInt8]
        /// The lecture; nil when the URL identifies it.
        var key: ContentKey?
        /// Where it is now.
        var url: String
        /// The validator of its version, with the length.
        var validator: Validator
        /// What its gateway says of it.
        var description = Description()
    }

    /// What a gateway says of a lecture; empty for media without one.
    struct Description: Sendable {
        /// The title.
        var title: String?
        /// How long it plays.
        var duration: Duration?
        /// Where reports about it go, and who watches it.
        var channels = ReportChannels()
        /// What it lists.
        var outline = ContentOutline()
        /// What permits its plays.
        var permission = PlayCallbackSource()
    }

    /// The URL passed by the application.
    let url: String
    let probe: SourceProbe

    /// Asks the source.
    ///
    /// - Returns: the media.
    /// - Throws: ``LectureError``: a transfer's or the server's code, `notMedia`, `playlistUnsupported`,
    ///   `descriptorUnreadable`, `badLength` when its length is unknown.
    func ask() async throws -> Media {
        switch try await probe.ask(url) {
        case .media(let plan):
            return Media(
                identity: Array("url ".utf8) + (try ContentKeys.identityBytes(ofURL: url)), key: nil, url: url,
                validator: try await whole(plan, url))
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            // Whether it may be downloaded does not matter to a stream.
            if let code = descriptor.refusal, code != .notDownloadable { throw LectureError(code) }
            guard case .file(let file) = descriptor.media else { throw LectureError(.playlistUnsupported) }
            let mediaURL = try CurlURL.normalise(file.url)
            guard case .media(let plan) = try await probe.ask(mediaURL) else { throw LectureError(.notMedia) }
            let identity = try descriptor.key.map { Array("key \($0)".utf8) } ?? ContentKeys.identityBytes(ofURL: url)
            return Media(
                identity: identity, key: try descriptor.key.map { try ContentKey($0) }, url: mediaURL,
                validator: try await whole(plan, mediaURL), description: try Self.description(descriptor))
        // The request was not conditional.
        case .unchanged: throw LectureError(.unexpectedStatus, detail: try Origin(url: url).host)
        }
    }

    private static func description(_ descriptor: ContentDescriptor) throws(LectureError) -> Description {
        Description(
            title: descriptor.title, duration: descriptor.durationSeconds.map { .seconds($0) },
            channels: ReportChannels(descriptor.source), outline: ContentOutline(descriptor.source),
            permission: try PlayCallbackSource(descriptor: descriptor.source))
    }

    /// The validator with a length: a server that does not announce one may return it with a range.
    private func whole(_ plan: BodyPlan, _ url: String) async throws -> Validator {
        if case let total = plan.total ?? plan.validator.total, let total {
            return Validator(etag: plan.validator.etag, lastModified: plan.validator.lastModified, total: total)
        }
        if case .media(let part) = try await probe.ask(url, range: .from(0)), let total = part.total {
            return Validator(etag: part.validator.etag, lastModified: part.validator.lastModified, total: total)
        }
        throw LectureError(.badLength, detail: try Origin(url: url).host, cause: "the server sends no length")
    }
}
