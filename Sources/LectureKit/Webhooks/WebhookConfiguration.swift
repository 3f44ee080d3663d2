import LectureCrypto
import LectureFiles
import LectureFormats
public import LectureModel

/// Where events go: a server of the operator that gets an HTTP POST for each thing that happens in the store.
public struct WebhookConfiguration: Sendable, Hashable {
    /// An http or https URL without user and password. It names the endpoint: another URL is another endpoint.
    public var url: String
    /// A file with the secret that requests are signed with; only its owner may read it. Two lines are two secrets:
    /// each request has a signature of both, so that a receiver can change from one to the other.
    public var secretFile: String
    /// What it wants.
    public var kinds: Set<WebhookKind>

    /// Creates an endpoint that wants everything.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - secretFile: the path of the file with the secret.
    ///   - kinds: what it wants.
    public init(url: String, secretFile: String, kinds: Set<WebhookKind> = Set(WebhookKind.allCases)) {
        (self.url, self.secretFile, self.kinds) = (url, secretFile, kinds)
    }
}

extension WebhookConfiguration {
    /// Scheme, host and port, for messages: the rest of the URL may be a secret of the receiver.
    public var server: String { Self.server(of: url) }

    static func server(of url: String) -> String {
        do throws(LectureError) { return try Origin(url: url).text } catch { return "" }
    }

    /// The longest file of a secret.
    private static let longest = 1024

    /// The selection as it is stored.
    var selection: WebhookKinds { WebhookKinds(kinds.sorted { $0.rawValue < $1.rawValue }) }

    /// Reads the secrets. They are read for each run, so that a new one is used without a restart.
    ///
    /// - Returns: signs requests.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, `webhookSecret`.
    func signer() throws(LectureError) -> WebhookSigner {
        var bytes = try SecretFile.open(secretFile, limit: Self.longest).bytes()
        defer { for index in bytes.indices { bytes[index] = 0 } }
        do throws(LectureError) { return try WebhookSigner(String(decoding: bytes, as: UTF8.self)) } catch {
            throw LectureError(error.code, detail: secretFile, cause: error.cause)
        }
    }

    /// Checks a URL.
    ///
    /// - Parameter url: of an endpoint.
    /// - Returns: what is wrong with it; nil for one that can be used.
    static func fault(in url: String) -> String? {
        do throws(LectureError) {
            let parts = try URLParts(url)
            _ = try Origin(parts)
            return parts.authority.utf8.contains(UInt8(ascii: "@")) ? "must have no user: requests are signed" : nil
        } catch {
            return "must be an http or https URL"
        }
    }
}
