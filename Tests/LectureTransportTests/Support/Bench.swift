import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Clocks that stand still.
let standingClock = VirtualClock()

/// A transport for one test, which is shut down at its end.
struct Bench {
    let transport: CurlTransport

    /// Runs a test with its own transport and checks that it kept its contract with every sink.
    static func run(
        _ configure: (inout TransportConfiguration) -> Void = { _ in },
        _ test: (Bench) async throws -> Void
    ) async throws {
        var configuration = TransportConfiguration()
        // Whatever proxy the machine has, these servers are local.
        configuration.proxy = ""
        configure(&configuration)
        let bench = Bench(transport: try CurlTransport(configuration, clock: standingClock))
        do {
            try await test(bench)
            await bench.transport.shutdown()
        } catch {
            await bench.transport.shutdown()
            throw error
        }
    }

    /// Starts an exchange.
    @discardableResult
    func start(
        _ url: String, number: UInt64 = 1, into sink: Recorder = Recorder(),
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) -> Recorder {
        var request = TransferRequest(id: TransferID(number), url: url, sink: sink)
        // Long enough for a loaded machine; tests of silence set their own.
        request.stallTimeout = .seconds(60)
        change(&request)
        transport.start(request)
        return sink
    }

    /// Runs an exchange to its end.
    func fetch(
        _ url: String, number: UInt64 = 1, into sink: Recorder = Recorder(),
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) async -> (end: TransferOutcome.End, sink: Recorder) {
        start(url, number: number, into: sink, change)
        let end = await sink.outcome().end
        #expect(sink.breaches.isEmpty)
        return (end, sink)
    }
}

extension TransferOutcome.End {
    /// libcurl's result, when it failed.
    var curl: Int? { if case .failed(let curl, _) = self { curl } else { nil } }
    /// The detail, when it failed.
    var detail: String { if case .failed(_, let detail) = self { detail } else { "" } }
}

/// Bytes that differ from place to place.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
