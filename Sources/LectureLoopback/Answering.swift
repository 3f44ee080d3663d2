import CMicroHTTPDTypes
import Glibc
import LectureKit
import LectureModel

/// One request, as long as libmicrohttpd has it. Only its thread uses it.
private final class Request {
    let head: RequestHead
    var answer: MediaAnswer?

    init(_ head: RequestHead) { self.head = head }
}

/// Called with the head alone, then to be answered, and again after the connection was suspended.
func requestArrived(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _ uploadCount: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let path = unsafe path,
        let method = unsafe method, let uploadCount = unsafe uploadCount, let slot = unsafe slot
    else { return cmhdt_result(false) }
    let core = unsafe Unmanaged<LoopbackCore>.fromOpaque(context).takeUnretainedValue()
    guard let held = unsafe slot.pointee else {
        let fields = unsafe headerFields(of: connection, core.library)
        let request = unsafe Request(
            RequestHead(method: String(cString: method), path: String(cString: path), fields: fields))
        unsafe slot.pointee = Unmanaged.passRetained(request).toOpaque()
        return cmhdt_result(true)
    }
    if unsafe uploadCount.pointee > 0 {
        unsafe uploadCount.pointee = 0
        return cmhdt_result(true)
    }
    let request = unsafe Unmanaged<Request>.fromOpaque(held).takeUnretainedValue()
    return unsafe answer(request, Answering(core: core, connection: connection))
}

/// A request has ended, successfully or not.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
    unsafe slot.pointee = nil
    let request = unsafe Unmanaged<Request>.fromOpaque(held).takeRetainedValue()
    guard let answer = request.answer else { return }
    answer.over()
    let core = unsafe Unmanaged<LoopbackCore>.fromOpaque(context).takeUnretainedValue()
    if let connection = unsafe connection {
        unsafe cmhdt_set_timeout(core.library.setConnectionOption, connection, LoopbackCore.connectionTimeout)
    }
}

