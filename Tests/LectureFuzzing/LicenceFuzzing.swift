import LectureCommand
import LectureFormats
import LectureKit
import LectureLicence
import LectureModel

/// Licence files, and the lines of batch requests about them.
extension FuzzTarget {
    static let licences = [
        FuzzTarget("licence-file", longest: 1024, cost: 2, licenceFile),
        FuzzTarget("licence-line", longest: 1024, cost: 4, licenceLine),
    ]

    @Sendable private static func licenceFile(_ input: [UInt8]) throws {
        var context = LicenceFileContext(now: Timestamp(milliseconds: 1_800_000_000_000))
        context.needsContent = true
        let thumbprint: (JSONValue) -> String? = { _ in nil }
        let finding = LicenceFileJudge.judge(input, context, thumbprint: thumbprint)
        try require(
            LicenceFileJudge.judge(input, context, thumbprint: thumbprint) == finding, "a judgement can be repeated")
        if let file = finding.file {
            let policy = file.policy
            try require((1...1000).contains(policy.countLimit ?? 1), "plays are within their bounds")
            try require(file.content != nil || !finding.reasons.isEmpty, "a file without a lecture is refused")
            if finding.reasons.isEmpty {
                let playTime = policy.playTimeLimit ?? .seconds(60)
                try require((.seconds(60) ... .seconds(604_800)).contains(playTime), "play time is within its bounds")
                try require(policy.expiresAt.map { context.now < $0 } ?? true, "what has ended is refused")
                try require(policy.startsAt.map { context.now >= $0 } ?? true, "what begins later is refused")
            }
        } else if finding.reasons.isEmpty {
            let value = try JSONScanner.value(of: input)
            try require(value["data"] != nil, "what is accepted is a licence file or an answer")
        }
        // Requiring more never makes a refused file acceptable.
        context.content = "algebra"
        context.device = "d"
        context.issuer = "i"
        context.audience = "a"
        context.user = "u"
        context.serialFloor = 3
        context.seenTokens = ["t"]
        let stricter = LicenceFileJudge.judge(input, context, thumbprint: thumbprint).reasons
        // Of answers only those for the lecture count, so refusals of other answers go away.
        let isFile = finding.file != nil
        try require(!isFile || finding.reasons.isEmpty || !stricter.isEmpty, "a stricter context refuses as well")
    }

    @Sendable private static func licenceLine(_ input: [UInt8]) throws {
        let batch = LicenceBatch(trust: LicenceTrust()) { Timestamp(milliseconds: 1_800_000_000_000) }
        let due = input.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        let whole = input.last == 0x0A || input.isEmpty ? due.dropLast() : due[...]
        for size in [1, 7, 4096] {
            var assembler = LineAssembler(limit: 1 << 20)
            var lines: [[UInt8]?] = []
            var rest = input[...]
            while !rest.isEmpty {
                assembler.take(Array(rest.prefix(size))) { lines.append($0) }
                rest = rest.dropFirst(size)
            }
            if let last = assembler.finish() { lines.append(last) }
            try require(lines == Array(whole), "where the bytes are cut does not matter")
        }
        for line in whole {
            let answer = batch.answer(line)
            try require(!FieldText.hasControls(answer), "an answer is one line")
            let value = try JSONScanner.value(of: answer)
            try require(value.members?.map(\.name) == ["id", "verdict", "reasons"], "an answer has its members")
            try require(value["verdict"]?.string == "reject", "nothing is accepted without a key")
            try require(value["reasons"]?.elements?.isEmpty == false, "a refusal has a reason")
            let request = try? JSONScanner.value(of: line)
            if request?.members != nil {
                try require(value["id"] == request?["id"] ?? .null, "an answer has the request's id")
            }
        }
    }
}
