import LectureModel
import Testing

/// Events as values.
struct LectureEventTests {
    private func content(_ state: ItemState) throws -> Content {
        Content(
            key: try ContentKey("lecture-1"), sourceURL: "http://127.0.0.1/1", title: "", state: state,
            added: Timestamp(milliseconds: 1_000))
    }

    @Test func `each state has its event, with the record that was written`() throws {
        let expected: [(ItemState, (Content) -> LectureEvent)] = [
            (.queued, { .queued($0) }), (.loading, { .advanced($0) }), (.downloading, { .advanced($0) }),
            (.verifying, { .advanced($0) }), (.completed, { .completed($0) }), (.stopped, { .stopped($0) }),
            (.failed, { .failed($0) }), (.removing, { .advanced($0) }),
        ]
        #expect(Set(expected.map(\.0)) == Set(ItemState.allCases))
        for (state, event) in expected {
            let content = try content(state)
            #expect(LectureEvent(content) == event(content))
        }
    }

    @Test func `events with different records are different`() throws {
        var (one, other) = (try content(.downloading), try content(.downloading))
        #expect(LectureEvent(one) == LectureEvent(other))
        other.committedBytes = 1
        #expect(LectureEvent(one) != LectureEvent(other))
        one.committedBytes = 1
        #expect(Set([LectureEvent(one), LectureEvent(other)]).count == 1)
    }
}
