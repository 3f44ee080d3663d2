import LectureFormats
import LectureModel

// The faults of one answer.

extension Servers {
    func apply(
        _ trouble: Trouble, to answer: inout Answer, _ request: TransferRequest, _ served: Served, _ file: ServedFile
    ) {
        let latency = answer.latency
        defer { answer.latency = latency }
        switch trouble.fault {
        case .refused: answer = .failure(7)
        case .unresolved: answer = .failure(6)
        case .untrusted: answer = .failure(60)
        case .streamReset: answer = .failure(92)
        case .silent: answer.isSilent = true
        case .broken, .cut, .stalled: interrupt(&answer, trouble)
        case .noContent: answer = Answer(204)
        case .notModified: answer = Answer(304)
        case .unauthorised: answer = Answer(401)
        case .forbidden: answer = Answer(403)
        case .missing: answer = Answer(404)
        case .gone: answer = Answer(410)
        case .proxyCredentials: answer = Answer(407)
        case .timeout: answer = Answer(408)
        case .precondition: answer = Answer(412)
        case .unsatisfied: answer = Answer(416, ["Content-Range": "bytes */\(file.bytes.count)"])
        case .unsatisfiedOtherTotal: answer = Answer(416, ["Content-Range": "bytes */\(trouble.value)"])
        case .legal: answer = Answer(451)
        case .broke: answer = Answer(500)
        case .badGateway: answer = Answer(502)
        case .waitSeconds, .waitDate, .waitNonsense, .waitNothing, .waitYear, .tooMany: answer = wait(trouble)
        case .moved: move(&answer, to: request.url.hasSuffix("-moved") ? nil : "\(request.url)-moved")
        case .movedRound: move(&answer, to: request.url)
        case .movedNowhere: answer = Answer(302)
        case .ignoresRange, .shiftedRange, .shiftedBytes, .wrongTotal, .otherValidator, .page, .coded, .multipart,
            .shortRange, .longBody, .garbageRange, .noRange, .twoLengths, .badLength, .emptyBody:
            spoil(&answer, trouble, request, served, file)
        }
    }

    private func interrupt(_ answer: inout Answer, _ trouble: Trouble) {
        answer.breaksAfter = answer.body.count * min(99, trouble.value) / 100
        answer.curl = trouble.fault == .cut ? 18 : 56
        answer.stallsAtEnd = trouble.fault == .stalled
    }

    private func wait(_ trouble: Trouble) -> Answer {
        var answer = Answer(trouble.fault == .tooMany ? 429 : 503)
        let text: String
        switch trouble.fault {
        case .waitDate:
            answer.fields.append(HeaderField(name: "Date", value: HTTPDate(world.now).headerValue))
            text = HTTPDate(world.now + .seconds(trouble.value)).headerValue
        case .waitNonsense: text = "soon"
        case .waitNothing: text = "0"
        case .waitYear: text = "31536000"
        default: text = "\(trouble.value)"
        }
        answer.fields.append(HeaderField(name: "Retry-After", value: text))
        answer.waitSeconds =
            switch trouble.fault {
            case .waitNonsense, .waitNothing: nil
            case .waitYear: 31_536_000
            default: trouble.value
            }
        return answer
    }

    /// Redirects with the query left in place, so that a signature stays valid.
    private func move(_ answer: inout Answer, to url: String?) {
        guard let url else { return }
        answer = Answer(302, ["Location": url])
        answer.redirectURL = url.contains("?") ? url.replacing("-moved", with: "") : url
    }

    private func spoil(
        _ answer: inout Answer, _ trouble: Trouble, _ request: TransferRequest, _ served: Served, _ file: ServedFile
    ) {
        switch trouble.fault {
        case .ignoresRange:
            var whole = file
            whole.hasRanges = false
            let pace = answer.pace
            answer = whole.answer(to: request)
            answer.pace = pace
        case .shiftedRange:
            guard answer.status == 206 else { return }
            let first = Int(request.range?.first ?? 0) + 1
            let end = min(file.bytes.count, first + max(1, answer.body.count - 1))
            guard first < end else { return }
            replace("Content-Range", "bytes \(first)-\(end - 1)/\(file.bytes.count)", in: &answer)
            replace("Content-Length", "\(end - first)", in: &answer)
            answer.body = file.bytes[first..<end]
        case .shiftedBytes:
            // The header is right and the bytes are from another offset.
            let body = Array(answer.body)
            guard body.count > 2 else { return }
            answer.body = (Array(body[1...]) + body[..<1])[...]
            served.isIndistinguishable = true
        case .wrongTotal:
            guard answer.status == 206, let text = answer.fields["Content-Range"] else { return }
            replace("Content-Range", "\(text)9", in: &answer)
        case .otherValidator: if file.etag != nil { replace("ETag", "\"other-\(trouble.value)\"", in: &answer) }
        case .page: replace("Content-Type", "text/html", in: &answer)
        case .coded: answer.fields.append(HeaderField(name: "Content-Encoding", value: "gzip"))
        case .multipart: replace("Content-Type", "multipart/byteranges; boundary=x", in: &answer)
        default: miscount(&answer, trouble, request, served, file)
        }
    }

    private func miscount(
        _ answer: inout Answer, _ trouble: Trouble, _ request: TransferRequest, _ served: Served, _ file: ServedFile
    ) {
        switch trouble.fault {
        case .shortRange:
            guard answer.status == 206, answer.body.count > 1 else { return }
            let first = Int(request.range?.first ?? 0)
            let count = max(1, answer.body.count * max(1, trouble.value) / 101)
            replace("Content-Range", "bytes \(first)-\(first + count - 1)/\(file.bytes.count)", in: &answer)
            replace("Content-Length", "\(count)", in: &answer)
            answer.body = answer.body.prefix(count)
        case .longBody:
            answer.body = (Array(answer.body) + [1, 2, 3])[...]
            // Without a length nothing shows that it is too long.
            if file.hidesLength { served.isIndistinguishable = true }
        case .garbageRange: if answer.status == 206 { replace("Content-Range", "bytes x-y/z", in: &answer) }
        case .noRange:
            guard answer.status == 206 else { return }
            answer.fields = HeaderFields(answer.fields.elements.filter { $0.name != "Content-Range" })
        case .twoLengths: answer.fields.append(HeaderField(name: "Content-Length", value: "1"))
        case .badLength: replace("Content-Length", "99999999999999999999999", in: &answer)
        case .emptyBody:
            guard answer.status == 200 else { return }
            replace("Content-Length", "0", in: &answer)
            answer.body = []
            // A client without earlier information has to accept it.
            served.versions.append([])
        default: return
        }
    }

    private func replace(_ name: String, _ value: String, in answer: inout Answer) {
        var fields = answer.fields.elements.filter { $0.name != name }
        fields.append(HeaderField(name: name, value: value))
        answer.fields = HeaderFields(fields)
    }
}
