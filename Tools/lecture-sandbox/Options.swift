/// Reads a command line word by word.
struct Arguments {
    private var rest: ArraySlice<String>

    init(_ words: [String]) { rest = words[...] }

    mutating func next() -> String? { rest.popFirst() }

    mutating func value(of option: String) throws -> String {
        guard let value = rest.popFirst() else { throw Problem.usage("\(option) needs a value") }
        return value
    }

    mutating func number(of option: String, in range: ClosedRange<Int>) throws -> Int {
        let text = try value(of: option)
        guard let number = Int(text), range.contains(number) else {
            throw Problem.usage("\(option) needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// Which digest headers every media answer carries.
enum DigestHeaders: String {
    case none
    /// `Repr-Digest` (RFC 9530).
    case repr
    /// `Digest` (RFC 3230).
    case old
    case both
}

/// The options of `serve`.
struct ServeOptions {
    var course: String?
    var generated: [String] = []
    var port = 0
    var httpsPort = 0
    var servesHTTPS = true
    var root: String?
    var secretFile: String?
    var leaseSeconds = 600
    var requiresLease = false
    var licensesAll = false
    var reportsAll = false
    var describesAll = false
    var drmKeyFile: String?
    var userKey = "sandbox"
    var faults: [Fault] = []
    var digests = DigestHeaders.none
    var connectionLimit = 256
    var endsWithStandardInput = false

    /// Reads the options.
    ///
    /// - Parameter arguments: the words after the command.
    /// - Throws: ``Problem`` for an invalid word or value.
    init(_ arguments: [String]) throws {
        var words = Arguments(arguments)
        while let word = words.next() {
            switch word {
            case "--course": course = try words.value(of: word)
            case "--bytes": generated.append(try words.value(of: word))
            case "--port": port = try words.number(of: word, in: 0...65535)
            case "--https-port": httpsPort = try words.number(of: word, in: 0...65535)
            case "--no-https": servesHTTPS = false
            case "--root": root = try words.value(of: word)
            case "--secret-file": secretFile = try words.value(of: word)
            case "--lease-seconds": leaseSeconds = try words.number(of: word, in: 0...1_000_000)
            case "--require-lease": requiresLease = true
            case "--licensed": licensesAll = true
            case "--lms": reportsAll = true
            case "--extras": describesAll = true
            case "--drm-key-file": drmKeyFile = try words.value(of: word)
            case "--user-key": userKey = try words.value(of: word)
            case "--fault": faults += try Fault.list(try words.value(of: word))
            case "--connection-limit": connectionLimit = try words.number(of: word, in: 1...4096)
            case "--stdin-watch": endsWithStandardInput = true
            case "--digests":
                let text = try words.value(of: word)
                guard let headers = DigestHeaders(rawValue: text) else {
                    throw Problem.usage("--digests is none, repr, old or both")
                }
                digests = headers
            default: throw Problem.usage("unknown word '\(word)'")
            }
        }
    }
}

/// The options of `token`.
struct TokenOptions {
    let key: String
    let secret: Secret
    let user: String
    let expiresAt: Int64
    let base: String?

    /// Reads the options.
    ///
    /// - Parameter arguments: the words after the command.
    /// - Throws: ``Problem`` for an invalid word or value, and when the secret cannot be read.
    init(_ arguments: [String]) throws {
        var words = Arguments(arguments)
        var key: String?
        var secretFile: String?
        var user = "learner"
        var seconds = 3600
        var base: String?
        while let word = words.next() {
            switch word {
            case "--key": key = try words.value(of: word)
            case "--secret-file": secretFile = try words.value(of: word)
            case "--user": user = try words.value(of: word)
            case "--expires-in": seconds = try words.number(of: word, in: -1_000_000...1_000_000_000)
            case "--base": base = try words.value(of: word)
            default: throw Problem.usage("unknown word '\(word)'")
            }
        }
        guard let key, let secretFile else { throw Problem.usage("token needs --key KEY and --secret-file FILE") }
        self.key = key
        self.secret = Secret(bytes: try readFile(secretFile))
        self.user = user
        self.expiresAt = nowMilliseconds() / 1000 + Int64(seconds)
        self.base = base
    }
}
