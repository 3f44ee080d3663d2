import LectureBundle
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// What other stores fetch: offers of lectures, and their sealed media.
///
/// | path | answer |
/// | --- | --- |
/// | `POST /peer/offers` | an offer (``PeerOffer``), or 404 for a lecture that is not carried |
/// | `GET /peer/files/TICKET` | the sealed file of an offer, by ranges |
final class PeerPart: SitePart {
    private let manager: LectureManager
    private let device: DeviceHome
    private let offers = PeerOffers()
    private let signer = Guarded<BundleSigner?>(nil)

    /// Creates the part.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - device: where the key is kept that signs offers; it is created with the first one.
    init(_ manager: LectureManager, device: DeviceHome) { (self.manager, self.device) = (manager, device) }

    func routes(_ path: [String]) -> [String: SiteRoute]? {
        switch path.first {
        case "peer" where path == ["peer", "offers"]:
            ["POST": SiteRoute(.role(.peer)) { [self] request, _ in await offer(request) }]
        case "peer" where path.count == 3 && path[1] == "files":
            ["GET": SiteRoute(.role(.peer)) { [self] request, exchange in await file(path[2], request, exchange) }]
        default: nil
        }
    }

    func tick() { offers.removeIdle(at: .now) }

    // MARK: Offers

    private func offer(_ request: SiteRequest) async -> HTTPAnswer? {
        guard let person = request.person else { return .failure(LectureError(.bug)) }
        let question: PeerQuestion
        let recipient: BundleRecipient
        do {
            question = try PeerQuestion(request.body)
            recipient = try BundleRecipient(question.device)
        } catch {
            return .failure(LectureError(.parameter, detail: "a question"))
        }
        do {
            let carried = try await manager.contents.carried(question.key)
            guard let media = carried.files.first else { throw LectureError(.mediaMissing) }
            let sha256 = try await digest(of: carried, media)
            let key = try BundleKey.generate()
            let cipher = try key.cipher(for: question.key)
            let header = try cipher.newHeader()
            let ticket = Base64URL.text(try SecureRandom.bytes(Self.ticketBytes))
            let offer = PeerOffer(
                key: question.key, count: media.count, sha256: sha256,
                entityTag: media.entityTag.flatMap { $0.hasPrefix("\"") ? $0 : nil },
                isDescribed: carried.description != nil, ticket: ticket, header: header,
                recipient: .init(thumbprint: recipient.thumbprint, key: try key.wrapped(for: recipient)))
            let token = try offer.token(signedBy: try knownSigner())
            guard let layout = offer.layout else { throw LectureError(.badLength) }
            let open = OfferedFile(
                key: question.key, file: media, layout: layout, cipher: cipher, header: header, person: person)
            offers.keep(open, as: ticket)
            return HTTPAnswer(200, [("Content-Type", PeerOffer.mediaType)], body: .bytes(token))
        } catch {
            return Self.refusal(LectureError.known(error))
        }
    }

    private static let ticketBytes = 16

    /// A lecture that cannot be carried is not there for other stores, whatever the reason.
    private static func refusal(_ error: LectureError) -> HTTPAnswer {
        var answer = HTTPAnswer.failure(error)
        let isServer = [.closing, .storeBusy, .cryptography, .readFile].contains(error.code)
        if !isServer { answer.status = 404 }
        return answer
    }

    private func knownSigner() throws(LectureError) -> BundleSigner {
        if let known = signer.withLock(\.self) { return known }
        let made = try BundleSigner(device: try device.key())
        signer.withLock { $0 = made }
        return made
    }

    /// The digest of the media, which is computed where it never was.
    private func digest(of carried: CarriedLecture, _ media: CarriedFile) async throws -> [UInt8] {
        if let known = media.sha256 ?? offers.digest(of: media) { return known }
        let digest = try await BundleMaker.sha256(of: carried, in: manager)
        offers.remember(digest, of: media)
        return digest
    }

    // MARK: Files

    private func file(_ ticket: String, _ request: SiteRequest, _ exchange: HTTPExchange) async -> HTTPAnswer? {
        guard let open = offers.file(ticket, for: request.person, at: .now) else {
            return SiteRefusal.unknownPath.answer()
        }
        do {
            // It may have been removed or replaced since, and its licence may have ended.
            let carried = try await manager.contents.carried(open.key)
            guard carried.files.first?.identity == open.file.identity else { throw LectureError(.notComplete) }
        } catch {
            return Self.refusal(LectureError.known(error))
        }
        let total = Int64(open.layout.ciphertextLength)
        var fields = [("Content-Type", "application/octet-stream"), ("Accept-Ranges", "bytes")]
        let range: Range<Int64>
        let status: Int
        switch WantedBytes(exchange.head, byteCount: total) {
        case .whole: (status, range) = (200, 0..<total)
        case .part(let part):
            (status, range) = (206, part)
            fields.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(total)"))
        case .unsatisfiable:
            return HTTPAnswer(416, [("Content-Range", "bytes */\(total)")])
        }
        guard exchange.head.method != "HEAD" else {
            return HTTPAnswer(status, fields, body: .head(byteCount: Int64(range.count)))
        }
        let source = SealedAnswer(open, range, manager, exchange)
        return HTTPAnswer(status, fields, body: .source(source, byteCount: Int64(range.count)))
    }
}
