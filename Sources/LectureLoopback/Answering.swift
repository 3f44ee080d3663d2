import Glibc
import LectureHTTP
import LectureKit
import LectureModel

/// A request that is to be answered.
struct Answering: Sendable {
    let core: LoopbackCore
    let exchange: HTTPExchange

    /// Decides and answers. On the server's thread.
    ///
    /// - Parameter rules: which requests are answered.
    func answer(by rules: RequestRules) {
        let wanted: RequestRules.Wanted
        switch rules.judge(exchange.head) {
        case .success(let judged): wanted = judged
        case .failure(let refused): return refuse(refused.refusal)
        }
        guard let play = core.play(wanted.token), (play.whole == nil) == (wanted.name != nil) else {
            return refuse(.unknownPlay)
        }
        let media = MediaAnswer(play, wanted, self)
        // The head alone is no play, and neither are no bytes.
        if media.hasBytes {
            let program: PeerProgram
            switch self.program(for: play) {
            case .success(let found): program = found
            case .failure(let refused): return refuse(refused.refusal, of: play)
            }
            if let refusal = play.admit(media, program) { return refuse(refusal, of: play) }
        } else if media.outcome != nil {
            return send(media)
        }
        exchange.whenOver { media.over() }
        if !media.begin() { send(media) }
    }

    /// The program at the other end.
    private func program(for play: ServedPlay) -> Result<PeerProgram, RequestRules.Refused> {
        var program = PeerProgram(process: nil, agent: exchange.head.value("user-agent") ?? "")
        guard let port = exchange.peer?.port, let peer = PeerSocket.find(port: port, server: core.port) else {
            return .success(program)
        }
        // Others can read the URL in the command line of a player.
        guard peer.user == geteuid() || peer.user == 0 else { return .failure(RequestRules.Refused(.otherUser)) }
        program.process = peer.process(likely: play.process)
        return .success(program)
    }

    // MARK: Answers

    /// Sends media or its head, or why there is none.
    func send(_ answer: MediaAnswer) {
        if let failure = answer.failure { return fail(failure) }
        switch answer.outcome {
        case .missing, nil: return refuse(.unknownPlay)
        case .unsatisfiable(let count): return refuse(.range, of: answer.play, byteCount: count)
        case .bytes(let part, let range, let isPart):
            let count = Int64(range.count)
            stream(
                part, range, isPart: isPart, origin: answer.wanted.origin,
                answer.hasBytes ? .source(answer, byteCount: count) : .head(byteCount: count))
        }
    }

    private func stream(
        _ part: ServedPart, _ range: Range<Int64>, isPart: Bool, origin: String?, _ body: HTTPAnswer.Body
    ) {
        var fields = [("Content-Type", part.mediaType), ("Accept-Ranges", "bytes")]
        if isPart {
            let last = range.upperBound - 1
            fields.append(("Content-Range", "bytes \(range.lowerBound)-\(last)/\(part.byteCount)"))
        }
        if let origin {
            fields += [
                ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
                ("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range"),
            ]
        }
        queue(HTTPAnswer(isPart ? 206 : 200, fields, body: body), isShared: origin != nil)
    }

    /// Refuses a request.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - play: whose application gets a report of it.
    ///   - byteCount: the length of what a range is outside of.
    func refuse(_ refusal: LoopbackRefusal, of play: ServedPlay? = nil, byteCount: Int64 = 0) {
        play?.refused(refusal)
        var fields: [(String, String)] = []
        if refusal == .method { fields.append(("Allow", "GET, HEAD")) }
        if refusal == .range { fields.append(("Content-Range", "bytes */\(byteCount)")) }
        text("\(refusal.rawValue): \(refusal.sentence)\n", refusal.status, fields)
    }

    /// Says why there are no bytes.
    private func fail(_ error: LectureError) {
        if error.code == .closing { return refuse(.unknownPlay) }
        let isRefusal = LicenceReason.allCases.contains { $0.code == error.code }
        text("\(error.code.name): \(error.code.summary)\n", isRefusal ? 403 : 500, [])
    }

    private func text(_ text: String, _ status: Int, _ fields: [(String, String)]) {
        queue(.text(status, text, fields), isShared: false)
    }

    /// Sends an answer with what all of them have.
    private func queue(_ answer: HTTPAnswer, isShared: Bool) {
        var answer = answer
        let all = [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", isShared ? "cross-origin" : "same-origin"),
        ]
        answer.fields += all.map { HTTPField(name: $0.0, value: $0.1) }
        answer.isPatient = true
        exchange.answer(answer)
    }
}
