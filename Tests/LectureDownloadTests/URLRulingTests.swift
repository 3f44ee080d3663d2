import LectureModel
import Testing

@testable import LectureDownload

/// What follows when a URL is lost, decided from values alone.
struct URLRulingTests {
    private static let renewals: [LostURL.Renewal] = [.none, .gateway, .resolver]

    private static func ruling(
        hasMirror: Bool, mayCombine: Bool, _ renewal: LostURL.Renewal = .none
    ) -> URLRuling {
        var lost = LostURL(hasMirror: hasMirror, mayCombineServers: mayCombine)
        lost.renewal = renewal
        return lost.ruling
    }

    @Test func `another URL takes over where the bytes of two servers may be combined`() {
        for renewal in Self.renewals {
            #expect(Self.ruling(hasMirror: true, mayCombine: true, renewal) == .useMirror)
        }
    }

    @Test func `new URLs of the same bytes are better than the bytes of another server`() {
        for (hasMirror, mayCombine) in [(true, false), (false, false), (false, true)] {
            #expect(Self.ruling(hasMirror: hasMirror, mayCombine: mayCombine, .gateway) == .askGateway)
            #expect(Self.ruling(hasMirror: hasMirror, mayCombine: mayCombine, .resolver) == .askResolver)
        }
    }

    @Test func `without new URLs another server starts over, and the last one fails the file`() {
        #expect(Self.ruling(hasMirror: true, mayCombine: false) == .startOver)
        #expect(Self.ruling(hasMirror: false, mayCombine: false) == .failResource)
        #expect(Self.ruling(hasMirror: false, mayCombine: true) == .failResource)
    }
}
