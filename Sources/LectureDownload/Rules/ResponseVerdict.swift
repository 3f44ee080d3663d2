package import LectureModel

/// What a request asked for and what is known about its object: the measure for the answer.
package struct Expectation: Sendable {
    /// The range that was asked for, nil for the whole object.
    package var range: RangeRequest?
    /// Whether the request carried `If-Range`.
    package var sentIfRange: Bool
    /// The length of the whole object in bytes, where it is known.
    package var total: UInt64?
    /// The validator of the proven bytes; nil while there are none.
    package var validator: Validator?
    /// Whether a digest of the whole object is known, so that its bytes can be judged at the end.
    package var digestIsKnown: Bool
    /// The largest object that is taken, in bytes.
    package var maximumBytes: UInt64?
    /// What the resource is to its content.
    package var role: ResourceRole
    /// Whether the URL is asked for the first time, so that it may answer with a descriptor.
    package var isFirstContact: Bool
    /// Whether media is refused by its first bytes where they are no media's, and when there are none.
    package var looksAtFirstBytes = true
    /// The largest object there is room for; nil where that is no question.
    package var room: Room?

    /// Makes an expectation.
    ///
    /// - Parameters:
    ///   - range: the range that was asked for, nil for the whole object.
    ///   - sentIfRange: whether the request carried `If-Range`.
    ///   - total: the known length of the whole object in bytes.
    ///   - validator: the validator of the proven bytes.
    ///   - digestIsKnown: whether a digest of the whole object is known.
    ///   - maximumBytes: the largest object that is taken, in bytes.
    ///   - role: what the resource is to its content.
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

/// How much room there is for an object, when its request begins. What others plan meanwhile is looked at again before
/// its place is fixed; this keeps a body that cannot be kept from being read at all.
package struct Room: Hashable, Sendable {
    /// Bytes that the quota leaves; nil without a quota.
    package var quota: UInt64?
    /// Bytes that the disk has beside the reserve; nil where nobody could say.
    package var disk: UInt64?

    /// Puts both together.
    package init(quota: UInt64?, disk: UInt64?) { (self.quota, self.disk) = (quota, disk) }

    /// What keeps an object of a length from being stored.
    ///
    /// - Parameter bytes: its length.
    /// - Returns: `quota` or `storageFull`; nil when there is room.
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
    /// The announced length of the body in bytes, nil when the end of the transfer tells.
    package var count: UInt64?
    /// The length of the whole object in bytes, nil when the answer does not say.
    package var total: UInt64?
    /// The validator of the version these bytes belong to.
    package var validator: Validator
    /// Whether the server serves ranges of this object: it just did, or it says so.
    package var acceptsRanges: Bool
    /// The SHA-256 of the whole object as the server announces it, 32 bytes.
    package var digest: [UInt8]?
    /// The media type, lower-cased, without parameters.
    package var mediaType: String?
    /// The validator is another one than that of the proven bytes, but a digest will judge the whole.
    package var validatorChanged = false
}

/// Why an answer belongs to another version of the object.
package enum ChangeReason: Hashable, Sendable {
    /// The length of the whole is another one.
    case total
    /// The entity tag or the modification date is another one.
    case validator
    /// The server answered `If-Range` with the whole object and nothing proves that it is the old one.
    case wholeToIfRange
    /// The server answered `If-Range` with 412.
    case precondition
}

/// What is to be done with an answer, decided before its first body byte.
package enum ResponseVerdict: Equatable, Sendable {
    /// Take the body. ``BodyPlan/first`` tells where it begins, which is 0 for a 200 even when a range was asked for.
    case body(BodyPlan)
    /// Read the body as a content descriptor.
    case descriptor(BodyPlan)
    /// The object has no bytes.
    case empty(BodyPlan)
    /// The object is another version; the plan is nil when this answer has no usable body.
    case changed(BodyPlan?, ChangeReason)
    /// The range begins at or behind the end of the object, whose length is this many bytes.
    case rangeBeyondEnd(total: UInt64)
    /// The server sends the whole although a part was asked for; nothing says that it is another version.
    case noRanges(BodyPlan)
    /// Ask there instead, if the redirect policy permits.
    case redirect(to: String)
    /// The server asks for a pause; nil when it does not say how long.
    case wait(RetryAfter?, status: Int)
    /// The URL is no longer good: ask the resolver for a new one. Proven bytes stay.
    case renewLease(status: Int)
    /// Try again later.
    case retry(LectureError.Code)
    /// This answer is not the object, and asking again will not help.
    case refuse(LectureError.Code)
}
