import LectureFormats
package import LectureModel

/// Decides from the answer to a request what happens to its reports.
///
/// | answer | verdict |
/// |---|---|
/// | none, or half of one with 2xx | keep |
/// | 2xx in the configured form; 204, 205 | delivered |
/// | 2xx with a page | keep: a captive portal |
/// | 2xx of a bookmark server with an `error` | dead |
/// | other 2xx | keep |
/// | 301, 302, 307, 308 to the same host | follow, at most 5 times |
/// | other 3xx | keep |
/// | 401, 403, 407 | suspend the target |
/// | 408, 425, 429 | keep, `Retry-After` honoured |
/// | 409 | delivered; see ``AnswerJudge/judge(_:body:end:expectation:)`` |
/// | 413, 414, 431 | split; dead when it is one report |
/// | other 4xx | bisect; dead when it is one report |
/// | 501, 505, 511 | keep, and dead at the fifth time |
/// | other 5xx | keep, `Retry-After` honoured |
/// | anything else | keep |
///
/// The body decides rather than its declared type where it can: PHP declares everything as `text/html`, including JSON
/// and empty bodies, and no portal answers with JSON.
package enum AnswerJudge {
    /// How much of a body is kept for the verdict: 64 KiB.
    package static let bodyLimit = 65_536

    /// Judges an answer.
    ///
    /// 409 means that the target knows the id. The bytes sent under an id never change, so it has them too, and the
    /// reports are delivered. There are three exceptions. With `Retry-After` the first request is still being
    /// processed. When the answer names another id, it is a refusal. When each report has its own id (xAPI), a target
    /// refuses the whole array because of one known statement, so that several are bisected.
    ///
    /// - Parameters:
    ///   - head: the head of the final answer; nil when none was received.
    ///   - body: the body, or its first ``bodyLimit`` bytes.
    ///   - end: how the exchange ended.
    ///   - expectation: what was sent.
    /// - Returns: what happens to the reports.
    package static func judge(
        _ head: ResponseHead?, body: [UInt8], end: SendEnd, expectation: SendExpectation
    ) -> SendVerdict {
        guard let head else { return .keep(end == .unsent ? .unreachable : .noAnswer, wait: nil) }
        let isOne = expectation.count <= 1
        switch head.status {
        case 204, 205: return .delivered
        case 200...299: return success(head, body, end, expectation)
        case 301, 302, 307, 308: return redirect(head, expectation)
        case 401: return .suspend(.unauthorized)
        case 403: return .suspend(.forbidden)
        case 407: return .suspend(.proxy)
        case 408, 425: return .keep(.again, wait: RetryAfter(head)?.delay)
        case 409: return conflict(head, body, end, expectation)
        case 413, 414, 431: return isOne ? .dead(.tooLarge) : .split
        case 429, 503: return .keep(.busy, wait: RetryAfter(head)?.delay)
        case 400...499: return isOne ? .dead(.refused) : .bisect
        case 501, 505, 511:
            if expectation.boundedTries + 1 >= SendExpectation.boundedTryLimit { return .dead(.unsupported) }
            return .keep(.unsupported, wait: RetryAfter(head)?.delay)
        case 500...599: return .keep(.serverFailed, wait: RetryAfter(head)?.delay)
        case 300...399: return .keep(.redirected, wait: nil)
        default: return .keep(.noAnswer, wait: nil)
        }
    }

    // MARK: 2xx

    private static func success(
        _ head: ResponseHead, _ body: [UInt8], _ end: SendEnd, _ expectation: SendExpectation
    ) -> SendVerdict {
        // A cut answer may continue in any way; sending again under the same id costs one request.
        if end == .cut || end == .unsent { return .keep(.noAnswer, wait: nil) }
        if expectation.form == .anything { return .delivered }
        let text = AnswerText(body)
        if text.isEmpty && end == .whole { return .delivered }
        if text.beginsAsPage { return .keep(.portal, wait: nil) }
        let isGood: Bool
        switch expectation.form {
        case .noError:
            if let error = text.json?["error"], !AnswerForm.isNoError(error) { return .dead(.refused) }
            isGood = text.json != nil
        case .emptyOrJSON: isGood = end == .long ? text.beginsAsJSON : text.json != nil
        case .ok: isGood = end == .whole && text.json?["ok"]?.bool == true
        case .text, .anything: isGood = !text.isEmpty
        }
        if isGood { return .delivered }
        let isPage = head.fields["Content-Type"].flatMap { MediaType($0) }?.isPage ?? false
        return .keep(isPage && !text.beginsAsJSON ? .portal : .otherAnswer, wait: nil)
    }

    // MARK: 3xx

    /// Learner data is sent only to the same host; a change from https to http counts as another host.
    private static func redirect(_ head: ResponseHead, _ expectation: SendExpectation) -> SendVerdict {
        let kept = SendVerdict.keep(.redirected, wait: nil)
        guard let url = head.redirectURL, expectation.redirects < SendExpectation.redirectLimit else { return kept }
        do throws(LectureError) {
            let (old, new) = (try Origin(url: expectation.url), try Origin(url: url))
            let isUpgrade = old.scheme == "http" && new.scheme == "https" && old.host == new.host
            return old == new || isUpgrade ? .follow(url: url) : kept
        } catch {
            return kept
        }
    }

    // MARK: 409

    private static func conflict(
        _ head: ResponseHead, _ body: [UInt8], _ end: SendEnd, _ expectation: SendExpectation
    ) -> SendVerdict {
        if let wait = RetryAfter(head)?.delay { return .keep(.again, wait: wait) }
        let isOne = expectation.count <= 1
        if end == .whole, let other = namedID(body), !FieldText.equal(other, expectation.id) {
            return isOne ? .dead(.conflict) : .bisect
        }
        return isOne || expectation.isIDOfWhole ? .delivered : .bisect
    }

    private static func namedID(_ body: [UInt8]) -> String? {
        guard let json = AnswerText(body).json else { return nil }
        return json["batch_id"]?.string ?? json["event_id"]?.string
    }
}
