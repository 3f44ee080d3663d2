/// HTTP/1 as an unscrupulous server speaks it.
struct HTTP1: Sendable {
    let wire: any Wire
    let journal: Journal
    /// Answers one request.
    let play: @Sendable (Asked, Int) -> Reply

    /// Serves a connection to its end.
    func serve(edge: Int, connection: Int) {
        while let asked = Asked(readHead()) {
            let number = journal.record(asked, edge: edge, connection: connection)
            let continues =
                switch play(asked, number) {
                case .answer(let answer): send(answer, to: asked, number)
                case .raw(let bytes, let ending): send(bytes, ending, number)
                case .script(let script): follow(script, number)
                case .frames(let answer, _): send(answer, to: asked, number)
                }
            journal.change(number) { $0.isOver = true }
            if !continues { return }
        }
        wire.finish()
    }

    /// Byte by byte, so that nothing behind the head is consumed.
    private func readHead() -> String {
        var head: [UInt8] = []
        // The last four bytes: comparing arrays is slow without optimisation.
        var latest: UInt32 = 0
        while latest != 0x0D0A_0D0A, head.count < 1 << 16 {
            guard let byte = wire.read(1).first else { break }
            head.append(byte)
            latest = latest << 8 | UInt32(byte)
        }
        return String(decoding: head, as: UTF8.self)
    }

    private func send(_ bytes: [UInt8], _ ending: Answer.Ending, _ number: Int) -> Bool {
        wire.send(bytes[...])
        journal.change(number) { $0.bytes = bytes.count }
        end(ending == .whole ? .closed : ending)
        return false
    }

    private func follow(_ script: (Talk) -> Void, _ number: Int) -> Bool {
        script(Talk(http: self, number: number))
        wire.cut()
        return false
    }

    private func send(_ answer: Answer, to asked: Asked, _ number: Int) -> Bool {
        journal.change(number) { $0.status = answer.status }
        if answer.delayMilliseconds > 0, wire.waitForInput(answer.delayMilliseconds) { return false }
        for head in answer.interim { wire.send(head) }
        if let flood = answer.flood {
            while wire.send(flood.bytes[...]) { if wire.waitForInput(flood.milliseconds) { break } }
            return false
        }
        guard sendHead(of: answer) else { return false }
        let hasBody = asked.method != "HEAD" && answer.status != 204 && answer.status != 304
        if hasBody, !sendBody(answer, number) { return false }
        wire.send(answer.surplus[...])
        if answer.ending != .whole || answer.framing == .untilClose && hasBody || answer.version == "HTTP/1.0" {
            end(answer.ending == .whole ? .closed : answer.ending)
            return false
        }
        return true
    }

    private func sendHead(of answer: Answer) -> Bool {
        guard answer.splitsHead else { return wire.send(answer.head) }
        for byte in answer.head.utf8 {
            guard wire.send([byte]), !wire.waitForInput(1) else { return false }
        }
        return true
    }

    /// Sends the body up to its specified end; false when the connection is over.
    private func sendBody(_ answer: Answer, _ number: Int) -> Bool {
        let (count, isChunked) = (answer.bodyBytesToSend, answer.framing.isChunked)
        var position = 0
        while position < count {
            let end = min(count, position + (answer.trickle?.bytes ?? 1 << 16))
            let piece = answer.body.piece(position..<end)
            if isChunked { wire.send(String(piece.count, radix: 16) + "\r\n") }
            guard wire.send(piece) else { return false }
            if isChunked { wire.send("\r\n") }
            journal.change(number) { $0.bytes += piece.count }
            position = end
            if let trickle = answer.trickle, wire.waitForInput(trickle.milliseconds) { return false }
        }
        if isChunked, answer.ending == .whole || answer.ending == .closed { wire.send("0\r\n\r\n") }
        return true
    }

    private func end(_ ending: Answer.Ending) {
        switch ending {
        case .whole, .closed: wire.finish()
        case .cut, .goAway: wire.cut()
        case .reset: wire.reset()
        case .stall:
            wire.waitForEnd()
            wire.cut()
        }
    }
}

/// What a script sees of one exchange over HTTP/1.
package struct Talk: Sendable {
    let http: HTTP1
    let number: Int

    /// The connection.
    package var wire: any Wire { http.wire }
    /// The connection, when it is under TLS.
    package var tls: TLSWire? { http.wire as? TLSWire }

    /// Sends the head of an answer.
    ///
    /// - Parameter answer: whose head.
    package func begin(_ answer: Answer) {
        http.journal.change(number) { $0.status = answer.status }
        wire.send(answer.head)
    }

    /// Sends a part of its body.
    ///
    /// - Parameters:
    ///   - answer: whose body.
    ///   - range: offsets in the body; what is behind its end is left out.
    package func send(_ answer: Answer, _ range: Range<Int>) {
        let piece = answer.body.piece(range.clamped(to: 0..<answer.body.count))
        wire.send(piece)
        http.journal.change(number) { $0.bytes += piece.count }
    }
}

extension Answer {
    /// The head in HTTP/1, with the empty line.
    var head: String {
        var lines = ["\(version) \(status) \(reason)"]
        lines += fields.map { "\($0.name): \($0.value)" }
        switch framing {
        case .length where field("Content-Length") == nil && status != 204 && status != 304:
            lines.append("Content-Length: \(body.count)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        case .length, .untilClose: break
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// How many bytes of the body go out before the ending.
    var bodyBytesToSend: Int {
        switch ending {
        case .whole, .closed: body.count
        case .cut(let after), .reset(let after), .stall(let after), .goAway(let after): min(after, body.count)
        }
    }
}

extension Answer.Framing {
    fileprivate var isChunked: Bool {
        if case .chunked = self { true } else { false }
    }
}
