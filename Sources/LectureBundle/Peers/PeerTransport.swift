import LectureFormats
import LectureKit
import LectureModel

/// Has stores answer requests for media.
struct PeerDetour: TransferDetour {
    let stores: PeerStores

    func transport(_ roads: TransferRoads) -> any Transport { PeerTransport(stores, roads) }
}

/// Asks other stores for media, and passes to its server what none of them has.
///
/// A request is at one of two places: here, until other stores have answered it or are known not to, or at the road to
/// its server. See ``PeerTransfer`` for the way of one.
final class PeerTransport: Transport {
    let stores: PeerStores
    let roads: TransferRoads
    private let running = Guarded<[TransferID: PeerTransfer]>([:])

    init(_ stores: PeerStores, _ roads: TransferRoads) { (self.stores, self.roads) = (stores, roads) }

    func start(_ request: TransferRequest) {
        guard request.body == nil, let subject = request.subject, !subject.wasDiscarded,
            stores.peers.contains(where: { $0.mayHave(subject.key) })
        else { return roads.internet.start(request) }
        let transfer = PeerTransfer(request, subject, self)
        running.withLock { $0[request.id] = transfer }
        transfer.begin()
    }

    func cancel(_ id: TransferID) {
        guard let transfer = running.withLock({ $0[id] }) else { return roads.internet.cancel(id) }
        transfer.cancel()
    }

    func limitRate(_ bytesPerSecond: Int?) { roads.internet.limitRate(bytesPerSecond) }

    /// A transfer is over.
    func ended(_ id: TransferID) { running.withLock { $0[id] = nil } }

    /// Passes a request to its server, unless it was cancelled meanwhile.
    ///
    /// - Parameters:
    ///   - request: of which the sink has got nothing.
    ///   - isCancelled: asked while it cannot be cancelled.
    /// - Returns: whether it was passed on.
    func handOver(_ request: TransferRequest, unless isCancelled: () -> Bool) -> Bool {
        running.withLock { running in
            guard !isCancelled() else { return false }
            running[request.id] = nil
            roads.internet.start(request)
            return true
        }
    }
}
