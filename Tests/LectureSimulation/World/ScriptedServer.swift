package import LectureFormats
package import LectureModel

/// A server's answer to one request.
package struct Answer {
    /// The HTTP status.
    package var status: Int
    /// The header.
    package var fields = HeaderFields()
    /// Where `Location` leads, made absolute as libcurl does.
    package var redirectURL: String?
    /// Whether it comes over HTTP/2.
    package var isHTTP2 = false
    /// The whole body.
    package var body: ArraySlice<UInt8> = []
    /// The connection breaks after so many bytes of the body, with this result of libcurl.
    package var breaksAfter: Int?
    /// libcurl's result when the connection breaks.
    package var curl = 56
    /// libcurl's result when not even a header comes.
    package var fails: Int?
    /// The transport's detail of such a failure.
    package var detail = "scripted"
    /// Whether no header ever comes, and no end.
    package var isSilent = false
    /// Whether after ``breaksAfter`` nothing more comes, and no end.
    package var stallsAtEnd = false
    /// How many seconds the header asks to wait; nil for none.
    var waitSeconds: Int?
    /// The time until the header comes.
    package var latency: Duration = .milliseconds(20)
    /// How long TCP needed to connect; nil for a connection that was there.
    package var distance: Duration?
    /// Bytes every 10 ms.
    package var pace = 512 << 10

    /// Makes an answer without a body.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - fields: the header.
    package init(_ status: Int, _ fields: HeaderFields = [:]) {
        self.status = status
        self.fields = fields
    }

    /// No server answers, or the connection breaks before a header.
    package static func failure(_ curl: Int) -> Answer {
        var answer = Answer(0)
        answer.fails = curl
        return answer
    }

    /// A small document of a media type.
    package static func document(_ text: String, type: String) -> Answer {
        let body = Array(text.utf8)
        var answer = Answer(200, ["Content-Type": type, "Content-Length": "\(body.count)"])
        answer.body = body[...]
        return answer
    }
}

/// A file on a server, which answers according to RFC 9110, as far as its switches allow.
package struct ServedFile {
    /// The object.
    package var bytes: [UInt8]
    /// Its entity tag; nil for none.
    package var etag: String? = "\"v1\""
    /// Its `Last-Modified`; nil for none.
    package var lastModified: String?
    /// Whether ranges are answered with ranges.
    package var hasRanges = true
    /// Without a length, as chunked answers are.
    package var hidesLength = false
    /// The media type; nil for none.
    package var type: String? = "video/mp4"
    /// More fields of every answer.
    package var more: [HeaderField] = []

    /// Makes a file that is served with every feature.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The answer according to RFC 9110.
    package func answer(to request: TransferRequest) -> Answer {
        var answer = Answer(200)
        if let etag { answer.fields.append(HeaderField(name: "ETag", value: etag)) }
        if let type { answer.fields.append(HeaderField(name: "Content-Type", value: type)) }
        if let lastModified { answer.fields.append(HeaderField(name: "Last-Modified", value: lastModified)) }
        for field in more { answer.fields.append(field) }
        let isCurrent = request.ifRange == nil || request.ifRange == etag || request.ifRange == lastModified
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
package final class ScriptedNetwork {
    /// What is served, by URL.
    package var files: [String: ServedFile] = [:]
    /// Answers a request instead of the file, or changes the file's answer; gets the number of the request, from 1.
    package var script: (TransferRequest, Int, Answer) -> Answer = { _, _, answer in answer }
    /// All requests, in their order.
    package private(set) var requests: [TransferRequest] = []
    /// Bytes of bodies that were delivered.
    package internal(set) var delivered = 0

    /// Called with the bytes that are delivered.
    package var onBytes: (TransferRequest, Int) -> Void = { _, _ in }
    /// Called with the headers that are delivered, and the program that had asked.
    var onHead: (Int, TransferRequest, Answer) -> Void = { _, _, _ in }
    /// Answers instead of everything else; gets the program.
    var answering: ((TransferRequest, Int) -> Answer)?

    /// Makes a network without servers.
    package init() {}

    func answer(to request: TransferRequest, from program: Int) -> Answer {
        requests.append(request)
        if let answering { return answering(request, program) }
        let answer = files[request.url]?.answer(to: request) ?? Answer(404)
        return script(request, requests.count, answer)
    }

    /// The requests for one URL.
    package func requests(for url: String) -> [TransferRequest] { requests.filter { $0.url == url } }
}
