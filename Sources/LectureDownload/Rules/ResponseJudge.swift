package import LectureFormats
package import LectureModel

/// Decides from the head of an answer whether its body is accepted, and as what (RFC 9110).
///
/// ```
///             ┌ 3xx ─────────── redirect · refuse
///             ├ 401 403 404 410 renewLease
/// status ─────┼ 429 503 ─────── wait
///             ├ 408 425 5xx ─── retry
///             ├ 412 416 ─────── changed · empty · rangeBeyondEnd · refuse
///             └ 200 206 ─┬ not the object at all ── refuse
///                        ├ descriptor ───────────── descriptor
///                        └ against what is known ── body · empty · changed · noRanges
/// ```
///
/// The order matters: a page of a captive portal must be refused as a page and not mistaken for a new version of the
/// lecture, and a body in an unrequested coding must not be measured by its coded length.
package enum ResponseJudge {
    /// The error for a body over HTTP/2 whose end could not be verified.
    package static let unframed = LectureError.Code.transfer(92)
    /// The largest descriptor that is read, in bytes.
    package static let descriptorLimit: UInt64 = 1 << 20

    /// Judges an answer.
    ///
    /// - Parameters:
    ///   - head: the head of a final answer (1xx answers are never final).
    ///   - asked: what was requested and what is known.
    /// - Returns: what to do with it.
    package static func judge(_ head: ResponseHead, asked: Expectation) -> ResponseVerdict {
        switch head.status {
        case 200, 206: judgeBody(head, asked)
        case 301, 302, 303, 307, 308: head.redirectURL.map { .redirect(to: $0) } ?? .refuse(withoutTarget(head))
        // Nothing but If-Range was conditional; a server that answers it with 412 considers the object changed.
        case 412 where asked.sentIfRange: .changed(nil, .precondition)
        case 416: judgeUnsatisfied(head, asked)
        // 511 is how an honest captive portal answers (RFC 6585 section 6).
        case 511: .refuse(.notMedia)
        case 400...599: judgeStatus(head)
        default: .refuse(.unexpectedStatus)
        }
    }

    /// A redirect without a usable target: none is named, or it is not an http or https URL.
    private static func withoutTarget(_ head: ResponseHead) -> LectureError.Code {
        head.fields["Location"].map { $0.isEmpty } ?? true ? .noLocation : .redirectRefused
    }

    private static func judgeStatus(_ head: ResponseHead) -> ResponseVerdict {
        switch RetryTable.entry(status: head.status).decision {
        case .renewLease: .renewLease(status: head.status)
        case .wait: .wait(RetryAfter(head), status: head.status)
        case .retry, .retryOverHTTP1: .retry(.status(head.status))
        case .final, .otherMirror: .refuse(.status(head.status))
        }
    }

    // MARK: 416

    private static func judgeUnsatisfied(_ head: ResponseHead, _ asked: Expectation) -> ResponseVerdict {
        let values = head.fields.values(of: "Content-Range")
        guard let range = asked.range, values.count == 1, case .unsatisfied(let total) = try? ContentRange(values[0])
        else { return .refuse(.status(416)) }
        if let known = asked.total, known != total { return .changed(nil, .total) }
        if total == 0 {
            let validator = Validator(head, total: 0)
            return range.first == 0
                ? .empty(plan(head, first: 0, count: 0, total: 0, validator: validator)) : .changed(nil, .total)
        }
        // A server that denies a range within its own length would be retried forever.
        return range.first >= total ? .rangeBeyondEnd(total: total) : .refuse(.rangeMismatch)
    }

    // MARK: 200 and 206

    private static func judgeBody(_ head: ResponseHead, _ asked: Expectation) -> ResponseVerdict {
        let length: UInt64?
        switch announcedLength(head) {
        case .success(let count): length = count
        case .failure(let error): return .refuse(error.code)
        }
        let media = head.fields["Content-Type"].flatMap(MediaType.init)
        if media?.isMultipartRanges == true { return .refuse(.multipartRefused) }
        if isCoded(head) { return .refuse(.codingRefused) }
        let verdict = head.status == 206 ? judgePart(head, asked, length) : judgeWhole(head, asked, length)
        guard let plan = verdict.plan else { return verdict }
        if let code = refusal(of: media, plan, asked) { return .refuse(code) }
        if media?.isDescriptor == true { return judgeDescriptor(plan, head) }
        if let limit = asked.maximumBytes, plan.total ?? plan.end > limit { return .refuse(.tooLarge) }
        // libcurl 7.88 takes RST_STREAM with NO_ERROR for END_STREAM (RFC 9113 section 8.1), so that a proxy could cut
        // such a body unnoticed. HTTP/1.1 marks the end.
        if head.isHTTP2, plan.count == nil, asked.total == nil { return .retry(unframed) }
        return verdict
    }

    /// Judges a whole object (RFC 9110 section 15.3.1), where a `Content-Range` has no meaning (section 14.4).
    private static func judgeWhole(_ head: ResponseHead, _ asked: Expectation, _ length: UInt64?) -> ResponseVerdict {
        let validator = Validator(head, total: length)
        var plan = plan(head, first: 0, count: length, total: length, validator: validator)
        switch comparison(of: plan, with: asked) {
        case .changed(let reason): return .changed(plan, reason)
        case .digestDecides:
            plan.validatorChanged = true
            return .body(plan)
        case .unknown where asked.sentIfRange && asked.validator != nil: return .changed(plan, .wholeToIfRange)
        case .same, .unknown: break
        }
        if length == 0 { return .empty(plan) }
        // Some servers answer a range over everything with 200 (Apache does): that is what was requested.
        let coversAll = asked.range.map { $0.first == 0 && $0.end ?? .max >= length ?? .max } ?? true
        return coversAll ? .body(plan) : .noRanges(plan)
    }

    /// Judges a part (section 15.3.7), which may be shorter than requested, but must start where requested and not go
    /// beyond.
    private static func judgePart(_ head: ResponseHead, _ asked: Expectation, _ length: UInt64?) -> ResponseVerdict {
        let values = head.fields.values(of: "Content-Range")
        guard values.count == 1, case .part(let part, let total) = try? ContentRange(values[0]) else {
            return .refuse(.rangeMismatch)
        }
        // Some servers send the whole as a part although no part was requested; only the whole is accepted then.
        let range = asked.range ?? .from(0)
        guard part.start == range.first, part.end <= range.end ?? .max, asked.range != nil || part.end == total else {
            return .refuse(.rangeMismatch)
        }
        if let length, length != part.count { return .refuse(.lengthConflict) }
        let validator = Validator(head, total: total)
        var plan = plan(head, first: part.start, count: part.count, total: total, validator: validator)
        plan.acceptsRanges = true
        if let known = asked.total, part.end > known { return .changed(plan, .total) }
        switch comparison(of: plan, with: asked) {
        case .changed(let reason): return .changed(plan, reason)
        case .digestDecides: plan.validatorChanged = true
        // A 206 to If-Range may leave the validators out (section 15.3.7): sending a part at all is the confirmation.
        case .same, .unknown: break
        }
        return .body(plan)
    }

    // MARK: The clauses

    private enum Comparison {
        case same
        case unknown
        case digestDecides
        case changed(ChangeReason)
    }

    /// Compares the answer with what is known: many servers ignore `If-Range`, so a 206 proves nothing by itself.
    private static func comparison(of plan: BodyPlan, with asked: Expectation) -> Comparison {
        let known = asked.total ?? asked.validator?.total
        if let known, let total = plan.total, known != total { return .changed(.total) }
        switch asked.validator?.agrees(with: plan.validator) {
        case .same: return .same
        case nil, .unknown: return .unknown
        case .different:
            let sameLength = known != nil && known == plan.total
            return asked.digestIsKnown && sameLength ? .digestDecides : .changed(.validator)
        }
    }

    private static func announcedLength(_ head: ResponseHead) -> Result<UInt64?, LectureError> {
        // "Transfer-Encoding overrides the Content-Length" (RFC 9112 section 6.3), which may be wrong.
        if !head.isHTTP2, head.fields["Transfer-Encoding"] != nil { return .success(nil) }
        do throws(ContentLength.Fault) {
            return .success(try ContentLength(head.fields.values(of: "Content-Length")).count)
        } catch {
            switch error {
            case .conflict: return .failure(LectureError(.lengthConflict))
            case .malformed, .overflow: return .failure(LectureError(.badLength))
            }
        }
    }

    private static func isCoded(_ head: ResponseHead) -> Bool {
        let content = head.fields.list(of: "Content-Encoding").contains { !FieldText.equal($0, "identity") }
        let transfer = head.fields.list(of: "Transfer-Encoding")
        let strange = transfer.contains { !FieldText.equal($0, "chunked") && !FieldText.equal($0, "identity") }
        // Chunks within chunks are forbidden (RFC 9112 section 6.1), and libcurl takes off one layer only.
        return content || strange || transfer.count { FieldText.equal($0, "chunked") } > 1
    }

    /// Refuses a body by its media type.
    ///
    /// A type that is missing, or is not one, says nothing (section 8.3). A page is let through in one case: a digest
    /// is known and the length is the expected one, so that a lecture which really is a page can be fetched, and a
    /// sign-in page cannot take its place.
    private static func refusal(of media: MediaType?, _ plan: BodyPlan, _ asked: Expectation) -> LectureError.Code? {
        guard let media else { return nil }
        // A manifest has a type of its own, or that of any XML text.
        if asked.acceptsPlaylist, asked.checksFirstBytes, media.isXML { return nil }
        if media.isPage || media.isMessage && (asked.role == .media || asked.role.isOfStream) {
            let isExpected = asked.digestIsKnown && asked.total != nil && asked.total == plan.total
            return isExpected ? nil : .notMedia
        }
        if media.isPlaylist, asked.role == .media, !asked.acceptsPlaylist { return .playlistUnsupported }
        return media.isDescriptor && !asked.isFirstContact ? .notMedia : nil
    }

    private static func judgeDescriptor(_ plan: BodyPlan, _ head: ResponseHead) -> ResponseVerdict {
        guard plan.first == 0, head.status == 200 || plan.total == plan.count else { return .refuse(.rangeMismatch) }
        if plan.count == 0 { return .refuse(.descriptorEmpty) }
        return plan.count ?? 0 > descriptorLimit ? .refuse(.tooLarge) : .descriptor(plan)
    }

    private static func plan(
        _ head: ResponseHead, first: UInt64, count: UInt64?, total: UInt64?, validator: Validator
    ) -> BodyPlan {
        BodyPlan(
            first: first, count: count, total: total, validator: validator,
            acceptsRanges: total != nil
                && head.fields.list(of: "Accept-Ranges").contains { FieldText.equal($0, "bytes") },
            digest: DigestFields.sha256(in: head.fields),
            mediaType: head.fields["Content-Type"].flatMap(MediaType.init)?.essence)
    }
}

extension BodyPlan {
    /// The offset behind the last announced byte, 0 when nothing is announced.
    fileprivate var end: UInt64 { first + (count ?? 0) }
}

extension ResponseVerdict {
    /// The plan of the body this answer carries.
    fileprivate var plan: BodyPlan? {
        switch self {
        case .body(let plan), .descriptor(let plan), .empty(let plan), .noRanges(let plan): plan
        case .changed(let plan, _): plan
        case .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse: nil
        }
    }
}