/// The library requests bytes of media.
private func mediaWanted(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
    guard let context = unsafe context else { return cmhdt_reader_failed() }
    let answer = unsafe Unmanaged<MediaAnswer>.fromOpaque(context).takeUnretainedValue()
    return unsafe answer.fill(UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// The library no longer needs an answer.
private func mediaReleased(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<MediaAnswer>.fromOpaque(context).release()
}

/// Collects the fields of a request.
private final class Fields {
    var all: [RequestHead.Field] = []
}

private func fieldFound(
    _ context: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return cmhdt_result(false) }
    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
    let fields = unsafe Unmanaged<Fields>.fromOpaque(context).takeUnretainedValue()
    unsafe fields.all.append(RequestHead.Field(name: String(cString: name), value: text))
    return cmhdt_result(true)
}

private func headerFields(of connection: OpaquePointer, _ library: MicroHTTPLibrary) -> [RequestHead.Field] {
    let fields = Fields()
    _ = unsafe library.fields(
        connection, cmhdt_header_kind(), fieldFound, Unmanaged.passUnretained(fields).toOpaque())
    return fields.all
}

/// Decides and answers. On the server's thread.
private func answer(_ request: Request, _ answering: Answering) -> MHD_Result {
    // The connection was suspended meanwhile.
    if let answer = request.answer { return answering.send(answer) }
    let wanted: RequestRules.Wanted
    switch answering.core.rules.judge(request.head) {
    case .success(let judged): wanted = judged
    case .failure(let refused): return answering.refuse(refused.refusal)
    }
    guard let play = answering.core.play(wanted.token), (play.whole == nil) == (wanted.name != nil) else {
        return answering.refuse(.unknownPlay)
    }
    let media = MediaAnswer(play, request.head, wanted, answering.client)
    // The head alone is no play, and neither are no bytes.
    if media.hasBytes {
        let program: PeerProgram
        switch answering.program(of: request.head, for: play) {
        case .success(let found): program = found
        case .failure(let refused): return answering.refuse(refused.refusal, of: play)
        }
        if let refusal = play.admit(media, program) { return answering.refuse(refusal, of: play) }
    } else if media.outcome != nil {
        return answering.send(media)
    }
    request.answer = media
    return media.begin() ? cmhdt_result(true) : answering.send(media)
}

/// A connection that is to be answered.
@safe private struct Answering {
    let core: LoopbackCore
    let connection: OpaquePointer

    private var library: MicroHTTPLibrary { core.library }
    private var socket: Int32 { unsafe cmhdt_socket(library.connectionInfo, connection) }
    var client: MediaAnswer.Client {
        unsafe MediaAnswer.Client(connection: connection, socket: socket, library: library)
    }

    /// The program at the other end.
    func program(
        of head: RequestHead, for play: ServedPlay
    ) -> Result<PeerProgram, RequestRules.Refused> {
        var program = PeerProgram(process: nil, agent: head.value("user-agent") ?? "")
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { address in
            // Sound: the server listens on an internet address only.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getpeername(socket, address, &length) == 0
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        guard isKnown, let peer = PeerSocket.find(port: port, server: core.rules.port) else {
            return .success(program)
        }
        // Others can read the URL in the command line of a player.
        guard peer.user == geteuid() || peer.user == 0 else { return .failure(RequestRules.Refused(.otherUser)) }
        program.process = peer.process(likely: play.process)
        return .success(program)
    }

    // MARK: Answers

    /// Sends media or its head, or why there is none.
    func send(_ answer: MediaAnswer) -> MHD_Result {
        if let failure = answer.failure { return fail(failure) }
        switch answer.outcome {
        case .missing, nil: return refuse(.unknownPlay)
        case .unsatisfiable(let count): return refuse(.range, of: answer.play, byteCount: count)
        case .bytes(let part, let range, let isPart):
            var held: UnsafeMutableRawPointer?
            if answer.hasBytes {
                unsafe cmhdt_set_timeout(library.setConnectionOption, connection, 0)
                unsafe held = Unmanaged.passRetained(answer).toOpaque()
            }
            return unsafe stream(part, range, isPart: isPart, origin: answer.wanted.origin, held)
        }
    }

    private func stream(
        _ part: ServedPart, _ range: Range<Int64>, isPart: Bool, origin: String?, _ held: UnsafeMutableRawPointer?
    ) -> MHD_Result {
        guard
            let response = unsafe library.makeStreamed(UInt64(range.count), 1 << 16, mediaWanted, held, mediaReleased)
        else {
            unsafe mediaReleased(held)
            return cmhdt_result(false)
        }
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
        return unsafe queue(response, isPart ? 206 : 200, fields, isShared: origin != nil)
    }

    /// Refuses a request.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - play: whose application gets a report of it.
    ///   - byteCount: the length of what a range is outside of.
    /// - Returns: what the library wants.
    func refuse(_ refusal: LoopbackRefusal, of play: ServedPlay? = nil, byteCount: Int64 = 0) -> MHD_Result {
        play?.refused(refusal)
        var fields: [(String, String)] = []
        if refusal == .method { fields.append(("Allow", "GET, HEAD")) }
        if refusal == .range { fields.append(("Content-Range", "bytes */\(byteCount)")) }
        return text("\(refusal.rawValue): \(refusal.sentence)\n", refusal.status, fields)
    }

    /// Says why there are no bytes.
    private func fail(_ error: LectureError) -> MHD_Result {
        if error.code == .closing { return refuse(.unknownPlay) }
        let isRefusal = LicenceReason.allCases.contains { $0.code == error.code }
        return text("\(error.code.name): \(error.code.summary)\n", isRefusal ? 403 : 500, [])
    }

    private func text(_ text: String, _ status: Int, _ fields: [(String, String)]) -> MHD_Result {
        var bytes = Array(text.utf8)
        let made = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe library.makeFixed(bytes.count, bytes.baseAddress, cmhdt_copy())
        }
        guard let response = unsafe made else { return cmhdt_result(false) }
        return unsafe queue(
            response, UInt32(status), [("Content-Type", "text/plain; charset=utf-8")] + fields, isShared: false)
    }

    /// Sends a response with what all of them have, and gives it up.
    private func queue(
        _ response: OpaquePointer, _ status: UInt32, _ fields: [(String, String)], isShared: Bool
    ) -> MHD_Result {
        defer { unsafe library.destroy(response) }
        let all = [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", isShared ? "cross-origin" : "same-origin"),
        ]
        for (name, value) in fields + all { _ = unsafe library.addField(response, name, value) }
        return unsafe library.queue(connection, status, response)
    }
}
