import LectureAdaptive
import LectureFormats
import LectureModel
import Testing

@testable import LectureDownload

/// When the playlists of a capture are due, and when its server has stopped.
@Suite struct CaptureWorkTests {
    private static func at(_ seconds: Double) -> BootInstant {
        BootInstant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    /// A capture with two playlists, whose target durations are these.
    private static func work(_ durations: [Int]) throws -> CaptureWork {
        var main = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"s\",DEFAULT=YES,URI=\"s\"\n"
        main += "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv\n"
        var selection = StreamSelection()
        selection.capture = .untilEnd
        func document(_ text: String) -> StreamDocument {
            StreamDocument(text: .playlist(Array(text.utf8)), url: "http://h.example/main")
        }
        let others = durations.map { document("#EXTM3U\n#EXT-X-TARGETDURATION:\($0)\n#EXTINF:\($0),\na\n") }
        let reader = StreamReader(source: document(main), others: others, selection)
        guard case .live(let streams) = try reader.reading(firstPosition: 3) else {
            throw LectureError(.bug, detail: "it is live")
        }
        var capture = StreamCapture(limit: nil)
        let update = try capture.take(streams, firstPosition: 3)
        #expect(update.requests.map(\.name) == ["3.ts", "4.ts"] && update.playlists.count == 3)
        return CaptureWork(capture)
    }

    @Test func `each playlist is due by its own target duration, and only while none is loaded`() throws {
        var work = try Self.work([4, 10])
        #expect(work.isLoading && work.loading == nil && work.due(Self.at(9)).isEmpty, "the source comes first")
        let survives = work.cameDamaged(Self.at(9))
        #expect(!survives, "without a first list it cannot go on")
        work.came(changed: [0, 1], Self.at(10))
        #expect(!work.isLoading && work.due(Self.at(13.9)).isEmpty)
        #expect(work.due(Self.at(14)) == [0] && work.due(Self.at(20)) == [0, 1])
        work.begins([0], Self.at(14))
        #expect(work.isLoading && work.due(Self.at(30)).isEmpty)
        work.came(changed: [], Self.at(15))
        #expect(work.due(Self.at(15.9)).isEmpty && work.due(Self.at(16)) == [0])
    }

    @Test func `ten target durations without a change are too many, also of pages`() throws {
        var work = try Self.work([4, 10])
        work.came(changed: [0, 1], Self.at(0))
        for second in stride(from: 4.0, to: 40, by: 2) {
            work.begins([0, 1], Self.at(second))
            if second.truncatingRemainder(dividingBy: 4) == 0 {
                work.came(changed: [1], Self.at(second))
            } else {
                let survives = work.cameDamaged(Self.at(second))
                #expect(survives)
            }
            #expect(!work.isStalled(Self.at(second)), "\(second)")
        }
        #expect(!work.isStalled(Self.at(39.9)) && work.isStalled(Self.at(40)))
        work.begins([0], Self.at(40))
        work.came(changed: [0], Self.at(40))
        #expect(!work.isStalled(Self.at(79.9)))
    }
}
