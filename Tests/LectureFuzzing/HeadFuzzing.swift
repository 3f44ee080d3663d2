import LectureDownload
import LectureFormats
import LectureModel
import LectureTransport

/// Whole heads of responses: the lines, and the decisions made from them.
extension FuzzTarget {
    static let heads = [
        FuzzTarget("header-lines", longest: 1024, headerLines),
        FuzzTarget("response", longest: 1024, cost: 2, response),
        FuzzTarget("failure-detail", longest: 256, failureDetail),
    ]

    /// Feeds a collector and returns its head.
    private static func collect(
        _ input: ArraySlice<UInt8>, limit: Int
    ) throws -> (status: Int, fields: HeaderFields)? {
        var collector = HeaderCollector(maximumBytes: limit)
        var head: (status: Int, fields: HeaderFields)?
        var taken = 0
        for line in lines(Array(input)) {
            let bytes = Array(line) + [0x0A]
            taken += bytes.count
            switch unsafe bytes.withUnsafeBytes({ unsafe collector.take($0) }) {
            case .more: try require(taken <= limit, "a head stays within its limit")
            case .tooLarge:
                try require(taken > limit, "only what is too large is refused")
                return head
            case .head(let status, let fields):
                try require(head == nil, "only one head is reported")
                head = (status, fields)
            }
        }
        return head
    }

    @Sendable private static func headerLines(_ input: [UInt8]) throws {
        guard let head = try collect(input[...], limit: 700) else { return }
        try require((200...999).contains(head.status), "a final status has three digits")
        for field in head.fields.elements {
            try require(FieldText.trimmed(field.value).isSame(as: field.value), "a value has no blanks around it")
            try require(!field.value.utf8.contains(0x0A), "a value is one line")
            try require(!field.name.utf8.contains(UInt8(ascii: ":")), "a name ends at the colon")
        }
    }

    @Sendable private static func response(_ input: [UInt8]) throws {
        guard let choice = input.first, let collected = try collect(input.dropFirst(), limit: 4096) else { return }
        var head = ResponseHead(status: collected.status, fields: collected.fields, receivedAt: now)
        if (300..<400).contains(head.status) { head.redirectURL = head.fields["Location"] }
        let asked = expectation(choice)
        let verdict = ResponseJudge.judge(head, asked: asked)
        try require(ResponseJudge.judge(head, asked: asked) == verdict, "a judgement is repeatable")
        switch verdict {
        case .body(let plan), .noRanges(let plan):
            try check(plan, asked)
            try require([200, 206].contains(head.status), "a body comes with 200 or 206")
            if head.status == 206, let range = asked.range {
                try require(plan.first == range.first, "a part begins where it was asked for")
                try require(plan.first + (plan.count ?? 0) <= range.end ?? .max, "a part is no longer than asked")
            }
            if let known = asked.total, let total = plan.total { try require(known == total, "the length is known") }
            if let limit = asked.maximumBytes { try require(plan.total ?? 0 <= limit, "a body stays in its limit") }
        case .descriptor(let plan):
            try check(plan, asked)
            try require(plan.count ?? 0 <= ResponseJudge.descriptorLimit && asked.isFirstContact, "a small descriptor")
        case .empty(let plan): try require(plan.count == 0 && plan.first == 0, "nothing is empty")
        case .changed(let plan, _): if let plan { try check(plan, asked) }
        case .rangeBeyondEnd(let total): try require(asked.range?.first ?? 0 >= total, "a range begins at the end")
        case .redirect: try require((300..<400).contains(head.status), "3xx redirects")
        case .wait(let wait, _):
            try require(wait.map { $0.delay >= .zero && $0.delay <= RetryAfter.maximum } ?? true, "a wait is bounded")
        case .renewLease, .retry, .refuse: break
        }
    }

    private static func check(_ plan: BodyPlan, _ asked: Expectation) throws {
        let (end, overflow) = plan.first.addingReportingOverflow(plan.count ?? 0)
        try require(!overflow && end <= UInt64(Int64.max), "a body lies within 63 bits")
        if let total = plan.total { try require(end <= total, "a body ends within the object") }
        try require(plan.digest?.count ?? 32 == 32, "a digest has 32 bytes")
        if let type = plan.mediaType {
            try require(FieldText.lowercased(type).isSame(as: type), "types are lower-case")
        }
    }

    private static func expectation(_ choice: UInt8) -> Expectation {
        var asked = Expectation()
        switch choice & 3 {
        case 1: asked.range = .from(1000)
        case 2: asked.range = ByteRange(start: 0, end: 500).map { .closed($0) }
        case 3: asked.range = ByteRange(start: 500, end: 2000).map { .closed($0) }
        default: break
        }
        if choice & 4 != 0 { asked.total = 2000 }
        if choice & 8 != 0 { asked.validator = Validator(etag: "\"a\"", lastModified: nil, total: nil) }
        asked.sentIfRange = choice & 8 != 0 && choice & 16 != 0
        asked.digestIsKnown = choice & 32 != 0
        asked.isFirstContact = choice & 64 != 0
        if choice & 128 != 0 { asked.maximumBytes = 1500 }
        return asked
    }

    @Sendable private static func failureDetail(_ input: [UInt8]) throws {
        let parts = lines(input, most: 2).map { text($0) }
        guard parts.count == 2 else { return }
        let reported = FailureDetail.redacted(parts[1], url: parts[0])
        try require(reported.utf8.count <= 200, "a detail is short")
        try require(reported.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a detail is printable")
        guard let url = try? URLParts(parts[0]), url.path.utf8.count > 1, url.query == nil, url.fragment == nil,
            !url.path.contains(".")
        else { return }
        try require(!reported.contains(url.path), "a path is taken out")
    }
}
