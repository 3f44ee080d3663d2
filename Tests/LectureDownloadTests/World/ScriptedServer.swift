import LectureDownload
import LectureModel

/// What a server answers to one request.
struct Answer {
    var status: Int
    var fields = HeaderFields()
    var redirectURL: String?
    var body: ArraySlice<UInt8> = []
    /// The connection breaks after so many bytes of the body, with this result of libcurl.
    var breaksAfter: Int?
    var curl = 56
    /// libcurl's result when not even a header comes.
    var fails: Int?
    /// What the transport says of such a failure.
    var detail = "scripted"
    /// Until the header comes.
    var latency: Duration = .milliseconds(20)
    /// Bytes every 10 ms.
    var pace = 512 << 10

    init(_ status: Int, _ fields: HeaderFields = [:]) {
        self.status = status
        self.fields = fields
    }

    /// Nobody answers, or the connection breaks before a header.
    static func failure(_ curl: Int) -> Answer {
        var answer = Answer(0)
        answer.fails = curl
        return answer
    }

    /// A small document of a media type.
    static func document(_ text: String, type: String) -> Answer {
        let body = Array(text.utf8)
        var answer = Answer(200, ["Content-Type": type, "Content-Length": "\(body.count)"])
        answer.body = body[...]
        return answer
    }
}

/// A file on a server, which answers as RFC 9110 asks, as far as its switches let it.
struct ServedFile {
    var bytes: [UInt8]
    var etag: String? = "\"v1\""
    var hasRanges = true
    /// Without a length, as chunked answers are.
    var hidesLength = false
    var type: String? = "video/mp4"
    var more: [HeaderField] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func answer(to request: TransferRequest) -> Answer {
        var answer = Answer(200)
        if let etag { answer.fields.append(HeaderField(name: "ETag", value: etag)) }
        if let type { answer.fields.append(HeaderField(name: "Content-Type", value: type)) }
        for field in more { answer.fields.append(field) }
        let isCurrent = request.ifRange == nil || request.ifRange == etag
        answer.body = bytes[...]
        if hasRanges {
            answer.fields.append(HeaderField(name: "Accept-Ranges", value: "bytes"))
            if let range = request.range, isCurrent {
                let first = Int(range.first)
                guard first < bytes.count else { return Answer(416, ["Content-Range": "bytes */\(bytes.count)"]) }
                let end = min(bytes.count, range.end.map { Int($0) } ?? bytes.count)
                answer.status = 206
                answer.body = bytes[first..<end]
                let text = "bytes \(first)-\(end - 1)/\(bytes.count)"
                answer.fields.append(HeaderField(name: "Content-Range", value: text))
            }
        }
        if !hidesLength {
            answer.fields.append(HeaderField(name: "Content-Length", value: "\(answer.body.count)"))
        }
        return answer
    }
}

/// All servers of the world: files by URL, and a script that may answer before them.
final class ScriptedNetwork {
    var files: [String: ServedFile] = [:]
    /// Answers a request instead of the file, or changes the file's answer; gets the number of the request, from 1.
    var script: (TransferRequest, Int, Answer) -> Answer = { _, _, answer in answer }
    /// All requests, in their order.
    private(set) var requests: [TransferRequest] = []
    /// Bytes of bodies that were delivered.
    var delivered = 0

    func answer(to request: TransferRequest) -> Answer {
        requests.append(request)
        let answer = files[request.url]?.answer(to: request) ?? Answer(404)
        return script(request, requests.count, answer)
    }

    /// The requests for one URL.
    func requests(for url: String) -> [TransferRequest] { requests.filter { $0.url == url } }
}
