import Foundation
import LectureTestSupport
import Testing

/// An answer of a DRM callback, parsed by hand: the bytes on the wire, without any code of the product.
struct CallbackExchange {
    let answer: Answer
    /// The raw body.
    let text: String
    /// The member `data` of the payload: one or many, as sent; empty when there is none.
    let data: [[String: Any]]
    let isObject: Bool
    let header: [String: Any]
    let claims: [String: Any]
    /// The signed text, and the signature.
    let signed: String
    let signature: [UInt8]

    /// Requests a callback with curl.
    ///
    /// - Parameters:
    ///   - url: of the callback.
    ///   - items: JSON, the value of the form field.
    ///   - arguments: more options of curl.
    /// - Returns: the answer.
    /// - Throws: ``ChildProcess/Failure`` when curl is not installed.
    static func ask(_ url: String, _ items: String, _ arguments: [String] = []) async throws -> CallbackExchange {
        CallbackExchange(try await Answer.get(url, ["--data-urlencode", "items=\(items)"] + arguments))
    }

    /// A JSON item.
    static func item(kind: Int, _ key: String, session: String = "s1") -> String {
        let more =
            kind == 3
            ? #","session_key":"\#(session)","start_at":"1700000000","content_expired":0,"check_expired":0"#
                + #","reset_req":1"#
            : ""
        return #"{"kind":\#(kind),"media_content_key":"\#(key)","client_user_id":"u1","player_id":"p1","#
            + #""device_name":"Linux","uservalues":{"uservalue0":"é & +"},"localtime":1700000000\#(more)}"#
    }

    private init(_ answer: Answer) {
        self.answer = answer
        text = String(decoding: answer.body, as: UTF8.self)
        let parts = text.trimmingCharacters(in: .whitespacesAndNewlines)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        header = parts.count == 3 ? Self.object(parts[0]) : [:]
        claims = parts.count == 3 ? Self.object(parts[1]) : [:]
        signed = parts.prefix(2).joined(separator: ".")
        signature = parts.count == 3 ? Array(Self.bytes(parts[2])) : []
        isObject = claims["data"] is [String: Any]
        data = (claims["data"] as? [String: Any]).map { [$0] } ?? claims["data"] as? [[String: Any]] ?? []
    }

    /// The bytes of base64url; empty for anything else.
    static func bytes(_ text: String) -> Data {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)) ?? Data()
    }

    static func object(_ part: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: bytes(part)) as? [String: Any]) ?? [:]
    }

    /// An object as text, members in the order of their names.
    static func sorted(_ object: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    /// Whether the signature is the one that openssl makes with this key.
    func isSigned(with keyFile: String) async throws -> Bool {
        let directory = try TemporaryDirectory()
        let file = try directory.write(signed, to: "signed")
        let key = try Data(contentsOf: URL(filePath: keyFile)).map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        let mac = try await ChildProcess.run(
            Places.command("openssl"),
            ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:" + key.joined(), "-binary", file])
        try #require(mac.status == 0, "\(mac.errorText)")
        return Array(mac.output) == signature
    }
}
