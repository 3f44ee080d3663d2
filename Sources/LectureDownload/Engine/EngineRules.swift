import LectureFormats
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

    /// Whether a retry of this URL is useless; another URL of the same bytes may work.
    var isFinalForURL: Bool {
        switch RetryTable.entry(code: code).decision {
        case .retry, .retryOverHTTP1, .wait: false
        case .renewLease, .otherMirror, .final: true
        }
    }

    /// Whether the network or the server was out of reach, so that the item is stopped rather than failed.
    var isNetworkFailure: Bool {
        // libcurl's results below HTTP except those of TLS and certificates, which waiting does not fix.
        switch -code.number {
        case 8001...8099: !isFinalForURL
        default: code == .bodyCut
        }
    }
}

extension ContentDescriptor {
    /// The media type of a gateway's answer, and the first one in the request.
    package static let mediaType = "application/vnd.lecturekit.descriptor+json"

    /// Why this version cannot keep the lecture; nil when it can.
    package var refusal: LectureError.Code? {
        if isIntro { return .introNotDownloadable }
        if !isDownloadable || contentType == .streaming || contentType == .adaptiveStreaming { return .notDownloadable }
        switch media {
        case .file, .playlist: return nil
        case nil: return .descriptorUnreadable
        }
    }

    /// The URLs of the media, best first; that of its playlist when it is adaptive.
    package var mediaURLs: [String] {
        switch media {
        case .file(let file): [file.url] + file.mirrors
        case .playlist(let url): [url]
        case nil: []
        }
    }

    /// The facts that are stored.
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

    /// The resources it names; what the user expects of the bytes takes precedence over the gateway.
    ///
    /// - Parameter item: the lecture.
    /// - Returns: the media first, then optional resources.
    package func requests(expecting item: ItemRecord) -> [ResourceRequest] {
        guard media != nil else { return [] }
        var request = ResourceRequest(role: .media, name: "", urls: mediaURLs)
        (request.expectedSHA256, request.expectedBytes) = (item.expectedSHA256, nil)
        if case .file(let file) = media {
            request.expectedSHA256 = item.expectedSHA256 ?? file.sha256
            request.expectedBytes = item.expectedBytes.flatMap { UInt64(exactly: $0) } ?? file.size
        }
        var requests = [request]
        if let snapshotURL { requests.append(ResourceRequest(role: .snapshot, name: "", urls: [snapshotURL])) }
        if let thumbnailURL {
            let shape = TileGeometry.text(inURL: thumbnailURL)
            requests.append(ResourceRequest(role: .thumbnail, name: shape, urls: [thumbnailURL]))
        }
        for subtitle in subtitles {
            let name = subtitle.name ?? subtitle.language ?? ""
            requests.append(ResourceRequest(role: .subtitle, name: name, urls: [subtitle.url]))
        }
        return requests
    }
}
