import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The built program as the server of a store, in an account of its own.
struct ServedStore {
    let me: BadDay
    let process: ChildProcess
    /// Its address.
    let url: String
    /// A token of an operator.
    let token: String
    /// The access file.
    var access: String { me.home.file(".config/lecturekit/access") }

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - me: the account; it may have a store.
    ///   - words: further options.
    ///   - environment: further variables.
    /// - Throws: when it does not start.
    init(_ me: BadDay, _ words: String..., environment: [String: String] = [:]) async throws {
        self.me = me
        let made = try await me("access", "add", "ada", "--role", "operator")
        #expect(made.status == 0, "\(made.errorText)")
        token = made.text.trimmingCharacters(in: .newlines)
        process = try ChildProcess(
            BuiltProgram.url.path, ["serve", "--json", "--verbose", "--listen", "127.0.0.1:0"] + words,
            environment: me.environment.merging(environment) { $1 }, directory: me.home.path)
        let line = try await process.firstLine()
        let faults = try JSONSchema(describing: line).faults(in: Data(line.utf8))
        #expect(faults.isEmpty, "\(line): \(faults)")
        let serving = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        url = try #require(serving["url"])
    }

    /// Its port.
    var port: Int { Int(url.split(separator: ":").last ?? "") ?? 0 }

    /// Asks with curl.
    ///
    /// - Parameters:
    ///   - path: the path, with its query.
    ///   - words: further words for curl.
    ///   - token: the token that is sent; an empty one for none, nil for the operator's.
    /// - Returns: the answer.
    /// - Throws: when curl cannot be started.
    func ask(_ path: String, _ words: String..., token: String? = nil) async throws -> Answer {
        try await ask(path, words, token: token)
    }

    /// Asks with curl.
    func ask(_ path: String, _ words: [String], token: String? = nil) async throws -> Answer {
        let sent = token ?? self.token
        let field = sent.isEmpty ? [] : ["-H", "Authorization: Bearer \(sent)"]
        let ending = try await ChildProcess.run(
            "/usr/bin/curl",
            ["-q", "-s", "-S", "-i", "--path-as-is", "--max-time", "60"] + field + words + [url + path])
        return Answer(ending.output, errors: ending.errorText)
    }

    /// Stops it in order.
    ///
    /// - Parameter signal: that it gets.
    /// - Returns: how it ended.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async -> ChildProcess.Ending {
        process.send(signal)
        let ending = await process.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(!(ending.text + ending.errorText).contains(token), "a token is in the output")
        return ending
    }
}

/// An answer of HTTP.
struct Answer {
    let status: Int
    /// The head, in lower case.
    let head: String
    let body: Data
    /// What curl reports.
    let errors: String

    init(_ bytes: Data, errors: String = "") {
        let end = bytes.range(of: Data("\r\n\r\n".utf8))
        let head = String(decoding: end.map { bytes[..<$0.lowerBound] } ?? bytes, as: UTF8.self)
        status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        self.head = head.lowercased()
        body = end.map { Data(bytes[$0.upperBound...]) } ?? Data()
        self.errors = errors
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as an object of JSON.
    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body) as? [String: Any]) ?? [:] }

    /// The member `name` of an error.
    var name: String? { json["name"] as? String }

    /// A field of the head.
    func field(_ name: String) -> String? {
        head.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
