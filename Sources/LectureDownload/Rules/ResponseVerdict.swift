package import LectureFormats
package import LectureModel

/// What was requested and what is known about the object; the answer is checked against it.
package struct Expectation: Sendable, Equatable {
    /// The requested range, nil for the whole object.
    package var range: RangeRequest?
    /// Whether the request carried `If-Range`.
    package var sentIfRange: Bool
    /// The length of the whole object in bytes, where it is known.
    package var total: UInt64?
    /// The validator of the committed bytes; nil while there are none.
    package var validator: Validator?
    /// Whether a digest of the whole object is known, so that its bytes can be judged at the end.
    package var digestIsKnown: Bool
    /// The largest accepted object, in bytes.
    package var maximumBytes: UInt64?
    /// The role of the resource in its lecture.
    package var role: ResourceRole
    /// Whether this is the first request to the URL, so that the answer may be a descriptor.
    package var isFirstContact: Bool
    /// Whether media that is empty or does not start like media is refused.
    package var checksFirstBytes = true
    /// Whether it may be empty without an expected length of 0: optional files, and text that says nothing for a while.
    package var mayBeEmpty = false
    /// Whether media may be a playlist (HLS, DASH), whose files are fetched then.
    package var acceptsPlaylist = false
    /// The space for the object; nil when it is not limited.
    package var space: FreeSpace?

    /// Makes an expectation.
    ///
    /// - Parameters:
    ///   - range: the requested range, nil for the whole object.
    ///   - sentIfRange: whether the request carried `If-Range`.
    ///   - total: the known length of the whole object in bytes.
    ///   - validator: the validator of the committed bytes.
    ///   - digestIsKnown: whether a digest of the whole object is known.
    ///   - maximumBytes: the largest accepted object, in bytes.
    ///   - role: the role of the resource in its lecture.
    ///   - isFirstContact: whether the answer may be a descriptor.
    package init(
        range: RangeRequest? = nil, sentIfRange: Bool = false, total: UInt64? = nil, validator: Validator? = nil,
        digestIsKnown: Bool = false, maximumBytes: UInt64? = nil, role: ResourceRole = .media,
        isFirstContact: Bool = false
    ) {
        self.range = range
        self.sentIfRange = sentIfRange
        self.total = total
        self.validator = validator
        self.digestIsKnown = digestIsKnown
        self.maximumBytes = maximumBytes
        self.role = role
        self.isFirstContact = isFirstContact
    }
}

/// The space for an object when its request starts. The quota is checked again before the object's length is planned;
/// this check avoids reading a body that cannot be kept.
package struct FreeSpace: Hashable, Sendable {
    /// Bytes that the quota leaves; nil without a quota.
    package var quota: UInt64?
    /// Free bytes on the disk beyond the reserve; nil if unknown.
    package var disk: UInt64?

    /// Combines both.
    package init(quota: UInt64?, disk: UInt64?) { (self.quota, self.disk) = (quota, disk) }

    /// Why an object of this length cannot be stored.
    ///
    /// - Parameter bytes: its length.
    /// - Returns: `quota` or `storageFull`; nil when there is space.
    package func refusal(_ bytes: UInt64) -> LectureError.Code? {
        if let quota, bytes > quota { return .quota }
        if let disk, bytes > disk { return .storageFull }
        return nil
    }
}

/// What the body of an answer is.
package struct BodyPlan: Equatable, Sendable {
    /// The offset of the first body byte in the object.
    package var first: UInt64
    /// The announced length of the body in bytes, nil when only the end of the transfer shows it.
    package var count: UInt64?
    /// The length of the whole object in bytes, nil when the answer does not say.
    package var total: UInt64?
    /// The validator of the version these bytes belong to.
    package var validator: Validator
    /// Whether the server serves ranges of this object: it just did, or it announces it.
    package var acceptsRanges: Bool
    /// The SHA-256 of the whole object as the server announces it, 32 bytes.
    package var digest: [UInt8]?
    /// The media type, lower-cased, without parameters.
    package var mediaType: String?
    /// The validator differs from that of the committed bytes, but a digest will verify the whole.
    package var validatorChanged = false
}

/// Why an answer belongs to another version of the object.
package enum ChangeReason: Hashable, Sendable {
    /// The length of the whole differs.
    case total
    /// The entity tag or the modification date differs.
    case validator
    /// The server answered `If-Range` with the whole object and nothing proves that it is the old one.
    case wholeToIfRange
    /// The server answered `If-Range` with 412.
    case precondition
}

/// What to do with an answer, decided before its first body byte.
package enum ResponseVerdict: Equatable, Sendable {
    /// Take the body. ``BodyPlan/first`` is where it starts, which is 0 for a 200 even when a range was requested.
    case body(BodyPlan)
    /// Read the body as a content descriptor.
    case descriptor(BodyPlan)
    /// The object has no bytes.
    case empty(BodyPlan)
    /// The object is another version; the plan is nil when this answer has no usable body.
    case changed(BodyPlan?, ChangeReason)
    /// The range starts at or after the end of the object, whose length is this many bytes.
    case rangeBeyondEnd(total: UInt64)
    /// The server sends the whole although a part was requested; nothing indicates another version.
    case noRanges(BodyPlan)
    /// Request this URL instead, if the redirect policy permits.
    case redirect(to: String)
    /// The server asks to wait; nil when it names no time.
    case wait(RetryAfter?, status: Int)
    /// The URL is no longer valid: ask the resolver for a new one. Committed bytes are kept.
    case renewLease(status: Int)
    /// Try again later.
    case retry(LectureError.Code)
    /// This answer is not the object, and a retry will not help.
    case refuse(LectureError.Code)
}
