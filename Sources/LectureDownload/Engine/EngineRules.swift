package import LectureModel

extension ResponseVerdict {
    /// The plan of a body whose bytes are bytes of the object.
    package var mediaPlan: BodyPlan? {
        switch self {
        case .body(let plan), .noRanges(let plan): plan
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse: nil
        }
    }
}

extension LectureError {
    /// The error of a transfer that failed below HTTP.
    static func belowHTTP(_ curl: Int, _ detail: String, host: String) -> LectureError {
        detail == TransferOutcome.headerTooLarge
            ? LectureError(.headerTooLarge, detail: host) : LectureError(.transfer(curl), detail: host, cause: detail)
    }

    /// Whether asking this URL again is useless; another URL of the same bytes may do.
    var isFinalForURL: Bool {
        switch RetryTable.entry(code: code).decision {
        case .retry, .retryOverHTTP1, .wait: false
        case .renewLease, .otherMirror, .final: true
        }
    }

    /// Whether the network or the server was out of reach, so that the item is stopped rather than failed.
    var isNetworkTrouble: Bool {
        // libcurl's results below HTTP, the TLS and certificate ones excepted: they do not pass by waiting.
        switch -code.number {
        case 8001...8099: !isFinalForURL
        default: code == .bodyCut
        }
    }
}

extension ContentDescriptor {
    /// The media type a gateway answers with, and the first one it is asked for.
    package static let mediaType = "application/vnd.lecturekit.descriptor+json"

    /// Why this version cannot keep the content; nil when it can.
    package var refusal: LectureError.Code? {
        if isIntro { return .introNotDownloadable }
        if !isDownloadable || contentType == .streaming || contentType == .adaptiveStreaming { return .notDownloadable }
        switch media {
        case .file: return nil
        case .playlist: return .playlistUnsupported
        case nil: return .descriptorUnreadable
        }
    }

    /// The URLs of the media, best first; empty when it is not a file.
    package var mediaURLs: [String] {
        guard case .file(let file) = media else { return [] }
        return [file.url] + file.mirrors
    }

    /// What is stored of it.
    package var facts: ContentFacts {
        var facts = ContentFacts()
        facts.key = key.flatMap { try? ContentKey($0) }
        facts.title = title
        facts.course = course
        facts.teacher = teacher
        facts.company = company
        facts.synopsis = synopsis
        facts.descriptionURL = descriptionURL
        facts.duration = durationSeconds.map { .seconds($0) }
        facts.width = width
        facts.height = height
        facts.type = contentType
        var writer = JSONWriter()
        writer.element(json: source)
        facts.descriptor = writer.text
        return facts
    }

    /// The resources it names; what the user expects of the bytes goes before what the gateway says.
    ///
    /// - Parameter item: the content.
    /// - Returns: the media first, then what may be missing.
    package func wishes(expecting item: ItemRecord) -> [ResourceWish] {
        guard case .file(let file) = media else { return [] }
        var wish = ResourceWish(role: .media, name: "", urls: mediaURLs)
        wish.expectedSHA256 = item.expectedSHA256 ?? file.sha256
        wish.expectedBytes = item.expectedBytes.flatMap { UInt64(exactly: $0) } ?? file.size
        var wishes = [wish]
        if let snapshotURL { wishes.append(ResourceWish(role: .snapshot, name: "", urls: [snapshotURL])) }
        if let thumbnailURL {
            let shape = TileGeometry.text(inURL: thumbnailURL)
            wishes.append(ResourceWish(role: .thumbnail, name: shape, urls: [thumbnailURL]))
        }
        for subtitle in subtitles {
            let name = subtitle.name ?? subtitle.language ?? ""
            wishes.append(ResourceWish(role: .subtitle, name: name, urls: [subtitle.url]))
        }
        return wishes
    }
}
