import Glibc
import LectureHTTP
import LectureKit
import LectureModel
import LectureServedMedia

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
        guard let play = core.play(wanted.token), (play.served.whole == nil) == (wanted.name != nil) else {
            return refuse(.unknownPlay)
        }
        let media = MediaAnswer(play.served, wanted.name, on: exchange) { send($0, of: play, to: wanted.origin) }
        // The head alone is no play, and neither are no bytes.
        if media.hasBytes {
            let program: PeerProgram
            switch self.program(for: play) {
            case .success(let found): program = found
            case .failure(let refused): return refuse(refused.refusal, of: play)
            }
            if let refusal = play.admit(media, program) { return refuse(refusal, of: play) }
        } else if media.outcome != nil {
            return send(media, of: play, to: wanted.origin)
        }
        exchange.whenOver { media.over() }
        if !media.begin() { send(media, of: play, to: wanted.origin) }
    }

    /// The program at the other end.
    private func program(for play: ProgramPlay) -> Result<PeerProgram, RequestRules.Refused> {
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
    private func send(_ answer: MediaAnswer, of play: ProgramPlay, to origin: String?) {
        if let failure = answer.failure { return fail(failure) }
        if case .unsatisfiable(let count) = answer.outcome { return refuse(.range, of: play, byteCount: count) }
        guard var head = answer.head else { return refuse(.unknownPlay) }
        if let origin {
            head.fields += [
                ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
                ("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range"),
            ].map { HTTPField(name: $0.0, value: $0.1) }
        }
        queue(head, isShared: origin != nil)
    }

    /// Refuses a request.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - play: whose application gets a report of it.
    ///   - byteCount: the length of what a range is outside of.
    func refuse(_ refusal: LoopbackRefusal, of play: ProgramPlay? = nil, byteCount: Int64 = 0) {
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
