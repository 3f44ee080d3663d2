import LectureModel

/// What one transfer of a resource requests, and what its answer is checked against.
struct TransferPlan: Sendable, Equatable {
    /// The first byte.
    var start: UInt64
    /// The byte after the last; nil for an open range.
    var border: UInt64?
    /// The range; nil for the whole resource.
    var range: RangeRequest?
    /// The condition of the range.
    var ifRange: String?
    /// What the answer is checked against.
    var expectation: Expectation
}

/// A transfer that is to be opened, as values: all that decides what it requests.
struct OpeningTransfer: Sendable {
    /// What is known of the resource.
    var record: ResourceRecord
    /// How it is divided into chunks.
    var grid: ChunkGrid
    /// Its chunks.
    var assignment: RangeBook.Assignment
    /// Where it continues a chunk that was received in part.
    var resumesAt: UInt64?
    /// Whether nothing is known of the resource.
    var isProbing = false
    /// Whether the answer may be a descriptor.
    var isFirstContact = false
    /// Whether the stored validator means something to its server. With a known digest mirrors may differ in it.
    var ownsValidator = true
    /// Whether the validator has changed under a known digest.
    var validatorWasChanged = false
    /// Whether media may start with any bytes, and be empty.
    var acceptsAny = false
    /// The space for one more file; nil when it is not limited.
    var space: FreeSpace?

    /// What it requests.
    var plan: TransferPlan {
        let (start, border, range) = (start, border, range)
        // After the validator has changed under a known digest, If-Range would only return the whole, not the range.
        let isConditional = range != nil && ownsValidator && !validatorWasChanged
        let ifRange = isConditional ? record.validator.ifRangeValue : nil
        var asked = Expectation()
        asked.role = record.role
        asked.range = range
        asked.total = record.total ?? record.expectedBytes
        asked.validator = ownsValidator && !isProbing ? record.validator : nil
        asked.digestIsKnown = record.expectedSHA256 != nil
        asked.maximumBytes = record.expectedBytes
        asked.isFirstContact = isFirstContact
        asked.checksFirstBytes = !acceptsAny
        asked.acceptsPlaylist = record.role == .media
        asked.mayBeEmpty = record.mayBeEmpty
        asked.space = space
        asked.sentIfRange = ifRange != nil
        return TransferPlan(start: start, border: border, range: range, ifRange: ifRange, expectation: asked)
    }

    private var start: UInt64 { resumesAt ?? grid.start(of: assignment.first) }

    private var border: UInt64? {
        guard let end = assignment.end, let total = record.total else { return nil }
        return min(total, grid.start(of: end))
    }

    private var range: RangeRequest? {
        guard start > 0 || (border != nil && border != record.total) else { return nil }
        return border.flatMap { ByteRange(start: start, end: $0) }.map(RangeRequest.closed) ?? .from(start)
    }
}

extension ItemRecord {
    /// The fields of a request for one of its files or for its descriptor. Those of the user's request belong to the
    /// source's own server and to no other.
    ///
    /// - Parameters:
    ///   - isFirstContact: whether the answer may be a descriptor.
    ///   - origin: the server; nil for the source's own.
    /// - Returns: the fields, in a fixed order.
    /// - Throws: `LectureError` for a source that is no URL.
    func requestFields(isFirstContact: Bool, to origin: Origin?) throws -> HeaderFields {
        var fields = HeaderFields()
        let accept = isFirstContact ? "\(ContentDescriptor.mediaType), */*;q=0.8" : "*/*"
        fields.append(HeaderField(name: "Accept", value: accept))
        let home = try Origin(url: content.sourceURL)
        guard origin == nil || origin == home else { return fields }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            fields.append(HeaderField(name: name, value: value))
        }
        return fields
    }
}

extension ResourceRecord {
    /// Whether an empty file is one: media, initialisation sections and keys never are, and segments of text may be.
    var mayBeEmpty: Bool {
        switch role {
        case .media, .initialisation, .key: false
        case .segment: name.hasSuffix("vtt") || name.hasSuffix("ttml")
        case .playlist, .subtitle, .snapshot, .thumbnail: true
        }
    }
}
